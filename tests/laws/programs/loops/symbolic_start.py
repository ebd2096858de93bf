# Loops that start at a symbolic number.
# dim n = 3
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n + 4,), "int32")
    C = T.match_buffer(c, (4,), "int32")
    B = T.alloc_buffer((n + 4,), "int32")
    for i in range(n, n + 4):
        with T.block("B"):
            vi = T.axis.spatial((n, n + 4), i)
            B[vi] = A[vi] * 2
    for i in T.serial(4):
        for k in range(n, n + 2):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                vk = T.axis.reduce((n, n + 2), k)
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + B[T.min(vi + vk, n + 3)]
