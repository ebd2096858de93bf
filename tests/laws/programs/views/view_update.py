@T.prim_func
def main(A: T.Buffer((4,), "int32")):
    with T.block("O"):
        vo = T.axis.spatial(1, 0)
        T.reads(A[0:4])
        T.writes(A[0:4])
        for j in range(2):
            with T.block("M"):
                vj = T.axis.spatial(2, j)
                T.reads(A[vj * 2:vj * 2 + 2])
                T.writes(A[vj * 2:vj * 2 + 2])
                W = T.match_buffer(A[vj * 2:vj * 2 + 2], (2,), "int32", strides=["t"], offset_factor=1)
                for k in range(2):
                    with T.block("U"):
                        vk = T.axis.spatial(2, k)
                        W[vk] = W[vk] + vj
