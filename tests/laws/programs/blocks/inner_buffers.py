# A block has buffers of its own.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), E: T.Buffer((4, 3), "int32")):
    for i in T.serial(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:3])
            T.writes(E[vi, 0:3])
            S = T.alloc_buffer((3,), "int32")
            R = T.alloc_buffer((1,), "int32")
            for j in range(3):
                with T.block("X"):
                    vj = T.axis.spatial(3, j)
                    S[vj] = A[vi, vj] * 2
            for j in range(3):
                with T.block("R"):
                    vj = T.axis.reduce(3, j)
                    with T.init():
                        R[0] = 0
                    R[0] = R[0] + S[vj]
            for j in range(3):
                with T.block("E"):
                    vj = T.axis.spatial(3, j)
                    E[vi, vj] = S[vj] - R[0]
