# A block with a buffer in a block with a buffer.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 2, 3), "int32"), C: T.Buffer((2, 2, 3), "int32")):
    for i in T.serial(2):
        with T.block("O"):
            vi = T.axis.spatial(2, i)
            T.reads(A[vi, 0:2, 0:3], C[vi, 0:2, 0:3])
            T.writes(C[vi, 0:2, 0:3])
            S = T.alloc_buffer((2,), "int32")
            for j in range(2):
                with T.block("M"):
                    vj = T.axis.spatial(2, j)
                    T.reads(A[vi, vj, 0:3])
                    T.writes(C[vi, vj, 0:3], S[vj])
                    R = T.alloc_buffer((3,), "int32")
                    for k in range(3):
                        with T.block("R"):
                            vk = T.axis.spatial(3, k)
                            R[vk] = A[vi, vj, vk] * 2
                    with T.block("S"):
                        S[vj] = R[0] + R[2]
                    for k in range(3):
                        with T.block("C"):
                            vk = T.axis.spatial(3, k)
                            C[vi, vj, vk] = R[2 - vk]
            for j, k in T.grid(2, 3):
                with T.block("U"):
                    vj, vk = T.axis.remap("SS", [j, k])
                    C[vi, vj, vk] = C[vi, vj, vk] + S[1 - vj]
