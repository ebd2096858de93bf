# The second outer iteration reads what only the first one wrote.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 4), "int32"), C: T.Buffer((2, 4), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for o in range(2):
        for i in T.serial(4):
            with T.block("X"):
                vo, vi = T.axis.remap("SS", [o, i])
                T.where(o < 1)
                B[vi] = A[vo, vi]
            with T.block("Y"):
                vo, vi = T.axis.remap("SS", [o, i])
                C[vo, vi] = B[vi] * 2
