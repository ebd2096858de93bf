# A sum that threads add up together.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), C: T.Buffer((3,), "int32")):
    B = T.alloc_buffer((3,), "int32", scope="shared")
    for b in T.thread_binding(3, thread="blockIdx.x"):
        for t in T.thread_binding(4, thread="threadIdx.x"):
            with T.block("B"):
                vb, vt = T.axis.remap("SR", [b, t])
                with T.init():
                    B[vb] = 0
                B[vb] = B[vb] + A[vb, vt]
        for t in T.thread_binding(4, thread="threadIdx.x"):
            with T.block("C"):
                vb = T.axis.spatial(3, b)
                T.where(t < 1)
                C[vb] = B[vb] * 2
