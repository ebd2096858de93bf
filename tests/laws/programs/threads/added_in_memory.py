# A sum of the function's own that memory adds: threads of any scope would each have theirs.
@T.prim_func
def main(V: T.Buffer((8,), "int32"), C: T.Buffer((), "int32")):
    S = T.alloc_buffer((), "int32")
    with T.block("S_init"):
        S[()] = 0
    for i in range(8):
        with T.block("S"):
            vi = T.axis.reduce(8, i)
            T.block_attr({"tilewright.atomic": 1})
            S[()] = S[()] + V[vi]
    with T.block("C"):
        C[()] = S[()] * 2
