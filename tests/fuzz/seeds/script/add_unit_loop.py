@T.prim_func
def main(A: T.Buffer((), "float32"), C: T.Buffer((), "float32")):
    with T.block("C"):
        vu = T.axis.spatial(1, 0)
        C[()] = A[()] + T.float32(1)
