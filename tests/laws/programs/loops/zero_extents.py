# Loops that never run and loops that run once.
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32"), F: T.Buffer((1,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i, u in T.grid(4, 1):
        with T.block("B"):
            vi, vu = T.axis.remap("SS", [i, u])
            B[vi] = A[vi] + vu
    for i, z in T.grid(4, 0):
        with T.block("Z"):
            vi, vz = T.axis.remap("SS", [i, z])
            B[vi] = vz
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi] * 2
    for k in range(0):
        with T.block("F"):
            vk = T.axis.reduce(0, k)
            with T.init():
                F[0] = 0
            F[0] = F[0] + A[vk]
