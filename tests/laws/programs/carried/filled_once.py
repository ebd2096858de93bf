# The first iteration fills what all read.
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((3, 4), "int32")):
    S = T.alloc_buffer((4,), "int32")
    for i in range(3):
        for j in range(4):
            with T.block("S"):
                vi = T.axis.opaque(3, i)
                vj = T.axis.spatial(4, j)
                T.where(i == 0)
                S[vj] = A[vj] * 2 + vi
        for j in range(4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = S[vj] + vi
