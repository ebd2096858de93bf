"""Places that are loaded, folded, or shaped like a triangle."""

from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def gather(A: T.Buffer((16, 4), "int32"), K: T.Buffer((8,), "int32"), C: T.Buffer((8, 4), "int32")):
    B = T.sblock_alloc_buffer((16, 4), "int32")
    for i, j in T.grid(16, 4):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(8, 4):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[K[vi] % 16, vj]


@T.prim_func(s_tir=True)
def computed_index(
    A: T.Buffer((16,), "int32"), K: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")
):
    J = T.sblock_alloc_buffer((8,), "int32")
    for i in range(8):
        with T.sblock("J"):
            vi = T.axis.spatial(8, i)
            J[vi] = (K[vi] + 3) % 16
    for i in range(8):
        with T.sblock("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[J[vi]]


@T.prim_func(s_tir=True)
def resize(A: T.Buffer((8, 8), "int32"), B: T.Buffer((16, 16), "int32")):
    for i, j in T.grid(16, 16):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[(vi * 5 + 2) // 10, (vj * 5 + 2) // 10]


@T.prim_func(s_tir=True)
def upsampled(A: T.Buffer((8,), "int32"), C: T.Buffer((16,), "int32")):
    B = T.sblock_alloc_buffer((8,), "int32")
    for i in range(8):
        with T.sblock("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + 1
    for i in range(16):
        with T.sblock("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi // 2] + vi % 2


@T.prim_func(s_tir=True)
def mirrored(A: T.Buffer((12,), "int32"), C: T.Buffer((12,), "int32")):
    B = T.sblock_alloc_buffer((12,), "int32")
    for i in range(12):
        with T.sblock("B"):
            vi = T.axis.spatial(12, i)
            B[vi] = A[vi] + 1
    for i in range(12):
        with T.sblock("C"):
            vi = T.axis.spatial(12, i)
            C[vi] = B[11 - vi]


@T.prim_func(s_tir=True)
def diagonal(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.sblock("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi, vi] + A[vi, 7 - vi]


@T.prim_func(s_tir=True)
def triangle(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        for k in range(i + 1):
            with T.sblock("B"):
                vi = T.axis.spatial(8, i)
                vk = T.axis.reduce(8, k)
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]


@T.prim_func(s_tir=True)
def concatenated(
    A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((16,), "int32")
):
    for i in range(8):
        with T.sblock("first"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
    for i in range(8):
        with T.sblock("second"):
            vi = T.axis.spatial(8, i)
            C[vi + 8] = B[vi]


@T.prim_func(s_tir=True)
def rolling(A: T.Buffer((12, 12), "int32"), C: T.Buffer((10, 10), "int32")):
    B = T.sblock_alloc_buffer((12, 12), "int32")
    for o in range(5):
        for i, j in T.grid(4, 12):
            with T.sblock("B"):
                vi = T.axis.spatial(12, o * 2 + i)
                vj = T.axis.spatial(12, j)
                B[vi, vj] = A[vi, vj] + 1
        for i, j in T.grid(2, 10):
            with T.sblock("C"):
                vi = T.axis.spatial(10, o * 2 + i)
                vj = T.axis.spatial(10, j)
                C[vi, vj] = B[vi, vj] + B[vi + 2, vj + 2]


@T.prim_func(s_tir=True)
def repeated(A: T.Buffer((16,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(16):
        with T.sblock("B"):
            vi = T.axis.spatial(16, i)
            B[vi // 2] = A[vi]


PROGRAMS = [
    gather,
    computed_index,
    resize,
    upsampled,
    mirrored,
    diagonal,
    triangle,
    concatenated,
    rolling,
    repeated,
]
