# A product of a matrix with itself, and with something added in each term.
@T.prim_func
def main(A: T.Buffer((3, 5), "int32"), C: T.Buffer((3, 3), "int32"), D: T.Buffer((3, 3), "int32")):
    for i, j, k in T.grid(3, 3, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * A[vj, vk]
    for i, j, k in T.grid(3, 3, 5):
        with T.block("D"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                D[vi, vj] = 0
            D[vi, vj] = D[vi, vj] + (A[vi, vk] * A[vj, vk] + 1)
