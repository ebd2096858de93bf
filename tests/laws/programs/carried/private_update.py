# What an iteration has for itself is updated in place; some of it nobody writes.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), E: T.Buffer((4, 3), "int32")):
    S = T.alloc_buffer((5,), "int32")
    for i in T.serial(4):
        for j in range(3):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vj] = A[vi, vj] * 2
        for j in range(3):
            with T.block("U"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(S[vj], A[vi, vj])
                T.writes(S[vj])
                S[vj] = S[vj] + A[vi, vj]
        for j in range(3):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = S[vj] - vi
