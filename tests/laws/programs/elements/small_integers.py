# Narrow types that wrap around, casts and bits.
@T.prim_func
def main(A: T.Buffer((4, 6), "uint8"), C: T.Buffer((4, 6), "uint8"), E: T.Buffer((4,), "int16"), F: T.Buffer((4, 6), "bool")):
    B = T.alloc_buffer((4, 6), "uint8")
    S = T.alloc_buffer((4,), "int16")
    for i, j in T.grid(4, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.uint8(250)
    for i, k in T.grid(4, 6):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.int16(0)
            S[vi] = S[vi] + T.Cast("int16", B[vi, vk]) * T.int16(99)
    for i, j in T.grid(4, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.Cast("uint8", S[vi]) - B[3 - vi, vj]
    for i, j in T.grid(4, 6):
        with T.block("F"):
            vi, vj = T.axis.remap("SS", [i, j])
            F[vi, vj] = T.bitwise_xor(B[vi, vj], T.uint8(3)) < A[vi, 5 - vj]
    for i in range(4):
        with T.block("E"):
            vi = T.axis.spatial(4, i)
            E[vi] = S[vi] // T.int16(7)
