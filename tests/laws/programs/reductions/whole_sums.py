# A block of whole reductions: it starts what blocks inside add up.
@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i, k in T.grid(4, 2):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk * 3:vk * 3 + 3])
            T.writes(B[vi])
            with T.init():
                B[vi] = 0
            for r in range(3):
                with T.block("B"):
                    vr = T.axis.reduce(3, r)
                    T.reads(B[vi], A[vi, vk * 3 + vr])
                    T.writes(B[vi])
                    B[vi] = B[vi] + A[vi, vk * 3 + vr]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi] * 2
