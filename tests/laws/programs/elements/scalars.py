# Buffers without dimensions.
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    S = T.alloc_buffer((), "int32")
    R = T.alloc_buffer((), "int32")
    for k in range(4):
        with T.block("S"):
            vk = T.axis.reduce(4, k)
            with T.init():
                S[()] = 0
            S[()] = S[()] + A[vk]
    with T.block("R"):
        R[()] = S[()] * 2
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi] - R[()]
