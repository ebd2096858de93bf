# All iterations of a loop write one element; the last one decides.
@T.prim_func
def main(A: T.Buffer((3, 2), "int32"), E: T.Buffer((3, 2), "int32")):
    S = T.alloc_buffer((1,), "int32")
    for i in range(3):
        for j in range(2):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[0] = A[vi, vj] * 2
        for j in range(2):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = S[0] - vi
