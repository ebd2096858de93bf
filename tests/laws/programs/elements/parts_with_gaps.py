# A sum that reads a number's digits, of which the producer leaves some unwritten that others wrote before.
# each_kind
@T.prim_func
def main(A: T.Buffer((24,), "int32"), C: T.Buffer((3, 4), "int32")):
    B = T.alloc_buffer((24,), "int32")
    for n in range(24):
        with T.block("Z"):
            vn = T.axis.spatial(24, n)
            B[vn] = 7
    for p, s, l in T.grid(3, 2, 2):
        with T.block("B"):
            vp, vs, vl = T.axis.remap("SSS", [p, s, l])
            B[vp * 8 + vs * 2 + vl] = A[vp * 8 + vs * 2 + vl] * 3
    for p, s, l in T.grid(3, 4, 2):
        with T.block("C"):
            vp, vs, vl = T.axis.remap("SSR", [p, s, l])
            with T.init():
                C[vp, vs] = 0
            C[vp, vs] = C[vp, vs] + B[vp * 8 + vs * 2 + vl]
