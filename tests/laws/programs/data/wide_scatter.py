# Two elements for each index, at places that an input says; all differ.
# data I = 2 0 4
@T.prim_func
def main(A: T.Buffer((3,), "int32"), I: T.Buffer((3,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i, j in T.grid(3, 2):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi], I[vi])
            T.writes(B[0:6])
            B[I[vi] + vj] = A[vi] * 2 + vj
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = B[5 - vi] + 1
