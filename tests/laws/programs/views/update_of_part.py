# A part of a buffer is updated in place by a block of blocks.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((4, 4), "int32")):
    B = T.alloc_buffer((4, 4), "int32")
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i in T.serial(2):
        with T.block("O"):
            vi = T.axis.spatial(2, i)
            T.reads(B[vi + 1, 0:4])
            T.writes(B[vi + 1, 1:3])
            for j in range(2):
                with T.block("U"):
                    vj = T.axis.spatial(2, j)
                    B[vi + 1, vj + 1] = B[vi + 1, vj + 1] + B[vi + 1, vj * 3]
    for i, j in T.grid(4, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vj, vi]
