# A border of zeros, and windows in two loops.
# each_kind
@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.if_then_else(1 <= vi and vi < 7, A[vi - 1], 0, dtype="int32")
    for i in T.serial(3):
        for j in range(2):
            with T.block("C"):
                vi = T.axis.spatial(6, i * 2 + j)
                C[vi] = B[vi] + B[vi + 2]
