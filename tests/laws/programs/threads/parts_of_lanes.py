# Partial sums of parts and lanes whose guard joins their variables, below the loops of what they read.
# each_kind
@T.prim_func
def main(A: T.Buffer((11,), "int32"), C: T.Buffer((1,), "int32")):
    B = T.alloc_buffer((11,), "int32")
    P = T.alloc_buffer((2, 2), "int32")
    for p, s, l in T.grid(2, 3, 2):
        with T.block("B"):
            vn = T.axis.spatial(11, p * 6 + s * 2 + l)
            T.where(p * 6 + s * 2 + l < 11)
            B[vn] = A[vn] * 3
    for p, s, l in T.grid(2, 3, 2):
        with T.block("P"):
            vp, vl, vs = T.axis.remap("SSR", [p, l, s])
            T.where(p * 6 + s * 2 + l < 11)
            with T.init():
                P[vp, vl] = 0
            P[vp, vl] = P[vp, vl] + B[vp * 6 + vs * 2 + vl]
    for p, l in T.grid(2, 2):
        with T.block("C"):
            vp, vl = T.axis.remap("RR", [p, l])
            with T.init():
                C[0] = 0
            C[0] = C[0] + P[vp, vl]
