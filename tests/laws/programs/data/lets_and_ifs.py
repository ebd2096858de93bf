# Branches and names inside of a block.
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 3), "int32")):
    B = T.alloc_buffer((4, 3), "int32")
    for i, j in T.grid(4, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            x: T.int32 = A[vi, vj] + vi
            if vj < 2:
                B[vi, vj] = x * 2
            else:
                B[vi, vj] = x - 1
    for i, j in T.grid(4, 3):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = 0
            if 1 <= vi:
                C[vi, vj] = B[vi - 1, vj]
