# Blocks and loops that have notes.
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i in T.serial(4, annotations={"note": 1}):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.block_attr({"note": "text"})
            B[vi] = A[vi] * 2
    for i in T.serial(4, annotations={"note": 2}):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            T.block_attr({"note": 0.5})
            C[vi] = B[vi] + 1
