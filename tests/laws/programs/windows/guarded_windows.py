# A guard of the consumer keeps its windows inside.
# each_kind
@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi] * 2
    for i in T.serial(8):
        with T.block("C"):
            vi = T.axis.spatial(6, i - 1)
            T.where(1 <= i and i < 6)
            T.reads(B[vi:vi + 2])
            T.writes(C[vi])
            C[vi] = B[vi] + B[vi + 1]
