# Rows of a sparse matrix.
# each_kind
# data I = 0 2 2 5
# data J = 1 3 0 2 3
@T.prim_func
def main(I: T.Buffer((4,), "int32"),
         J: T.Buffer((5,), "int32"),
         A: T.Buffer((5,), "int32"),
         X: T.Buffer((4,), "int32"),
         C: T.Buffer((3,), "int32")):
    Y = T.alloc_buffer((4,), "int32")
    for k in range(4):
        with T.block("Y"):
            vk = T.axis.spatial(4, k)
            Y[vk] = X[vk] * 2
    for i in T.serial(3):
        with T.block("Z"):
            vi = T.axis.spatial(3, i)
            C[vi] = 1
        for k in range(I[i + 1] - I[i]):
            with T.block("C"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce(5, k)
                T.reads(C[vi], A[0:5], J[0:5], Y[0:4], I[vi])
                T.writes(C[vi])
                C[vi] = C[vi] + A[I[vi] + vk] * Y[J[I[vi] + vk]]
