# Two blocks write the columns of one buffer; a third one updates them.
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4, 2), "int32")):
    B = T.alloc_buffer((4, 2), "int32")
    for i in range(4):
        with T.block("X"):
            vi = T.axis.spatial(4, i)
            B[vi, 0] = A[vi]
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            B[vi, 1] = A[vi] + 1
    for i, j in T.grid(4, 2):
        with T.block("U"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = B[vi, vj] * 3
    for i, j in T.grid(4, 2):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2
