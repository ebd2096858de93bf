# Vector lanes below threads, with a register tile.
@T.prim_func
def main(A: T.Buffer((2, 4, 2), "int32"), C: T.Buffer((2, 4, 2), "int32")):
    L = T.alloc_buffer((2, 4, 2), "int32", scope="local")
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(4, thread="threadIdx.x"):
            for v in T.vectorized(2):
                with T.block("L"):
                    vb, vt, vv = T.axis.remap("SSS", [b, t, v])
                    L[vb, vt, vv] = A[vb, vt, vv] * 2
            for v in T.vectorized(2):
                with T.block("C"):
                    vb, vt, vv = T.axis.remap("SSS", [b, t, v])
                    C[vb, vt, vv] = L[vb, vt, 1 - vv] + 1
