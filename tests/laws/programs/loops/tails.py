# The last tile is short.
# each_kind
@T.prim_func
def main(A: T.Buffer((7,), "int32"), C: T.Buffer((7,), "int32")):
    B = T.alloc_buffer((7,), "int32")
    for o in T.serial(3):
        for j in range(T.min(3, 7 - o * 3)):
            with T.block("B"):
                vi = T.axis.spatial(7, o * 3 + j)
                B[vi] = A[vi] * 2
    for o in T.serial(3):
        for j in range(o * 3, T.min(o * 3 + 3, 7)):
            with T.block("C"):
                vi = T.axis.spatial(7, j)
                C[vi] = B[vi] + 1
