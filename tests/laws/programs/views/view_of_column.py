# Views with strides, read and written, of parts that move.
@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32")):
    B = T.alloc_buffer((4, 6), "int32")
    for i, j in T.grid(2, 3):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 2:vi * 2 + 2, vj * 2:vj * 2 + 2])
            T.writes(B[vi * 2:vi * 2 + 2, vj * 2:vj * 2 + 2])
            U = T.match_buffer(A[vi * 2:vi * 2 + 2, vj * 2:vj * 2 + 2], (2, 2), "int32",
                               strides=["s0", "s1"], offset_factor=1)
            V = T.match_buffer(B[vi * 2:vi * 2 + 2, vj * 2:vj * 2 + 2], (2, 2), "int32",
                               strides=["t0", "t1"], offset_factor=1)
            for x, y in T.grid(2, 2):
                V[x, y] = U[y, x] * 2
    for i, j in T.grid(4, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1
