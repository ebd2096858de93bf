# One block writes for its own iteration and for all.
# each_kind
@T.prim_func
def main(A: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int32"), E: T.Buffer((4,), "int32")):
    S = T.alloc_buffer((1,), "int32")
    R = T.alloc_buffer((4,), "int32")
    for i in T.serial(4):
        with T.block("X"):
            vi = T.axis.spatial(4, i)
            S[0] = A[vi] * 2
            D[vi] = A[vi] + 1
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            R[vi] = S[0] - vi
    for i in range(4):
        with T.block("E"):
            vi = T.axis.spatial(4, i)
            E[vi] = R[vi] * D[vi]
