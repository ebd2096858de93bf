# A scatter that adds: places repeat.
# data I = 1 0 1 2 1
@T.prim_func
def main(A: T.Buffer((5,), "int32"), I: T.Buffer((5,), "int32"), C: T.Buffer((3,), "int32")):
    for i in range(3):
        with T.block("Z"):
            vi = T.axis.spatial(3, i)
            C[vi] = 0
    for i in range(5):
        with T.block("C"):
            vi = T.axis.reduce(5, i)
            T.reads(A[vi], I[vi], C[0:3])
            T.writes(C[0:3])
            C[I[vi]] = C[I[vi]] + A[vi]
