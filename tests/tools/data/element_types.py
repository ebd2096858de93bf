@T.prim_func
def main(W: T.Buffer((8, 16), "int4"), X: T.Buffer((16,), "float8_e4m3fn"), B: T.Buffer((2,), "float32x4"), Y: T.Buffer((2,), "float32x4")):
    S = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 16):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + T.Cast("float32", W[vi, vk]) * T.Cast("float32", X[vk])
    for i in range(2):
        with T.block("Y"):
            vi = T.axis.spatial(2, i)
            Y[vi] = T.max(S[vi * 4:vi * 4 + 4] + B[vi], T.float32(0))
