# Branches around nests, on what is loaded.
# data I = 2 0 4 1
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), I: T.Buffer((4,), "int32"), C: T.Buffer((4, 3), "int32")):
    for i in T.serial(4):
        for j in range(3):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = 9
        if I[i] < 2:
            for j in range(3):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = A[vi, vj] * 2
