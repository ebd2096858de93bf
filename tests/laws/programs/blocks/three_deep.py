# Blocks in blocks in blocks.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((4, 4), "int32")):
    S = T.alloc_buffer((4, 4), "int32")
    for i in T.serial(2):
        with T.block("O"):
            vi = T.axis.spatial(2, i)
            T.reads(A[vi * 2:vi * 2 + 2, 0:4], S[vi * 2:vi * 2 + 2, 0:4])
            T.writes(S[vi * 2:vi * 2 + 2, 0:4], C[vi * 2:vi * 2 + 2, 0:4])
            for j in range(2):
                with T.block("M"):
                    vj = T.axis.spatial(2, j)
                    T.reads(A[vi * 2 + vj, 0:4])
                    T.writes(S[vi * 2 + vj, 0:4])
                    for k in range(4):
                        with T.block("S"):
                            vk = T.axis.spatial(4, k)
                            S[vi * 2 + vj, vk] = A[vi * 2 + vj, vk] * 2
            for j, k in T.grid(2, 4):
                with T.block("C"):
                    vj, vk = T.axis.remap("SS", [j, k])
                    C[vi * 2 + vj, vk] = S[vi * 2 + 1 - vj, vk]
