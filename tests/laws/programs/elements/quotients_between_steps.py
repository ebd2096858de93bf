# Tiles that lie in a row of the result: quotients of a variable below the step of another one.
@T.prim_func
def main(A: T.Buffer((8, 6), "int32"), C: T.Buffer((8, 6), "int32")):
    B = T.alloc_buffer((9, 2, 3), "int32")
    for i, j in T.grid(8, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi // 3 + vj // 2 * 3, vj % 2, vi % 3] = A[vi, vj] + 1
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi // 3 + vj // 2 * 3, vj % 2, vi % 3] * 2
