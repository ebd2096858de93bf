# Products of matrices of 2 x 2, and peaks of four elements, as intrinsics describe them.
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), B: T.Buffer((4, 2), "int32"), C: T.Buffer((4, 2), "int32"),
         M: T.Buffer((4,), "int32")):
    for i, j in T.grid(4, 2):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = 0
    for i0, k0, i1, j, k1 in T.grid(2, 2, 2, 2, 2):
        with T.block("C"):
            vi = T.axis.spatial(4, i0 * 2 + i1)
            vj = T.axis.spatial(2, j)
            vk = T.axis.reduce(4, k0 * 2 + k1)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            M[vi] = -1000
    for i, k in T.grid(4, 4):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            M[vi] = T.max(M[vi], A[vi, vk])
