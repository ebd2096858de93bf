# Below one loop, a block reads what another one wrote an iteration before.
@T.prim_func
def main(A: T.Buffer((5,), "int32"), C: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((5,), "int32")
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            B[vi] = A[vi] * 2
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            C[vi] = B[T.max(vi - 1, 0)] + 1
