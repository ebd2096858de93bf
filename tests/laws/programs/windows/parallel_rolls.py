# Each outer iteration rolls over its rows.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 6), "int32"), C: T.Buffer((2, 4), "int32")):
    B = T.alloc_buffer((2, 6), "int32")
    for o in T.serial(2):
        for i in range(4):
            for x in range(3):
                with T.block("B"):
                    vo = T.axis.spatial(2, o)
                    vx = T.axis.spatial(6, i + x)
                    B[vo, vx] = A[vo, vx] * 2
            with T.block("C"):
                vo, vi = T.axis.remap("SS", [o, i])
                C[vo, vi] = B[vo, vi] + B[vo, vi + 1] + B[vo, vi + 2]
