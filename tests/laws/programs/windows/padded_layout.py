# A layout with room that no element takes, filled by a nest of its own.
# each_kind
@T.prim_func
def main(A: T.Buffer((7,), "int32"), C: T.Buffer((7,), "int32")):
    B = T.alloc_buffer((2, 4), "int32")
    for i in T.serial(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi // 4, vi % 4] = A[vi] * 2
    for a, b in T.grid(2, 4):
        with T.block("Z"):
            va, vb = T.axis.remap("SS", [a, b])
            T.where(a == 1 and 3 <= b)
            B[va, vb] = 0
    for i in T.serial(7):
        with T.block("C"):
            vi = T.axis.spatial(7, i)
            C[vi] = B[(vi + 1) // 4, (vi + 1) % 4] + 1
