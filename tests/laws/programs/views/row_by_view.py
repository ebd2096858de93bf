# A block writes its row through a view.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), E: T.Buffer((4, 3), "int32")):
    S = T.alloc_buffer((4, 3), "int32")
    for i in T.serial(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:3])
            T.writes(S[vi, 0:3])
            V = T.match_buffer(S[vi, 0:3], (3,), "int32", strides=["s"], offset_factor=1)
            for j in range(3):
                with T.block("X"):
                    vj = T.axis.spatial(3, j)
                    V[vj] = A[vi, vj] * 2
    for i, j in T.grid(4, 3):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = S[vi, vj] - vi
