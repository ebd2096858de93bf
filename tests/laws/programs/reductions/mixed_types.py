# Loops of 32 bits, variables and shapes of 64, and the other way round.
@T.prim_func
def main(A: T.Buffer((T.int64(4), T.int64(3)), "int32"), C: T.Buffer((4, 3), "int64")):
    B = T.alloc_buffer((T.int64(4), 3), "int32")
    for i in T.serial(4):
        for j in range(T.int64(3)):
            with T.block("B"):
                vi = T.axis.spatial(T.int64(4), T.cast(i, "int64"))
                vj = T.axis.spatial(T.int64(3), j)
                B[vi, vj] = A[vi, vj] * 2
    for i in T.serial(4):
        for j in range(3):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.cast(B[T.cast(3 - vi, "int64"), 2 - T.cast(vj, "int64")], "int64")
