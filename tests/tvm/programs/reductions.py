"""Reductions, alone and with what stands before and after them."""

from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def matmul(
    A: T.Buffer((8, 12), "int32"), B: T.Buffer((12, 16), "int32"), C: T.Buffer((8, 16), "int32")
):
    for i, j, k in T.grid(8, 16, 12):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


@T.prim_func(s_tir=True)
def matmul_relu(
    A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")
):
    C = T.sblock_alloc_buffer((8, 8), "int32")
    for i, j, k in T.grid(8, 8, 8):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(8, 8):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], 0)


@T.prim_func(s_tir=True)
def matmul_bias(
    A: T.Buffer((7, 9), "int32"),
    B: T.Buffer((9, 5), "int32"),
    G: T.Buffer((5,), "int32"),
    D: T.Buffer((7, 5), "int32"),
):
    C = T.sblock_alloc_buffer((7, 5), "int32")
    for i, j, k in T.grid(7, 5, 9):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(7, 5):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj] + G[vj]


@T.prim_func(s_tir=True)
def matmul_after(
    A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")
):
    A1 = T.sblock_alloc_buffer((8, 8), "int32")
    B1 = T.sblock_alloc_buffer((8, 8), "int32")
    for i, k in T.grid(8, 8):
        with T.sblock("A1"):
            vi, vk = T.axis.remap("SS", [i, k])
            A1[vi, vk] = A[vi, vk] + 1
    for k, j in T.grid(8, 8):
        with T.sblock("B1"):
            vk, vj = T.axis.remap("SS", [k, j])
            B1[vk, vj] = B[vj, vk]
    for i, j, k in T.grid(8, 8, 8):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A1[vi, vk] * B1[vk, vj]


@T.prim_func(s_tir=True)
def batch_matmul(
    A: T.Buffer((3, 6, 4), "int32"),
    B: T.Buffer((3, 5, 4), "int32"),
    C: T.Buffer((3, 6, 5), "int32"),
):
    for b, i, j, k in T.grid(3, 6, 5, 4):
        with T.sblock("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                C[vb, vi, vj] = 0
            C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vj, vk]


