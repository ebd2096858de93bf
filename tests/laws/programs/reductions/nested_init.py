# A block of a sum whose rows belong to a block with a guard.
@T.prim_func
def main(A: T.Buffer((5, 4), "int32"), C: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for o in T.serial(2):
        for k in range(2):
            with T.block("O"):
                vo, vk = T.axis.remap("SR", [o, k])
                T.reads(A[vo * 3:T.min(vo * 3 + 3, 5), vk * 2:vk * 2 + 2])
                T.writes(B[vo * 3:vo * 3 + 3])
                with T.init():
                    for x in range(3):
                        with T.block("I"):
                            vx = T.axis.spatial(3, x)
                            T.reads()
                            T.writes(B[vo * 3 + vx])
                            B[vo * 3 + vx] = 2
                for x, y in T.grid(3, 2):
                    with T.block("B"):
                        vx, vy = T.axis.remap("SR", [x, y])
                        T.where(vo * 3 + x < 5)
                        T.reads(B[vo * 3 + vx], A[vo * 3 + vx, vk * 2 + vy])
                        T.writes(B[vo * 3 + vx])
                        B[vo * 3 + vx] = B[vo * 3 + vx] + A[vo * 3 + vx, vk * 2 + vy]
    for i in T.serial(5):
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            C[vi] = B[vi] - B[5]
