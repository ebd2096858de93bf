# A guard is a result.
# each_kind
# data I = 2 0 4 1
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), I: T.Buffer((4,), "int32"), E: T.Buffer((4, 4), "int32")):
    S = T.alloc_buffer((1,), "int32")
    for i in T.serial(4):
        with T.block("S"):
            vi = T.axis.spatial(4, i)
            S[0] = I[vi]
        for j in range(4):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(j < S[0])
                E[vi, vj] = A[vi, vj] + 1
