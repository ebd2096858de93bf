# Tiles of a sum whose inner block starts in one of two ways.
@T.prim_func
def main(A: T.Buffer((6, 8), "int32"), C: T.Buffer((6,), "int32"), D: T.Buffer((6,), "int32")):
    S = T.alloc_buffer((6,), "int32")
    for i, ko in T.grid(6, 2):
        with T.block("O"):
            vi = T.axis.spatial(6, i)
            vko = T.axis.reduce(2, ko)
            with T.init():
                with T.block("start"):
                    S[vi] = A[vi, 7]
            P = T.alloc_buffer((4,), "int32")
            for k in range(4):
                with T.block("P"):
                    vk = T.axis.spatial(4, k)
                    P[vk] = A[vi, vko * 4 + vk] * 3
            for k in range(4):
                with T.block("I"):
                    vk = T.axis.reduce(4, k)
                    S[vi] = S[vi] + P[vk]
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = S[5 - vi] + A[vi, 0]
    for i in range(3):
        for j in range(2):
            with T.block("D"):
                vi = T.axis.spatial(6, i * 2 + j)
                T.where(i * 2 + j < 5)
                D[vi] = C[vi]
    with T.block("D5"):
        D[5] = 1
