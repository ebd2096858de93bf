# What a reduction starts from is changed before it goes on.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), X: T.Buffer((3,), "int32"), C: T.Buffer((3,), "int32")):
    for i in range(3):
        for k in range(4):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = X[vi]
                C[vi] = C[vi] + A[vi, vk]
        for k in range(2):
            with T.block("X"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce(2, k)
                X[vi] = X[vi] + C[vi] * (vk + 1)
