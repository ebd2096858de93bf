# Threads inside of a block that has shared and local memory.
@T.prim_func
def main(A: T.Buffer((2, 4), "int32"), C: T.Buffer((2, 4), "int32")):
    for b in T.thread_binding(2, thread="blockIdx.x"):
        with T.block("O"):
            vb = T.axis.spatial(2, b)
            T.reads(A[vb, 0:4])
            T.writes(C[vb, 0:4])
            S = T.alloc_buffer((4,), "int32", scope="shared")
            L = T.alloc_buffer((1,), "int32", scope="local")
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("S"):
                    vt = T.axis.spatial(4, t)
                    S[vt] = A[vb, vt] * 2
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("L"):
                    vt = T.axis.spatial(4, t)
                    L[0] = S[3 - vt]
                with T.block("C"):
                    vt = T.axis.spatial(4, t)
                    C[vb, vt] = L[0] + 1
