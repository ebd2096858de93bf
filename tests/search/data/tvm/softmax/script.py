# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        E = T.sblock_alloc_buffer((64, 128))
        S = T.sblock_alloc_buffer((64,))
        for i, j in T.grid(64, 128):
            with T.sblock("P"):
                vi, vj = T.axis.remap("SR", [i, j])
                T.reads(X[vi, vj])
                T.writes(P[vi])
                with T.init():
                    P[vi] = T.float32(-340282346638528859811704183484516925440.0)
                P[vi] = T.max(P[vi], X[vi, vj])
        for i, j in T.grid(64, 128):
            with T.sblock("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj], P[vi])
                T.writes(E[vi, vj])
                E[vi, vj] = T.exp(X[vi, vj] - P[vi])
        for i, j in T.grid(64, 128):
            with T.sblock("S"):
                vi, vj = T.axis.remap("SR", [i, j])
                T.reads(E[vi, vj])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0.0)
                S[vi] = S[vi] + E[vi, vj]
        for i, j in T.grid(64, 128):
            with T.sblock("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(E[vi, vj], S[vi])
                T.writes(Y[vi, vj])
                Y[vi, vj] = E[vi, vj] / S[vi]