# Variables whose domain does not start at zero.
# each_kind
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in T.serial(5):
        with T.block("B"):
            vi = T.axis.spatial((2, 7), i + 2)
            B[vi] = A[vi] * 2
    for i in range(2, 6):
        for k in range(1, 3):
            with T.block("C"):
                vi = T.axis.spatial((2, 6), i)
                vk = T.axis.reduce((1, 3), k)
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + B[vi + vk - 1]
