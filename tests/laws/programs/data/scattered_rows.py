# Rows go where an input says; all differ.
# each_kind
# data I = 2 0 1
@T.prim_func
def main(A: T.Buffer((3, 2), "int32"), I: T.Buffer((3,), "int32"), C: T.Buffer((3, 2), "int32")):
    B = T.alloc_buffer((3, 2), "int32")
    for i in T.serial(3):
        for j in range(2):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], I[vi])
                T.writes(B[0:3, vj])
                B[I[vi], vj] = A[vi, vj] * 2
    for i in T.serial(3):
        for j in range(2):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(B[0:3, vj], I[vi])
                T.writes(C[vi, vj])
                C[vi, vj] = B[I[vi], vj] + 1
