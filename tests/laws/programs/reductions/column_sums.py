# Reductions over what a loop made, the outer dimension first.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 5), "int32"), E: T.Buffer((5,), "int32"), F: T.Buffer((1,), "int32")):
    B = T.alloc_buffer((4, 5), "int32")
    for i in T.serial(4):
        for j in range(5):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
    for j, k in T.grid(5, 4):
        with T.block("E"):
            vj, vk = T.axis.remap("SR", [j, k])
            with T.init():
                E[vj] = 0
            E[vj] = E[vj] + B[vk, vj]
    for k in range(4):
        with T.block("F"):
            vk = T.axis.reduce(4, k)
            with T.init():
                F[0] = 0
            F[0] = F[0] + B[vk, 0]
