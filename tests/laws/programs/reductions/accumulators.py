# A sum in a register, started and stored below the same loop.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4,), "int32")):
    L = T.alloc_buffer((1,), "int32", scope="local")
    for i in T.serial(4):
        with T.block("Z"):
            vi = T.axis.spatial(4, i)
            L[0] = vi
        for k in range(3):
            with T.block("L"):
                vi, vk = T.axis.remap("SR", [i, k])
                L[0] = L[0] + A[vi, vk]
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = L[0] * 2
