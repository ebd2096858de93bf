// Real kernels in small, that the tests of rules schedule.
#pragma once

#include <tilewright/ir/text/parse.hpp>

namespace kernels {

using namespace tilewright;

/// C = A B, then a bias and max(., 0) in blocks of their own; 12 x 16 x 20.
inline ir::function dense_relu() {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((12, 20), "float32"), B: T.Buffer((20, 16), "float32"), D: T.Buffer((16,), "float32"), C: T.Buffer((12, 16), "float32")):
    P = T.alloc_buffer((12, 16), "float32")
    Q = T.alloc_buffer((12, 16), "float32")
    for i, j, k in T.grid(12, 16, 20):
        with T.block("P"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                P[vi, vj] = T.float32(0)
            P[vi, vj] = P[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(12, 16):
        with T.block("Q"):
            vi, vj = T.axis.remap("SS", [i, j])
            Q[vi, vj] = P[vi, vj] + D[vj]
    for i, j in T.grid(12, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Q[vi, vj], T.float32(0))
)");
}

/// A 3 x 3 convolution with a border of zeros, in a block of its own.
inline ir::function conv2d() {
  return ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((6, 8, 4), "float32"), F: T.Buffer((3, 3, 4, 6), "float32"), Y: T.Buffer((6, 8, 6), "float32")):
    P = T.alloc_buffer((8, 10, 4), "float32")
    for h, w, c in T.grid(8, 10, 4):
        with T.block("P"):
            vh, vw, vc = T.axis.remap("SSS", [h, w, c])
            P[vh, vw, vc] = T.if_then_else(1 <= vh and vh < 7 and 1 <= vw and vw < 9, X[vh - 1, vw - 1, vc], T.float32(0))
    for p, q, k, r, s, c in T.grid(6, 8, 6, 3, 3, 4):
        with T.block("Y"):
            vp, vq, vk, vr, vs, vc = T.axis.remap("SSSRRR", [p, q, k, r, s, c])
            with T.init():
                Y[vp, vq, vk] = T.float32(0)
            Y[vp, vq, vk] = Y[vp, vq, vk] + P[vp + vr, vq + vs, vc] * F[vr, vs, vc, vk]
)");
}

/// Softmax of the rows of a 12 x 20 matrix.
inline ir::function softmax() {
  return ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((12, 20), "float32"), Y: T.Buffer((12, 20), "float32")):
    M = T.alloc_buffer((12,), "float32")
    E = T.alloc_buffer((12, 20), "float32")
    S = T.alloc_buffer((12,), "float32")
    for i, j in T.grid(12, 20):
        with T.block("M"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                M[vi] = T.min_value("float32")
            M[vi] = T.max(M[vi], X[vi, vj])
    for i, j in T.grid(12, 20):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.exp(X[vi, vj] - M[vi])
    for i, j in T.grid(12, 20):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vj]
    for i, j in T.grid(12, 20):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = E[vi, vj] / S[vi]
)");
}

/// A chain without reductions: a border of zeros, a constant table and a constant, exp, max(., 0).
inline ir::function relu_chain() {
  return ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((14, 18), "float32"), Y: T.Buffer((16, 18), "float32")):
    P = T.alloc_buffer((16, 18), "float32")
    K = T.alloc_buffer((18,), "float32")
    H = T.alloc_buffer((), "float32")
    E = T.alloc_buffer((16, 18), "float32")
    B = T.alloc_buffer((16, 18), "float32")
    for i, j in T.grid(16, 18):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = T.if_then_else(1 <= vi and vi < 15, X[vi - 1, vj], T.float32(0))
    for j in range(18):
        with T.block("K"):
            vj = T.axis.spatial(18, j)
            K[vj] = T.cast(vj, "float32") * T.float32(0.5)
    with T.block("H"):
        H[()] = T.float32(0.25)
    for i, j in T.grid(16, 18):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.exp(P[vi, vj] * H[()])
    for i, j in T.grid(16, 18):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = E[vi, vj] - K[vj]
    for i, j in T.grid(16, 18):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.max(B[vi, vj], T.float32(0))
)");
}

/// 32-bit sums of products of 8-bit integers, the second operand transposed: 6 x 32 x 16.
inline ir::function dense_i8() {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((6, 16), "uint8"), B: T.Buffer((32, 16), "int8"), C: T.Buffer((6, 32), "int32")):
    for i, j, k in T.grid(6, 32, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "int32") * T.cast(B[vj, vk], "int32")
)");
}

}  // namespace kernels
