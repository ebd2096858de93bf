# Windows that slide inside of a part, over a row that another part has made.
@T.prim_func
def main(A: T.Buffer((3, 8), "int32"), C: T.Buffer((3, 6), "int32"), D: T.Buffer((3, 4), "int32")):
    for r in range(3):
        with T.block("row"):
            X = T.alloc_buffer((8,), "int32")
            Y = T.alloc_buffer((6,), "int32")
            for i in range(8):
                with T.block("X"):
                    vr = T.axis.spatial(3, r)
                    vi = T.axis.spatial(8, i)
                    X[vi] = A[vr, vi] + 1
            for i in range(6):
                with T.block("Y"):
                    vi = T.axis.spatial(6, i)
                    Y[vi] = X[vi] + X[vi + 1] * X[vi + 2]
            for i in range(6):
                with T.block("C"):
                    vr, vi = T.axis.remap("SS", [r, i])
                    C[vr, vi] = Y[vi] - X[vi]
            for i in range(4):
                with T.block("D"):
                    vr, vi = T.axis.remap("SS", [r, i])
                    D[vr, vi] = Y[vi] + Y[vi + 2]
