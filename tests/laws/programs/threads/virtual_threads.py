# Virtual threads, and a tile of each in shared memory.
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    S = T.alloc_buffer((8,), "int32", scope="shared")
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for v in T.thread_binding(2, thread="vthread.x"):
            for t in T.thread_binding(2, thread="threadIdx.x"):
                with T.block("S"):
                    vi = T.axis.spatial(8, b * 4 + v * 2 + t)
                    S[vi] = A[vi] * 2
        for v in T.thread_binding(2, thread="vthread.x"):
            for t in T.thread_binding(2, thread="threadIdx.x"):
                with T.block("C"):
                    vi = T.axis.spatial(8, b * 4 + v * 2 + t)
                    T.reads(S[vi // 4 * 4:vi // 4 * 4 + 4])
                    T.writes(C[vi])
                    C[vi] = S[vi // 4 * 4 + 3 - vi % 4] + 1
