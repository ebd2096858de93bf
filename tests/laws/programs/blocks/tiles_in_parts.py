# Tiles of a product whose parts are blocks without variables.
@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), B: T.Buffer((6, 4), "int32"), C: T.Buffer((4, 4), "int32")):
    S = T.alloc_buffer((4, 4), "int32")
    for io, jo in T.grid(2, 2):
        with T.block("tile"):
            P = T.alloc_buffer((2, 6), "int32")
            for i, k in T.grid(2, 6):
                with T.block("P"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    vio = T.axis.spatial(2, io)
                    P[vi, vk] = A[vio * 2 + vi, vk] * 2
            for i, j, k in T.grid(2, 2, 6):
                with T.block("S"):
                    vi = T.axis.spatial(4, io * 2 + i)
                    vj = T.axis.spatial(4, jo * 2 + j)
                    vk = T.axis.reduce(6, k)
                    with T.init():
                        S[vi, vj] = 0
                    S[vi, vj] = S[vi, vj] + P[vi % 2, vk] * B[vk, vj]
            for i, j in T.grid(2, 2):
                with T.block("C"):
                    vi = T.axis.spatial(4, io * 2 + i)
                    vj = T.axis.spatial(4, jo * 2 + j)
                    C[vi, vj] = T.max(S[vi, vj], 0)
