# How often a loop runs is a result.
# each_kind
# data I = 2 0 4 1
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), I: T.Buffer((4,), "int32"), E: T.Buffer((4, 4), "int32")):
    S = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("S"):
            vi = T.axis.spatial(4, i)
            S[vi] = I[vi]
    for i in T.serial(4):
        for j in range(S[i]):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = A[vi, vj] + 1
