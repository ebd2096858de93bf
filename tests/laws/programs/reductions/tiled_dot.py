# Sums over tiles of four, as an intrinsic describes them.
@T.prim_func
def main(A: T.Buffer((3, 8), "int32"),
         B: T.Buffer((8,), "int32"),
         C: T.Buffer((3,), "int32"),
         D: T.Buffer((3,), "int32")):
    for i in range(3):
        with T.block("Z"):
            vi = T.axis.spatial(3, i)
            C[vi] = 0
    for i, k, k4 in T.grid(3, 2, 4):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            vk = T.axis.reduce(8, k * 4 + k4)
            C[vi] = C[vi] + A[vi, vk] * B[vk]
    for i in range(3):
        with T.block("Y"):
            vi = T.axis.spatial(3, i)
            D[vi] = 0
    for i, k, k4 in T.grid(3, 2, 4):
        with T.block("D"):
            vi = T.axis.spatial(3, i)
            vk = T.axis.reduce(8, k * 4 + k4)
            D[vi] = D[vi] + A[vi, vk]
