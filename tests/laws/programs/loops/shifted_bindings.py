# Loops run backwards, and from two sides.
# each_kind
@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in T.serial(6):
        with T.block("B"):
            vi = T.axis.spatial(6, 5 - i)
            B[vi] = A[vi] * 2
    for o in T.serial(3):
        for s in range(2):
            with T.block("C"):
                vi = T.axis.spatial(6, o + s * (5 - o * 2))
                C[vi] = B[vi] + 1
