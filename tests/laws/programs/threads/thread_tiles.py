# Blocks of threads with tiles in shared and in local memory.
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((4, 4), "int32")):
    S = T.alloc_buffer((4, 4), "int32", scope="shared")
    L = T.alloc_buffer((4, 4), "int32", scope="local")
    for b in T.thread_binding(4, thread="blockIdx.x"):
        for t in T.thread_binding(4, thread="threadIdx.x"):
            with T.block("S"):
                vb, vt = T.axis.remap("SS", [b, t])
                S[vb, vt] = A[vb, vt] * 2
        for t in T.thread_binding(4, thread="threadIdx.x"):
            with T.block("L"):
                vb, vt = T.axis.remap("SS", [b, t])
                L[vb, vt] = S[vb, 3 - vt] + 1
            with T.block("C"):
                vb, vt = T.axis.remap("SS", [b, t])
                C[vb, vt] = L[vb, vt] * 3
