# Two buffers that are swapped in place, below one loop.
# each_kind
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    for i in T.serial(4):
        with T.block("X"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi], C[vi])
            T.writes(A[vi], C[vi])
            x: T.int32 = A[vi]
            A[vi] = C[vi] + 1
            C[vi] = x * 2
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            C[vi] = C[vi] + A[vi]
