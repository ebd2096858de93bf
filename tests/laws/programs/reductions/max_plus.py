# Products and sums of another algebra, where zeros are no padding.
@T.prim_func
def main(A: T.Buffer((3, 5), "int32"), B: T.Buffer((5, 3), "int32"), C: T.Buffer((3, 3), "int32")):
    for i, j, k in T.grid(3, 3, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = -1000
            C[vi, vj] = T.max(C[vi, vj], A[vi, vk] + B[vk, vj])
