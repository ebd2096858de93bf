# Tiles that divide, in outer loops that do not, and tiles that start behind a first one.
@T.prim_func
def main(A: T.Buffer((12, 4), "int32"), C: T.Buffer((12, 4), "int32"), D: T.Buffer((12,), "int32")):
    B = T.alloc_buffer((12, 4), "int32")
    S = T.alloc_buffer((12,), "int32")
    for o in range(2):
        for m, j0 in T.grid(3, 2):
            for i, j in T.grid(3, 2):
                with T.block("B"):
                    vi = T.axis.spatial(12, (o * 3 + m) * 3 + i)
                    vj = T.axis.spatial(4, j0 * 2 + j)
                    T.where(o * 3 + m < 4)
                    B[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(12, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1
    for o, m, i, k in T.grid(3, 2, 3, 4):
        with T.block("S"):
            vi = T.axis.spatial(12, o * 6 + m * 3 + i - 3)
            vk = T.axis.reduce(4, k)
            T.where(o * 2 + m >= 1 and o * 2 + m < 5)
            with T.init():
                S[vi] = 0
            S[vi] = S[vi] + A[vi, vk]
    for i in range(12):
        with T.block("D"):
            vi = T.axis.spatial(12, i)
            D[vi] = S[vi] * S[vi]
