# Loops of which some iterations have nothing to do.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4, 4), "int32")
    for i in T.serial(4):
        for j in range(T.max(2 - i, 0)):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = 1
        for j in range(T.max(2 - i, 0), 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
    for i in T.serial(4):
        for k in range(4):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + B[vi, vk]
