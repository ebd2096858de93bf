# One reads all of a buffer, another one a part.
# each_kind
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((4, 4), "int32"), D: T.Buffer((2, 2), "int32")):
    B = T.alloc_buffer((4, 4), "int32")
    for i in T.serial(4):
        for j in range(4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
    for i in T.serial(4):
        for j in range(4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + 1
    for i in T.serial(2):
        for j in range(2):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi + 1, vj * 2]
