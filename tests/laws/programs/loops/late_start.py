# Loops that do not start at zero.
# each_kind
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(-2, 6):
        with T.block("B"):
            vi = T.axis.spatial(8, i + 2)
            B[vi] = A[vi] * 2
    for o in T.serial(2):
        for i in range(3, 7):
            with T.block("C"):
                vi = T.axis.spatial(8, o * 4 + i - 3)
                C[vi] = B[7 - vi] + 1
