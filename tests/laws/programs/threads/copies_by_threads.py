# A chain through memory of several kinds, with a copy made by hand.
@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")):
    A_s = T.alloc_buffer((8, 8), "int32", scope="shared")
    A_l = T.alloc_buffer((8, 8), "int32", scope="local")
    S = T.alloc_buffer((8, 8), "int32", scope="local")
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(4, thread="threadIdx.x"):
            for j in range(8):
                with T.block("A_s"):
                    vi = T.axis.spatial(8, b * 4 + t)
                    vj = T.axis.spatial(8, j)
                    A_s[vi, vj] = A[vi, vj]
        for t in T.thread_binding(4, thread="threadIdx.x"):
            for j in range(8):
                with T.block("A_l"):
                    vi = T.axis.spatial(8, b * 4 + t)
                    vj = T.axis.spatial(8, j)
                    A_l[vi, vj] = A_s[vi // 4 * 4 + (vi + 1) % 4, vj]
            for j, k in T.grid(8, 3):
                with T.block("S"):
                    vi = T.axis.spatial(8, b * 4 + t)
                    vj, vk = T.axis.remap("SR", [j, k])
                    with T.init():
                        S[vi, vj] = 0
                    S[vi, vj] = S[vi, vj] + A_l[vi, (vj + vk) % 8]
            for j in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, b * 4 + t)
                    vj = T.axis.spatial(8, j)
                    C[vi, vj] = S[vi, vj] * 2
