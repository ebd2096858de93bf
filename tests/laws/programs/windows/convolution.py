# Windows of two dimensions and a border.
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), G: T.Buffer((3, 3), "int32"), C: T.Buffer((4, 4), "int32")):
    P = T.alloc_buffer((6, 6), "int32")
    for i, j in T.grid(6, 6):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = T.if_then_else(1 <= vi and vi < 5 and 1 <= vj and vj < 5,
                                       A[vi - 1, vj - 1], 0, dtype="int32")
    for i, j, r, s in T.grid(4, 4, 3, 3):
        with T.block("C"):
            vi, vj, vr, vs = T.axis.remap("SSRR", [i, j, r, s])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + P[vi + vr, vj + vs] * G[vr, vs]
