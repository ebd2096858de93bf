@T.prim_func
def main(X: T.Buffer((32,), "int8")):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            X[vi] = X[vi] * T.int16(256)
