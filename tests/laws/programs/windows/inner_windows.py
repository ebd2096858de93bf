# Windows inside of a block that allocates what they go over.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 6), "int32"), C: T.Buffer((2, 4), "int32")):
    for o in T.serial(2):
        with T.block("O"):
            vo = T.axis.spatial(2, o)
            T.reads(A[vo, 0:6])
            T.writes(C[vo, 0:4])
            B = T.alloc_buffer((6,), "int32")
            for i in range(6):
                with T.block("B"):
                    vi = T.axis.spatial(6, i)
                    B[vi] = A[vo, vi] * 2
            for i, r in T.grid(4, 3):
                with T.block("C"):
                    vi, vr = T.axis.remap("SR", [i, r])
                    with T.init():
                        C[vo, vi] = 0
                    C[vo, vi] = C[vo, vi] + B[vi + vr] * (vr + 1)
