"""Chains of elementwise blocks, by shape of the access."""

from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def chain(A: T.Buffer((16, 12), "int32"), C: T.Buffer((16, 12), "int32")):
    B = T.sblock_alloc_buffer((16, 12), "int32")
    for i, j in T.grid(16, 12):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(16, 12):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2


@T.prim_func(s_tir=True)
def three(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    B = T.sblock_alloc_buffer((8, 8), "int32")
    C = T.sblock_alloc_buffer((8, 8), "int32")
    for i, j in T.grid(8, 8):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(8, 8):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * B[vi, vj]
    for i, j in T.grid(8, 8):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj] - A[vi, vj]


@T.prim_func(s_tir=True)
def two_consumers(
    A: T.Buffer((12, 8), "int32"), C: T.Buffer((12, 8), "int32"), D: T.Buffer((12, 8), "int32")
):
    B = T.sblock_alloc_buffer((12, 8), "int32")
    for i, j in T.grid(12, 8):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(12, 8):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2
    for i, j in T.grid(12, 8):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] - 3


@T.prim_func(s_tir=True)
def two_producers(
    A: T.Buffer((8, 12), "int32"), B: T.Buffer((8, 12), "int32"), E: T.Buffer((8, 12), "int32")
):
    C = T.sblock_alloc_buffer((8, 12), "int32")
    D = T.sblock_alloc_buffer((8, 12), "int32")
    for i, j in T.grid(8, 12):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * 3
    for i, j in T.grid(8, 12):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] + A[vi, vj]
    for i, j in T.grid(8, 12):
        with T.sblock("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = C[vi, vj] - D[vi, vj]


@T.prim_func(s_tir=True)
def broadcast(
    A: T.Buffer((16,), "int32"), B: T.Buffer((16, 8), "int32"), D: T.Buffer((16, 8), "int32")
):
    C = T.sblock_alloc_buffer((16,), "int32")
    for i in range(16):
        with T.sblock("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[vi] * 2
    for i, j in T.grid(16, 8):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] + C[vi]


@T.prim_func(s_tir=True)
def transposed(A: T.Buffer((8, 16), "int32"), C: T.Buffer((16, 8), "int32")):
    B = T.sblock_alloc_buffer((16, 8), "int32")
    for i, j in T.grid(16, 8):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]
    for j, i in T.grid(8, 16):
        with T.sblock("C"):
            vj, vi = T.axis.remap("SS", [j, i])
            C[vi, vj] = B[vi, vj] + 7


@T.prim_func(s_tir=True)
def guarded(A: T.Buffer((14,), "int32"), C: T.Buffer((14,), "int32")):
    B = T.sblock_alloc_buffer((14,), "int32")
    for i, j in T.grid(4, 4):
        with T.sblock("B"):
            vi = T.axis.spatial(14, i * 4 + j)
            T.where(i * 4 + j < 14)
            B[vi] = A[vi] + 1
    for i in range(14):
        with T.sblock("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi] * B[vi]


@T.prim_func(s_tir=True)
def guarded_square(A: T.Buffer((15, 15), "int32"), B: T.Buffer((15, 15), "int32")):
    for i, j, k in T.grid(4, 15, 4):
        with T.sblock("B"):
            vi = T.axis.spatial(15, i * 4 + k)
            vj = T.axis.spatial(15, j)
            T.where(i * 4 + k < 15)
            B[vi, vj] = A[vi, vj] - 5


@T.prim_func(s_tir=True)
def window(A: T.Buffer((20,), "int32"), C: T.Buffer((16,), "int32")):
    B = T.sblock_alloc_buffer((20,), "int32")
    for i in range(20):
        with T.sblock("B"):
            vi = T.axis.spatial(20, i)
            B[vi] = A[vi] + 1
    for i in range(16):
        with T.sblock("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi] + B[vi + 2] * B[vi + 4]


@T.prim_func(s_tir=True)
def strided(A: T.Buffer((32,), "int32"), C: T.Buffer((16,), "int32")):
    B = T.sblock_alloc_buffer((32,), "int32")
    for i in range(32):
        with T.sblock("B"):
            vi = T.axis.spatial(32, i)
            B[vi] = A[vi] + 1
    for i in range(16):
        with T.sblock("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi * 2] - B[vi * 2 + 1]


@T.prim_func(s_tir=True)
def padded(A: T.Buffer((12, 12), "int32"), C: T.Buffer((14, 14), "int32")):
    B = T.sblock_alloc_buffer((14, 14), "int32")
    for i, j in T.grid(14, 14):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.if_then_else(
                1 <= vi and vi < 13 and 1 <= vj and vj < 13, A[vi - 1, vj - 1], 0
            )
    for i, j in T.grid(14, 14):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1


@T.prim_func(s_tir=True)
def reshaped(A: T.Buffer((6, 8), "int32"), C: T.Buffer((48,), "int32")):
    B = T.sblock_alloc_buffer((48,), "int32")
    for i, j in T.grid(6, 8):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi * 8 + vj] = A[vi, vj] + 1
    for i in range(48):
        with T.sblock("C"):
            vi = T.axis.spatial(48, i)
            C[vi] = B[vi] * 3


@T.prim_func(s_tir=True)
def digits(A: T.Buffer((48,), "int32"), C: T.Buffer((6, 8), "int32")):
    B = T.sblock_alloc_buffer((48,), "int32")
    for i in range(48):
        with T.sblock("B"):
            vi = T.axis.spatial(48, i)
            B[vi] = A[vi] + 1
    for i in range(48):
        with T.sblock("C"):
            vi = T.axis.spatial(6, i // 8)
            vj = T.axis.spatial(8, i % 8)
            C[vi, vj] = B[vi * 8 + vj] - 2


@T.prim_func(s_tir=True)
def floats(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float16")):
    B = T.sblock_alloc_buffer((8, 8), "float32")
    for i, j in T.grid(8, 8):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.max(A[vi, vj], T.float32(0.5))
    for i, j in T.grid(8, 8):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.Cast("float16", B[vi, vj] + T.float32(1))


@T.prim_func(s_tir=True)
def symbolic(a: T.handle, c: T.handle, n: T.int32):
    A = T.match_buffer(a, (n, 16), "int32")
    C = T.match_buffer(c, (n, 16), "int32")
    B = T.sblock_alloc_buffer((n, 16), "int32")
    for i, j in T.grid(n, 16):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(n, 16):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2


PROGRAMS = [
    chain,
    three,
    two_consumers,
    two_producers,
    broadcast,
    transposed,
    guarded,
    guarded_square,
    window,
    strided,
    padded,
    reshaped,
    digits,
    floats,
    symbolic,
]
