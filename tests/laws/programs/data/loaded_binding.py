# Which row a block takes is a result.
# each_kind
# data I = 1 3 0 1
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), I: T.Buffer((4,), "int32"), E: T.Buffer((4, 4), "int32")):
    S = T.alloc_buffer((4,), "int32")
    B = T.alloc_buffer((4, 4), "int32")
    for i in range(4):
        with T.block("S"):
            vi = T.axis.spatial(4, i)
            S[vi] = I[vi]
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 3
    for i in T.serial(4):
        for j in range(4):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                vk = T.axis.opaque(4, S[i])
                T.reads(B[vk, vj])
                T.writes(E[vi, vj])
                E[vi, vj] = B[vk, vj] + 1
