# Threads whose blocks have no variables and use the thread itself.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), B: T.Buffer((3, 4), "int32"), E: T.Buffer((3, 4), "int32")):
    for o in T.thread_binding(3, thread="blockIdx.x"):
        with T.block("part"):
            X = T.alloc_buffer((4,), "int32", scope="shared")
            L = T.alloc_buffer((1,), "int32", scope="local")
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("X"):
                    X[t] = A[o, t] + o
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("L"):
                    L[0] = X[3 - t]
                with T.block("B"):
                    vo, vt = T.axis.remap("SS", [o, t])
                    B[vo, vt] = L[0] + X[0]
                with T.block("E"):
                    E[o, t] = L[0] + X[t]
