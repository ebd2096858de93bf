# Each iteration writes a row of its own before it reads it: between iterations nothing is left.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), D: T.Buffer((4,), "int32"), E: T.Buffer((4, 3), "int32")):
    S = T.alloc_buffer((3,), "int32")
    for i in T.serial(4):
        for j in range(3):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vj] = A[vi, vj] * 2
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = S[0] + S[2]
        for j in range(3):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = S[vj] - vi
