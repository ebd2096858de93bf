# Views and parts with indices of 64 bits.
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 3), "int32")):
    B = T.alloc_buffer((T.int64(4), T.int64(3)), "int32")
    for i in range(T.int64(4)):
        with T.block("O"):
            vi = T.axis.spatial(T.int64(4), i)
            T.reads(A[vi, 0:3])
            T.writes(B[vi, 0:3])
            V = T.match_buffer(B[vi, 0:3], (T.int64(3),), "int32", strides=["s"], offset_factor=1)
            for j in range(T.int64(3)):
                with T.block("B"):
                    vj = T.axis.spatial(T.int64(3), j)
                    V[vj] = A[vi, vj] * 2
    for i in T.parallel(T.int64(2)):
        for x in range(T.int64(2)):
            for j in range(T.int64(3)):
                with T.block("C"):
                    vi = T.axis.spatial(T.int64(4), i * T.int64(2) + x)
                    vj = T.axis.spatial(T.int64(3), j)
                    C[vi, vj] = B[vi, T.int64(2) - vj] + 1
