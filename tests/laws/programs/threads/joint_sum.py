# Threads copy rows of both operands jointly and add up products of them.
@T.prim_func
def main(A: T.Buffer((2, 4), "int32"), B: T.Buffer((4, 3), "int32"), C: T.Buffer((2, 3), "int32")):
    A_s = T.alloc_buffer((2, 4), "int32", scope="shared")
    B_s = T.alloc_buffer((4, 3), "int32", scope="shared")
    C_s = T.alloc_buffer((2, 3), "int32", scope="shared")
    for i in T.thread_binding(2, thread="threadIdx.y"):
        for j in T.thread_binding(3, thread="threadIdx.x"):
            for k in range(2):
                with T.block("A_s"):
                    v0 = T.axis.spatial(2, k)
                    T.reads(A[0:2, v0 * 2:v0 * 2 + 2])
                    T.writes(A_s[0:2, v0 * 2:v0 * 2 + 2])
                    T.block_attr({"auto_copy": 1})
                    for ax0, ax1 in T.grid(2, 2):
                        A_s[ax0, v0 * 2 + ax1] = A[ax0, v0 * 2 + ax1]
                with T.block("B_s"):
                    v0 = T.axis.spatial(2, k)
                    T.reads(B[v0 * 2:v0 * 2 + 2, 0:3])
                    T.writes(B_s[v0 * 2:v0 * 2 + 2, 0:3])
                    T.block_attr({"auto_copy": 1})
                    for ax0, ax1 in T.grid(2, 3):
                        B_s[v0 * 2 + ax0, ax1] = B[v0 * 2 + ax0, ax1]
                for l in range(2):
                    with T.block("C"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        vk = T.axis.reduce(4, k * 2 + l)
                        with T.init():
                            C_s[vi, vj] = 0
                        C_s[vi, vj] = C_s[vi, vj] + A_s[vi, vk] * B_s[vk, vj]
            with T.block("C_s"):
                T.reads(C_s[0:2, 0:3])
                T.writes(C[0:2, 0:3])
                T.block_attr({"auto_copy": 1})
                for ax0, ax1 in T.grid(2, 3):
                    C[ax0, ax1] = C_s[ax0, ax1]
