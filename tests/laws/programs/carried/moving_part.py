# A part that moves is written anew by each iteration and read as a whole.
# each_kind
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), C: T.Buffer((3, 2), "int32")):
    S = T.alloc_buffer((6,), "int32")
    for i in T.serial(3):
        for j in range(4):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi + vj] = A[vi, vj] * 2
        for j in range(2):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = S[vi + vj * 2] + S[vi + 3 - vj]
