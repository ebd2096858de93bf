# What an inner iteration has for itself, below two loops that may both run at once.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 3, 2), "int32"), C: T.Buffer((2, 3, 2), "int32")):
    S = T.alloc_buffer((2,), "int32")
    R = T.alloc_buffer((3,), "int32")
    for o in T.serial(2):
        for i in range(3):
            for j in range(2):
                with T.block("S"):
                    vo, vi, vj = T.axis.remap("SSS", [o, i, j])
                    S[vj] = A[vo, vi, vj] * 2
            with T.block("R"):
                vo, vi = T.axis.remap("SS", [o, i])
                R[vi] = S[0] - S[1]
        for i, j in T.grid(3, 2):
            with T.block("C"):
                vo, vi, vj = T.axis.remap("SSS", [o, i, j])
                C[vo, vi, vj] = R[2 - vi] + vj
