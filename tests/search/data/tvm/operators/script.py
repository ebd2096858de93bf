# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((8, 16), "float32"), I_1: T.Buffer((8,), "int32"), Y: T.Buffer((8, 16), "float32"), Z: T.Buffer((8, 16), "float16"), n: T.int32):
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((10, 16))
        for i, j in T.grid(10, 16):
            with T.sblock("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi - 1, vj])
                T.writes(P[vi, vj])
                P[vi, vj] = T.if_then_else(1 <= vi and vi < 9, X[vi - 1, vj], T.float32(0.0))
        for i, j in T.grid(8, 16):
            with T.sblock("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(i * 16 + j < 120)
                T.reads(P[vi:vi + 2, vj], X[T.min(I_1[vi], vi):T.min(I_1[vi], vi) + (T.max(I_1[vi], vi) + 1 - T.min(I_1[vi], vi)), T.min(vj // 2, vj):T.min(vj // 2, vj) + (T.max(vj // 2, vj) + 1 - T.min(vj // 2, vj))], I_1[vi], Y[vi, vj])
                T.writes(Y[vi, vj], Z[vi, vj])
                T.sblock_attr({"l": [1, 2], "meta_schedule.unroll": 16, "s": "text"})
                Y[vi, vj] = T.Select(vi % 2 == 0 or not vj > n, T.exp(P[vi + 1, vj]) / T.sqrt(X[I_1[vi], vj // 2]), T.tanh(T.min(P[vi, vj], T.float32(1.5)))) + T.sigmoid(X[vi, vj]) - T.Cast("float32", vi) + T.pow(X[vi, vj], T.float32(2.0)) + T.fabs(X[vi, vj]) + T.max(X[vi, vj], T.float32(-340282346638528859811704183484516925440.0)) + T.erf(X[vi, vj]) + T.floor(X[vi, vj]) + T.log(X[vi, vj])
                Z[vi, vj] = T.Cast("float16", Y[vi, vj])