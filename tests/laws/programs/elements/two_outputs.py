# A block writes what a later one overwrites in part, and what it reads.
@T.prim_func
def main(A: T.Buffer((4, 2), "int32"), C: T.Buffer((4, 2), "int32"), D: T.Buffer((4, 2), "int32")):
    for i in T.serial(4):
        for j in range(2):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * 2
                D[vi, vj] = A[vi, 1 - vj]
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            C[vi, 1] = D[vi, 0] + C[vi, 0]
