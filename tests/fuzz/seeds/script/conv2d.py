@T.prim_func
def main(X: T.Buffer((1, 56, 56, 64), "float32"), F: T.Buffer((3, 3, 64, 128), "float32"), Y: T.Buffer((1, 56, 56, 128), "float32")):
    P = T.alloc_buffer((1, 58, 58, 64), "float32")
    C = T.alloc_buffer((1, 56, 56, 128), "float32")
    for n, h, w, c in T.grid(1, 58, 58, 64):
        with T.block("P"):
            vn, vh, vw, vc = T.axis.remap("SSSS", [n, h, w, c])
            P[vn, vh, vw, vc] = T.if_then_else(1 <= vh and vh < 57 and 1 <= vw and vw < 57, X[vn, vh - 1, vw - 1, vc], T.float32(0))
    for n, h, w, k, r, s, c in T.grid(1, 56, 56, 128, 3, 3, 64):
        with T.block("C"):
            vn, vh, vw, vk, vr, vs, vc = T.axis.remap("SSSSRRR", [n, h, w, k, r, s, c])
            with T.init():
                C[vn, vh, vw, vk] = T.float32(0)
            C[vn, vh, vw, vk] = C[vn, vh, vw, vk] + P[vn, vh + vr, vw + vs, vc] * F[vr, vs, vc, vk]
    for n, h, w, k in T.grid(1, 56, 56, 128):
        with T.block("Y"):
            vn, vh, vw, vk = T.axis.remap("SSSS", [n, h, w, k])
            Y[vn, vh, vw, vk] = T.max(C[vn, vh, vw, vk], T.float32(0))
