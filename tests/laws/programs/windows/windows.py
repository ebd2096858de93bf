# Windows that overlap, of two stages.
# each_kind
@T.prim_func
def main(A: T.Buffer((10,), "int32"), E: T.Buffer((4, 2), "int32")):
    B = T.alloc_buffer((10,), "int32")
    C = T.alloc_buffer((9,), "int32")
    for i in range(10):
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = A[vi] * 2
    for i in range(9):
        with T.block("C"):
            vi = T.axis.spatial(9, i)
            C[vi] = B[vi] + B[vi + 1]
    for i in T.serial(4):
        for j in range(2):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = C[vi * 2 + vj] + B[vi * 2]
