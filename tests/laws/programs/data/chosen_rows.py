# Rows chosen by loaded indices, written once, read in another order.
@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), I: T.Buffer((6,), "int32"), C: T.Buffer((6, 4), "int32"), D: T.Buffer((6,), "int32")):
    J = T.alloc_buffer((6,), "int32")
    B = T.alloc_buffer((6, 4), "int32")
    for i in range(6):
        with T.block("J"):
            vi = T.axis.spatial(6, i)
            J[vi] = (I[vi] % 6 + 6) % 6
    for i, j in T.grid(6, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[J[vi], vj]
    for i, j in T.grid(6, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.if_then_else(J[vi] < 3, B[J[vi], vj], B[vi, 3 - vj])
    for i in range(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = T.Select(J[vi] > 2, J[vi], -J[vi])
