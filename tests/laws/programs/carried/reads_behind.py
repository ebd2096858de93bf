# An update in place that reads what the iteration before has written.
@T.prim_func
def main(A: T.Buffer((6,), "int32"), E: T.Buffer((7,), "int32"), F: T.Buffer((6,), "int32")):
    for i in range(6):
        with T.block("E"):
            vi = T.axis.spatial(6, i)
            T.reads(E[vi], A[vi])
            T.writes(E[vi + 1])
            E[vi + 1] = E[vi] + A[vi]
    for i in range(6):
        with T.block("F"):
            vi = T.axis.spatial(6, i)
            F[vi] = E[vi] * 2
