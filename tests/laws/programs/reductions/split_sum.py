# A reduction whose start stands apart, and its results in place.
@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("Z"):
            vi = T.axis.spatial(4, i)
            C[vi] = 1
    for k, i in T.grid(6, 4):
        with T.block("C"):
            vk, vi = T.axis.remap("RS", [k, i])
            C[vi] = C[vi] + A[vi, vk]
    for i in range(4):
        with T.block("E"):
            vi = T.axis.spatial(4, i)
            C[vi] = C[vi] * 2
