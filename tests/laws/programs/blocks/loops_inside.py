# A block that loops, branches and names inside by itself, between others.
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 3), "int32")):
    B = T.alloc_buffer((4, 3), "int32")
    for i in T.serial(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:3])
            T.writes(B[vi, 0:3])
            for j in range(3):
                x: T.int32 = A[vi, 2 - j]
                if x < 0:
                    B[vi, j] = x
                else:
                    B[vi, j] = 0 - x
    for i in T.serial(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            T.reads(B[vi, 0:3], C[vi, 0:3])
            T.writes(C[vi, 0:3])
            C[vi, 0] = B[vi, 2]
            for j in range(1, 3):
                C[vi, j] = C[vi, j - 1] + B[vi, j]
