# from tvm.script import tir as T

@T.prim_func
def main(A: T.Buffer((128, 96), "float32"), B: T.Buffer((96, 64), "float32"), C: T.Buffer((128, 64), "float32")):
    # with T.block("root"):
    for i_0, k, i_1 in T.grid(16, 96, 8):
        for j in T.vectorized(64):
            with T.block("C"):
                vi = T.axis.spatial(128, i_0 * 8 + i_1)
                vj, vk = T.axis.remap("SR", [j, k])
                T.reads(A[vi, vk], B[vk, vj])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = T.float32(0.0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