@T.prim_func(s_tir=True)
def row_sum(A: T.Buffer((10, 16), "int32"), B: T.Buffer((10,), "int32")):
    for i, k in T.grid(10, 16):
        with T.sblock("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]


@T.prim_func(s_tir=True)
def total(A: T.Buffer((8, 6, 4), "int32"), B: T.Buffer((), "int32")):
    for i, j, k in T.grid(8, 6, 4):
        with T.sblock("B"):
            vi, vj, vk = T.axis.remap("RRR", [i, j, k])
            with T.init():
                B[()] = 0
            B[()] = B[()] + A[vi, vj, vk]


@T.prim_func(s_tir=True)
def row_max(A: T.Buffer((10, 16), "int32"), B: T.Buffer((10,), "int32")):
    for i, k in T.grid(10, 16):
        with T.sblock("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.min_value("int32")
            B[vi] = T.max(B[vi], A[vi, vk])


@T.prim_func(s_tir=True)
def guarded_sum(A: T.Buffer((10, 14), "int32"), B: T.Buffer((10,), "int32")):
    for i, k, l in T.grid(10, 4, 4):
        with T.sblock("B"):
            vi = T.axis.spatial(10, i)
            vk = T.axis.reduce(14, k * 4 + l)
            T.where(k * 4 + l < 14)
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]


@T.prim_func(s_tir=True)
def two_sums(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 8):
        with T.sblock("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]
    for i, k in T.grid(8, 8):
        with T.sblock("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk] * B[vi]


@T.prim_func(s_tir=True)
def argmax(
    K: T.Buffer((6, 12), "int32"),
    V: T.Buffer((6, 12), "int32"),
    P: T.Buffer((6,), "int32"),
    M: T.Buffer((6,), "int32"),
):
    for i, k in T.grid(6, 12):
        with T.sblock("argmax"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                P[vi] = -1
                M[vi] = T.min_value("int32")
            p: T.let[T.int32] = T.Select(M[vi] >= V[vi, vk], P[vi], K[vi, vk])
            m: T.let[T.int32] = T.Select(M[vi] >= V[vi, vk], M[vi], V[vi, vk])
            P[vi] = p
            M[vi] = m


@T.prim_func(s_tir=True)
def softmax(A: T.Buffer((4, 8), "float32"), D: T.Buffer((4, 8), "float32")):
    M = T.sblock_alloc_buffer((4,))
    E = T.sblock_alloc_buffer((4, 8))
    S = T.sblock_alloc_buffer((4,))
    for i, k in T.grid(4, 8):
        with T.sblock("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.min_value("float32")
            M[vi] = T.max(M[vi], A[vi, vk])
    for i, j in T.grid(4, 8):
        with T.sblock("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.exp(A[vi, vj] - M[vi])
    for i, k in T.grid(4, 8):
        with T.sblock("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vk]
    for i, j in T.grid(4, 8):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = E[vi, vj] / S[vi]


@T.prim_func(s_tir=True)
def conv1d(
    A: T.Buffer((18, 4), "int32"), W: T.Buffer((3, 4, 6), "int32"), C: T.Buffer((16, 6), "int32")
):
    for x, o, r, c in T.grid(16, 6, 3, 4):
        with T.sblock("C"):
            vx, vo, vr, vc = T.axis.remap("SSRR", [x, o, r, c])
            with T.init():
                C[vx, vo] = 0
            C[vx, vo] = C[vx, vo] + A[vx + vr, vc] * W[vr, vc, vo]


@T.prim_func(s_tir=True)
def conv2d(
    A: T.Buffer((8, 8, 3), "int32"),
    W: T.Buffer((3, 3, 3, 4), "int32"),
    C: T.Buffer((8, 8, 4), "int32"),
):
    P = T.sblock_alloc_buffer((10, 10, 3), "int32")
    for y, x, c in T.grid(10, 10, 3):
        with T.sblock("P"):
            vy, vx, vc = T.axis.remap("SSS", [y, x, c])
            P[vy, vx, vc] = T.if_then_else(
                1 <= vy and vy < 9 and 1 <= vx and vx < 9, A[vy - 1, vx - 1, vc], 0
            )
    for y, x, o, p, q, c in T.grid(8, 8, 4, 3, 3, 3):
        with T.sblock("C"):
            vy, vx, vo, vp, vq, vc = T.axis.remap("SSSRRR", [y, x, o, p, q, c])
            with T.init():
                C[vy, vx, vo] = 0
            C[vy, vx, vo] = C[vy, vx, vo] + P[vy + vp, vx + vq, vc] * W[vp, vq, vc, vo]


@T.prim_func(s_tir=True)
def pool(A: T.Buffer((16, 4), "int32"), B: T.Buffer((8, 4), "int32")):
    for x, c, r in T.grid(8, 4, 2):
        with T.sblock("B"):
            vx, vc, vr = T.axis.remap("SSR", [x, c, r])
            with T.init():
                B[vx, vc] = T.min_value("int32")
            B[vx, vc] = T.max(B[vx, vc], A[vx * 2 + vr, vc])


@T.prim_func(s_tir=True)
def decomposed(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.sblock("init"):
            vi = T.axis.spatial(8, i)
            B[vi] = 0
    for i, k in T.grid(8, 8):
        with T.sblock("update"):
            vi, vk = T.axis.remap("SR", [i, k])
            B[vi] = B[vi] + A[vi, vk]


@T.prim_func(s_tir=True)
def product_of_sums(A: T.Buffer((6, 8), "int32"), D: T.Buffer((6, 8), "int32")):
    S = T.sblock_alloc_buffer((6,), "int32")
    for i, k in T.grid(6, 8):
        with T.sblock("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = 0
            S[vi] = S[vi] + A[vi, vk] * A[vi, vk]
    for i, j in T.grid(6, 8):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj] * S[vi]


@T.prim_func(s_tir=True)
def symbolic_matmul(a: T.handle, b: T.handle, c: T.handle, n: T.int32, m: T.int32):
    A = T.match_buffer(a, (n, m), "int32")
    B = T.match_buffer(b, (m, 8), "int32")
    C = T.match_buffer(c, (n, 8), "int32")
    for i, j, k in T.grid(n, 8, m):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


PROGRAMS = [
    matmul,
    matmul_relu,
    matmul_bias,
    matmul_after,
    batch_matmul,
    row_sum,
    total,
    row_max,
    guarded_sum,
    two_sums,
    argmax,
    softmax,
    conv1d,
    conv2d,
    pool,
    decomposed,
    product_of_sums,
    symbolic_matmul,
]
