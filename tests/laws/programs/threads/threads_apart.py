@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((4, 2, 2), "int32")):
    for i in T.thread_binding(4, thread="threadIdx.x"):
        for j in range(T.max(2 - i, 0), 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj // 2, vj % 2] = A[vi, vj] * 2
