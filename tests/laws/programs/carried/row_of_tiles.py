# A tile of its own in each outer iteration, whose place moves with the inner one.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 6), "int32"), C: T.Buffer((2, 6), "int32")):
    S = T.alloc_buffer((2,), "int32")
    for o in T.serial(2):
        for i in range(3):
            for j in range(2):
                with T.block("S"):
                    vo, vi, vj = T.axis.remap("SSS", [o, i, j])
                    S[(vi + vj) % 2] = A[vo, vi * 2 + vj]
            for j in range(2):
                with T.block("C"):
                    vo, vi, vj = T.axis.remap("SSS", [o, i, j])
                    C[vo, vi * 2 + vj] = S[(vi + 1 - vj) % 2] + 1
