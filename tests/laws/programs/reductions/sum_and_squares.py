# Sum and sum of squares by one block.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), C: T.Buffer((3,), "int32")):
    S = T.alloc_buffer((3,), "int32")
    Q = T.alloc_buffer((3,), "int32")
    for i in T.serial(3):
        for k in range(4):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(S[vi], Q[vi])
                with T.init():
                    S[vi] = 0
                    Q[vi] = 0
                s: T.int32 = S[vi] + A[vi, vk]
                q: T.int32 = Q[vi] + A[vi, vk] * A[vi, vk]
                S[vi] = s
                Q[vi] = q
    for i in T.serial(3):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            C[vi] = Q[vi] * 4 - S[vi] * S[vi]
