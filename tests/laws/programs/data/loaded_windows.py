# Windows whose first element is loaded.
# each_kind
# data I = 2 0 3 1
@T.prim_func
def main(A: T.Buffer((6,), "int32"), I: T.Buffer((4,), "int32"), C: T.Buffer((4, 2), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi] * 2
    for i in T.serial(4):
        for j in range(2):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(B[0:6], I[vi])
                T.writes(C[vi, vj])
                C[vi, vj] = B[I[vi] + vj * 2] - B[I[vi] + 1]
