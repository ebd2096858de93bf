# A view of a part of a view, updated in place.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 4), "int32"), C: T.Buffer((2, 4), "int32")):
    B = T.alloc_buffer((2, 4), "int32")
    for i in T.serial(2):
        with T.block("O"):
            vi = T.axis.spatial(2, i)
            T.reads(A[vi, 0:4])
            T.writes(B[vi, 0:4])
            V = T.match_buffer(B[vi, 0:4], (4,), "int32", strides=["s"], offset_factor=1)
            for j in range(4):
                with T.block("B"):
                    vj = T.axis.spatial(4, j)
                    V[vj] = A[vi, vj] * 2
            for j in range(2):
                with T.block("M"):
                    vj = T.axis.spatial(2, j)
                    T.reads(V[vj * 2:vj * 2 + 2])
                    T.writes(V[vj * 2:vj * 2 + 2])
                    W = T.match_buffer(V[vj * 2:vj * 2 + 2], (2,), "int32", strides=["t"],
                                       offset_factor=1)
                    for k in range(2):
                        with T.block("U"):
                            vk = T.axis.spatial(2, k)
                            W[vk] = W[vk] + vj
    for i, j in T.grid(2, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[1 - vi, vj]
