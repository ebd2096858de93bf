@T.prim_func
def main(A: T.Buffer((8, 4), "float32x4"), X: T.Buffer((32,), "int3"), F: T.Buffer((32,), "float8_e4m3fn"), Y: T.Buffer((32,), "float32", axis_separators=[1])):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            v: T.float16x4 = T.Cast("float32x4", X[vi * 4:vi * 4 + 4]) + T.float32(2)
            Y[T.Ramp(vi * 3, 1, 4)] = T.Select(v > T.float32x4(0), v, T.Broadcast(T.max_value("float32"), 4)) + A[vi, 0]
            A[vi, 1] = T.Shuffle([v, A[vi, 0]], [7, 0, 1, 2])
            F[vi] = T.Cast("float8_e4m3fn", Y[vi]) * F[vi] + T.reinterpret("float8_e4m3fn", T.uint8(3))
            X[vi] = (X[vi] << T.int2(1)) *+ T.int4(-8)
            Y.vstore([0], S.vectorlow("float32x2", v))
