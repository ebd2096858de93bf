"""Blocks inside of blocks, threads, conditions, unit loops, attributes."""

from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def opaque(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32")):
    for i in range(8):
        with T.sblock("outer"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(B[vi, 0:8])
            for j in range(8):
                with T.sblock("inner"):
                    vj = T.axis.spatial(8, j)
                    T.reads(A[vi, vj])
                    T.writes(B[vi, vj])
                    B[vi, vj] = A[vi, vj] + 1


@T.prim_func(s_tir=True)
def inner_chain(A: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")):
    for i in range(8):
        with T.sblock("outer"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(C[vi, 0:8])
            B = T.sblock_alloc_buffer((8,), "int32")
            for j in range(8):
                with T.sblock("B"):
                    vj = T.axis.spatial(8, j)
                    B[vj] = A[vi, vj] + 1
            for j in range(8):
                with T.sblock("C"):
                    vj = T.axis.spatial(8, j)
                    C[vi, vj] = B[vj] * 2


@T.prim_func(s_tir=True)
def inner_matmul(
    A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")
):
    for i, j, k in T.grid(2, 2, 2):
        with T.sblock("tile"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(
                A[vi * 4 : vi * 4 + 4, vk * 4 : vk * 4 + 4],
                B[vk * 4 : vk * 4 + 4, vj * 4 : vj * 4 + 4],
            )
            T.writes(C[vi * 4 : vi * 4 + 4, vj * 4 : vj * 4 + 4])
            with T.init():
                for x, y in T.grid(4, 4):
                    with T.sblock("C_init"):
                        vx, vy = T.axis.remap("SS", [x, y])
                        C[vi * 4 + vx, vj * 4 + vy] = 0
            for x, y, z in T.grid(4, 4, 4):
                with T.sblock("C"):
                    vx, vy, vz = T.axis.remap("SSR", [x, y, z])
                    C[vi * 4 + vx, vj * 4 + vy] = (
                        C[vi * 4 + vx, vj * 4 + vy]
                        + A[vi * 4 + vx, vk * 4 + vz] * B[vk * 4 + vz, vj * 4 + vy]
                    )


@T.prim_func(s_tir=True)
def threads(A: T.Buffer((8, 16), "int32"), C: T.Buffer((8, 16), "int32")):
    B = T.sblock_alloc_buffer((8, 16), "int32", scope="shared")
    for i in T.thread_binding(8, thread="blockIdx.x"):
        for j in T.thread_binding(16, thread="threadIdx.x"):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1
        for j in T.thread_binding(16, thread="threadIdx.x"):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * 2


@T.prim_func(s_tir=True)
def thread_sum(A: T.Buffer((8, 32), "int32"), B: T.Buffer((8,), "int32")):
    for i in T.thread_binding(8, thread="blockIdx.x"):
        for k, t in T.grid(4, 8):
            with T.sblock("B"):
                vi = T.axis.spatial(8, i)
                vk = T.axis.reduce(32, k * 8 + t)
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]


@T.prim_func(s_tir=True)
def parallel_rows(A: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")):
    B = T.sblock_alloc_buffer((8, 8), "int32")
    for i in T.parallel(8):
        for j in range(8):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1
        for j in T.vectorized(8):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * 2


@T.prim_func(s_tir=True)
def computed_at(A: T.Buffer((18,), "int32"), C: T.Buffer((16,), "int32")):
    B = T.sblock_alloc_buffer((18,), "int32")
    for o in range(4):
        for i in range(6):
            with T.sblock("B"):
                vi = T.axis.spatial(18, o * 4 + i)
                B[vi] = A[vi] + 1
        for i in range(4):
            with T.sblock("C"):
                vi = T.axis.spatial(16, o * 4 + i)
                C[vi] = B[vi] + B[vi + 2]


@T.prim_func(s_tir=True)
def condition(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32"), s: T.int32):
    for i in range(8):
        if s > 3:
            for j in range(8):
                with T.sblock("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + 1


@T.prim_func(s_tir=True)
def unit_loops(A: T.Buffer((1, 8, 1), "int32"), C: T.Buffer((1, 8, 1), "int32")):
    B = T.sblock_alloc_buffer((1, 8, 1), "int32")
    for i, j, k in T.grid(1, 8, 1):
        with T.sblock("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = A[vi, vj, vk] + 1
    for j, k in T.grid(8, 1):
        with T.sblock("C"):
            vi = T.axis.spatial(1, 0)
            vj, vk = T.axis.remap("SS", [j, k])
            C[vi, vj, vk] = B[vi, vj, vk] * 2


@T.prim_func(s_tir=True)
def attributes(A: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")):
    B = T.sblock_alloc_buffer((8, 8), "int32")
    for i in T.serial(8, annotations={"key": 1}):
        for j in range(8):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.sblock_attr({"key": 2})
                B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(8, 8):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.sblock_attr({"buffer_dim_align": [[0, 0, 8, 4]]})
            C[vi, vj] = B[vi, vj] * 2


@T.prim_func(s_tir=True)
def two_results(
    A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")
):
    for i, j in T.grid(8, 8):
        with T.sblock("BC"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
            C[vi, vj] = A[vi, vj] - 1


@T.prim_func(s_tir=True)
def scan(A: T.Buffer((8, 6), "int32"), B: T.Buffer((8, 6), "int32")):
    for i in range(8):
        for j in range(6):
            with T.sblock("B"):
                vi = T.axis.scan(8, i)
                vj = T.axis.spatial(6, j)
                B[vi, vj] = T.if_then_else(vi == 0, 0, B[T.max(vi - 1, 0), vj]) + A[vi, vj]


@T.prim_func(s_tir=True)
def in_place(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(8, 8):
        with T.sblock("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(8, 8):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1


@T.prim_func(s_tir=True)
def matched(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(2, 2):
        with T.sblock("tile"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 4 : vi * 4 + 4, vj * 4 : vj * 4 + 4])
            T.writes(B[vi * 4 : vi * 4 + 4, vj * 4 : vj * 4 + 4])
            X = T.match_buffer(
                A[vi * 4 : vi * 4 + 4, vj * 4 : vj * 4 + 4],
                (4, 4),
                "int32",
                strides=[8, 1],
                offset_factor=1,
            )
            for x, y in T.grid(4, 4):
                with T.sblock("copy"):
                    vx, vy = T.axis.remap("SS", [x, y])
                    B[vi * 4 + vx, vj * 4 + vy] = X[vx, vy] + 1


@T.prim_func(s_tir=True)
def two_nests(
    A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")
):
    for i in range(8):
        for j in range(8):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1
        for j in range(8):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] - 1


@T.prim_func(s_tir=True)
def tiles(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")):
    D = T.sblock_alloc_buffer((8, 8), "int32")
    for i, j in T.grid(8, 8):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(8, 8):
        with T.sblock("zero"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = 0
    for i, j, k, x, y, z in T.grid(2, 2, 2, 4, 4, 4):
        with T.sblock("C"):
            vi = T.axis.spatial(8, i * 4 + x)
            vj = T.axis.spatial(8, j * 4 + y)
            vk = T.axis.reduce(8, k * 4 + z)
            C[vi, vj] = C[vi, vj] + D[vi, vk] * B[vk, vj]


PROGRAMS = [
    opaque,
    inner_chain,
    inner_matmul,
    threads,
    thread_sum,
    parallel_rows,
    computed_at,
    condition,
    unit_loops,
    attributes,
    two_results,
    scan,
    in_place,
    matched,
    two_nests,
    tiles,
]
