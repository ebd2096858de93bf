# Rows of a symbolic extent that each iteration has for itself.
# each_kind
# dim n = 3
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (4, n), "int32")
    C = T.match_buffer(c, (4, n), "int32")
    S = T.alloc_buffer((n,), "int32")
    R = T.alloc_buffer((4,), "int32")
    for i in T.serial(4):
        for j in range(n):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vj] = A[vi, vj] * 2
        for k in range(n):
            with T.block("R"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    R[vi] = 0
                R[vi] = R[vi] + S[vk]
        for j in range(n):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = S[n - 1 - vj] - R[vi]
