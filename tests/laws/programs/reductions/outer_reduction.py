# A reduction loop outside, its result updated below.
# each_kind
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), X: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for k in range(3):
        for i in T.serial(4):
            with T.block("B"):
                vk, vi = T.axis.remap("RS", [k, i])
                with T.init():
                    B[vi] = X[vi]
                B[vi] = B[vi] + A[vk, vi]
    for i in T.serial(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi] * 2
