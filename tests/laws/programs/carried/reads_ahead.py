# An update in place that reads what later iterations overwrite.
@T.prim_func
def main(A: T.Buffer((6,), "int32"), E: T.Buffer((7,), "int32")):
    for i in range(6):
        with T.block("E"):
            vi = T.axis.spatial(6, i)
            T.reads(E[vi:vi + 2], A[vi])
            T.writes(E[vi])
            E[vi] = E[vi + 1] + A[vi]
