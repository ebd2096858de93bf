# Tiles that the threads of a block copy jointly, in and out.
@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), E: T.Buffer((4, 6), "int32")):
    A_s = T.alloc_buffer((4, 6), "int32", scope="shared")
    S = T.alloc_buffer((4, 6), "int32", scope="local")
    E_s = T.alloc_buffer((4, 6), "int32", scope="shared")
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(2, thread="threadIdx.x"):
            for k in range(2):
                with T.block("A_s"):
                    v0, v1 = T.axis.remap("SS", [b, k])
                    T.reads(A[v0 * 2:v0 * 2 + 2, v1 * 3:v1 * 3 + 3])
                    T.writes(A_s[v0 * 2:v0 * 2 + 2, v1 * 3:v1 * 3 + 3])
                    T.block_attr({"auto_copy": 1})
                    for ax0, ax1 in T.grid(2, 3):
                        A_s[v0 * 2 + ax0, v1 * 3 + ax1] = A[v0 * 2 + ax0, v1 * 3 + ax1]
                for j in range(3):
                    with T.block("S"):
                        vi = T.axis.spatial(4, b * 2 + t)
                        vj = T.axis.spatial(6, k * 3 + j)
                        S[vi, vj] = A_s[vi // 2 * 2 + 1 - vi % 2, vj] * 2
                for j in range(3):
                    with T.block("E"):
                        vi = T.axis.spatial(4, b * 2 + t)
                        vj = T.axis.spatial(6, k * 3 + j)
                        E_s[vi, vj] = S[vi, vj] + 1
                with T.block("E_s"):
                    v0, v1 = T.axis.remap("SS", [b, k])
                    T.reads(E_s[v0 * 2:v0 * 2 + 2, v1 * 3:v1 * 3 + 3])
                    T.writes(E[v0 * 2:v0 * 2 + 2, v1 * 3:v1 * 3 + 3])
                    T.block_attr({"auto_copy": 1})
                    for ax0, ax1 in T.grid(2, 3):
                        E[v0 * 2 + ax0, v1 * 3 + ax1] = E_s[v0 * 2 + ax0, v1 * 3 + ax1]
