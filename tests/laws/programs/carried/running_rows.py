# Running sums of rows: iterations along a row share nothing, those from row to row do.
# each_kind
@T.prim_func
def main(A: T.Buffer((5, 3), "int32"), C: T.Buffer((5, 3), "int32")):
    for j in T.serial(3):
        with T.block("Z"):
            vj = T.axis.spatial(3, j)
            C[0, vj] = A[0, vj]
    for i in range(4):
        for j in T.serial(3):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi + 1, vj] = C[vi, vj] + A[vi + 1, vj]
