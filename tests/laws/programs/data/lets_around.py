# Names around nests.
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((4, 4), "int32")):
    B = T.alloc_buffer((4, 4), "int32")
    for i in T.serial(4):
        x: T.int32 = (i + 1) % 4
        for j in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, x)
                vj = T.axis.spatial(4, j)
                B[vi, vj] = A[vi, vj] * 2
    for i in T.serial(4):
        y: T.int32 = 3 - i
        for j in range(y + 1):
            with T.block("C"):
                vi = T.axis.spatial(4, y)
                vj = T.axis.spatial(4, j)
                C[vi, vj] = B[vi, vj] + 1
        for j in range(y + 1, 4):
            with T.block("E"):
                vi = T.axis.spatial(4, y)
                vj = T.axis.spatial(4, j)
                C[vi, vj] = B[vj, vi] - 1
