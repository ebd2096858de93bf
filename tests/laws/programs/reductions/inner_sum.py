# A reduction over a loop outside and one inside a block.
# each_kind
@T.prim_func
def main(A: T.Buffer((3, 2, 2), "int32"), C: T.Buffer((3,), "int32")):
    B = T.alloc_buffer((3, 2), "int32")
    for i in T.serial(3):
        with T.block("O"):
            vi = T.axis.spatial(3, i)
            T.reads(A[vi, 0:2, 0:2], B[vi, 0:2])
            T.writes(B[vi, 0:2], C[vi])
            for j, k in T.grid(2, 2):
                with T.block("B"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    with T.init():
                        B[vi, vj] = 0
                    B[vi, vj] = B[vi, vj] + A[vi, vj, vk]
            for j in range(2):
                with T.block("C"):
                    vj = T.axis.reduce(2, j)
                    with T.init():
                        C[vi] = 1
                    C[vi] = C[vi] + B[vi, vj] * 2
