# Copies of what an iteration reads and writes, made by one block each.
# each_kind
@T.prim_func
def main(A: T.Buffer((9,), "int32"), E: T.Buffer((4, 2), "int32")):
    A_copy = T.alloc_buffer((9,), "int32")
    E_copy = T.alloc_buffer((4, 2), "int32")
    for i in T.serial(4):
        with T.block("A_copy"):
            v0 = T.axis.spatial(4, i)
            T.reads(A[v0 * 2:v0 * 2 + 3])
            T.writes(A_copy[v0 * 2:v0 * 2 + 3])
            T.block_attr({"auto_copy": 1})
            for ax0 in range(3):
                A_copy[v0 * 2 + ax0] = A[v0 * 2 + ax0]
        for j in range(2):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E_copy[vi, vj] = A_copy[vi * 2 + vj] + A_copy[vi * 2 + 1 + vj]
        with T.block("E_copy"):
            v0 = T.axis.spatial(4, i)
            T.reads(E_copy[v0, 0:2])
            T.writes(E[v0, 0:2])
            T.block_attr({"auto_copy": 1})
            for ax0 in range(2):
                E[v0, ax0] = E_copy[v0, ax0]
