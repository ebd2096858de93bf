# Windows that are computed where they are needed, by each iteration anew.
# each_kind
@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), C: T.Buffer((4, 4), "int32")):
    B = T.alloc_buffer((6, 4), "int32")
    for i in T.serial(4):
        for x, y in T.grid(3, 4):
            with T.block("B"):
                vx = T.axis.spatial(6, i + x)
                vy = T.axis.spatial(4, y)
                B[vx, vy] = A[vx, vy] * 2
        for j, r in T.grid(4, 3):
            with T.block("C"):
                vi, vj, vr = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + B[vi + vr, vj]
