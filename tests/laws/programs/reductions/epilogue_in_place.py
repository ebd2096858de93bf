# What is added to a sum is itself a result that the sum overwrites.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), X: T.Buffer((3,), "int32"), C: T.Buffer((3,), "int32")):
    B = T.alloc_buffer((3,), "int32")
    for i, k in T.grid(3, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk] * C[vi]
    for i in range(3):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            C[vi] = B[vi] + X[vi]
