# Partial results of a reduction, and their sum.
# each_kind
@T.prim_func
def main(A: T.Buffer((3, 6), "int32"), C: T.Buffer((3,), "int32")):
    P = T.alloc_buffer((3, 2), "int32")
    for k0 in T.serial(2):
        for i, k1 in T.grid(3, 3):
            with T.block("P"):
                vk0, vi, vk1 = T.axis.remap("SSR", [k0, i, k1])
                with T.init():
                    P[vi, vk0] = 0
                P[vi, vk0] = P[vi, vk0] + A[vi, vk0 * 3 + vk1]
    for i in T.serial(3):
        for k0 in range(2):
            with T.block("C"):
                vk0, vi = T.axis.remap("RS", [k0, i])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + P[vi, vk0]
