# Buffers that are circular already, as rolling makes them.
@T.prim_func
def main(A: T.Buffer((2, 8), "int32"), D: T.Buffer((2, 4), "int32")):
    B = T.alloc_buffer((2, 5), "int32")
    C = T.alloc_buffer((2, 6), "int32")
    for o, i in T.grid(2, 4):
        for ax0 in range(5):
            with T.block("B"):
                vo = T.axis.spatial(2, o)
                v0 = T.axis.opaque(8, i + ax0)
                T.where(i < 1 or 4 <= ax0)
                T.reads(A[vo, v0])
                T.writes(B[vo, v0 % 5])
                B[vo, v0 % 5] = A[vo, v0] * 2
        for ax0 in range(3):
            with T.block("C"):
                vo = T.axis.spatial(2, o)
                v0 = T.axis.opaque(6, i + ax0)
                T.reads(B[vo, 0:5])
                T.writes(C[vo, v0])
                C[vo, v0] = B[vo, v0 % 5] + B[vo, (v0 + 2) % 5]
        with T.block("D"):
            vo, vi = T.axis.remap("SS", [o, i])
            T.reads(C[vo, vi:vi + 3])
            T.writes(D[vo, vi])
            D[vo, vi] = C[vo, vi] + C[vo, vi + 1] + C[vo, vi + 2]
