# Sums that memory adds, beside what initializes and reads them: who reads, or stores, waits for all of a nest.
# data I = 3 1 0 0 2 1 3 0
@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), I: T.Buffer((8,), "int32"), C: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("C_init"):
            vi = T.axis.spatial(4, i)
            C[vi] = 0
    for i, k in T.grid(4, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.block_attr({"tilewright.atomic": 1})
            C[vi] = C[vi] + A[vi, vk]
    for k in range(8):
        with T.block("E"):
            vk = T.axis.reduce(8, k)
            C[I[vk]] = C[I[vk]] + A[0, vk]
    for i in range(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = C[vi] * 2
