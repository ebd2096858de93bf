# Indices that are computed and loaded, in parts of a loop.
@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), I: T.Buffer((4,), "int32"), C: T.Buffer((4, 6), "int32"), D: T.Buffer((4,), "int32")):
    J = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("J"):
            vi = T.axis.spatial(4, i)
            J[vi] = T.floormod(I[vi], 4)
    for t in range(4):
        m: T.int32 = J[t]
        with T.block("part"):
            for j in range(6):
                with T.block("C"):
                    vt, vj = T.axis.remap("SS", [t, j])
                    C[vt, vj] = A[J[vt], (vj * 2 + vt) % 6] + A[J[vt], 0]
            with T.block("D"):
                D[t] = m * 3 + A[m, m + 1]
