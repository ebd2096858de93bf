# Sums of rows and of all, each with something added to its results.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), X: T.Buffer((3,), "int32"), C: T.Buffer((3,), "int32"),
         D: T.Buffer((3,), "int32")):
    B = T.alloc_buffer((3,), "int32")
    E = T.alloc_buffer((3,), "int32")
    for i, k in T.grid(3, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]
    for i in range(3):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            C[vi] = X[vi] + B[vi]
    for k, i in T.grid(4, 3):
        with T.block("E"):
            vk, vi = T.axis.remap("RS", [k, i])
            with T.init():
                E[vi] = 0
            E[vi] = E[vi] + A[vi, vk] * 2
    for i in range(3):
        with T.block("D"):
            vi = T.axis.spatial(3, i)
            D[vi] = E[vi] + C[vi]
