# Blocks without variables, which do all by themselves.
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    with T.block("B"):
        T.reads(A[0:4])
        T.writes(B[0:4])
        for i in range(4):
            B[i] = A[i] * 2
    for u in range(2):
        with T.block("C"):
            T.reads(B[0:4])
            T.writes(C[0:4])
            for i in range(4):
                C[i] = B[3 - i] + 1
