#pragma once

#include <string>
#include <utility>

#include <tilewright/intrin/dot_i8.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::intrin {
namespace detail::dot_i8 {

struct shape {
  int columns;
  dtype a, b, c;
};

inline std::string type_text(dtype t) { return "\"" + std::string(name(t)) + "\""; }

inline std::string script(const shape& s, const std::string& body) {
  const std::string n = std::to_string(s.columns);
  return "@T.prim_func\ndef main(A: T.Buffer((4,), " + type_text(s.a) +
         ", offset_factor=1), "
         "B: T.Buffer((" +
         n + ", 4), " + type_text(s.b) +
         ", offset_factor=1), "
         "C: T.Buffer((" +
         n + ",), " + type_text(s.c) +
         ", offset_factor=1)):\n"
         "    with T.block(\"root\"):\n"
         "        T.reads(C[0:" +
         n + "], A[0:4], B[0:" + n +
         ", 0:4])\n"
         "        T.writes(C[0:" +
         n + "])\n" + body;
}

inline std::string description(const shape& s) {
  const std::string c = type_text(s.c);
  return script(s, "        for i in range(" + std::to_string(s.columns) +
                       "):\n"
                       "            for k in range(4):\n"
                       "                with T.block(\"update\"):\n"
                       "                    vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                       "                    C[vi] = C[vi] + T.cast(A[vk], " +
                       c + ") * T.cast(B[vi, vk], " + c + ")\n");
}

inline std::string implementation(const shape& s) {
  return script(s, "        for i in T.vectorized(" + std::to_string(s.columns) +
                       "):\n"
                       "            C[i] = T.call_extern(" +
                       type_text(s.c) +
                       ", \"dot4\", C[i], A[0], A[1], A[2], A[3], "
                       "B[i, 0], B[i, 1], B[i, 2], B[i, 3])\n");
}

inline bool has_vnni(const target::machine& where) {
  return where.cpu && (where.cpu->has("avx512vnni") || where.cpu->has("avxvnni"));
}
inline bool has_dotprod(const target::machine& where) {
  return where.cpu && where.cpu->has("neon") && where.cpu->has("dotprod");
}
inline bool has_avx2(const target::machine& where) { return where.cpu && where.cpu->has("avx2"); }
inline bool has_avx512bw(const target::machine& where) {
  return where.cpu && where.cpu->has("avx512bw");
}

}  // namespace detail::dot_i8

TILEWRIGHT_INLINE intrinsic dot_i8(std::string name, int columns, dtype a, dtype b, dtype c) {
  const detail::dot_i8::shape s{columns, a, b, c};
  intrinsic out;
  out.name = std::move(name);
  out.description = ir::parse(detail::dot_i8::description(s));
  out.implementation = ir::parse(detail::dot_i8::implementation(s));
  return out;
}

TILEWRIGHT_INLINE intrinsic dot_16x4_vnni() {
  intrinsic out = dot_i8("dot_16x4_vnni", 16, dtype::u8, dtype::i8, dtype::i32);
  out.suits = [](const target::machine& where) {
    return where.cpu && where.cpu->has("avx512vnni");
  };
  return out;
}
TILEWRIGHT_INLINE intrinsic dot_16x4_avx512() {
  intrinsic out = dot_i8("dot_16x4_avx512", 16, dtype::u8, dtype::i8, dtype::i32);
  out.suits = [](const target::machine& where) { return where.cpu && where.cpu->has("avx512bw"); };
  return out;
}
TILEWRIGHT_INLINE intrinsic dot_4x4_i8i8s32_neon() {
  return dot_i8("dot_4x4_i8i8s32_neon", 4, dtype::i8, dtype::i8, dtype::i32);
}
TILEWRIGHT_INLINE intrinsic dot_4x4_i8i8s32_sdot() {
  intrinsic out = dot_i8("dot_4x4_i8i8s32_sdot", 4, dtype::i8, dtype::i8, dtype::i32);
  out.suits = &detail::dot_i8::has_dotprod;
  return out;
}
TILEWRIGHT_INLINE intrinsic dot_4x4_u8u8u32_udot() {
  intrinsic out = dot_i8("dot_4x4_u8u8u32_udot", 4, dtype::u8, dtype::u8, dtype::u32);
  out.suits = &detail::dot_i8::has_dotprod;
  return out;
}
TILEWRIGHT_INLINE intrinsic dot_4x4_u8u8i32_hdot() {
  return dot_i8("dot_4x4_u8u8i32_hdot", 4, dtype::u8, dtype::u8, dtype::i32);
}
TILEWRIGHT_INLINE intrinsic dot_32x4_u8u8i32_vrmpy() {
  return dot_i8("dot_32x4_u8u8i32_vrmpy", 32, dtype::u8, dtype::u8, dtype::i32);
}
TILEWRIGHT_INLINE intrinsic dot_8x4_vnni() {
  intrinsic out = dot_i8("dot_8x4_vnni", 8, dtype::u8, dtype::i8, dtype::i32);
  out.suits = &detail::dot_i8::has_vnni;
  return out;
}
TILEWRIGHT_INLINE intrinsic dot_8x4_avx2() {
  intrinsic out = dot_i8("dot_8x4_avx2", 8, dtype::u8, dtype::i8, dtype::i32);
  out.suits = &detail::dot_i8::has_avx2;
  return out;
}
TILEWRIGHT_INLINE intrinsic dot_16x4_i8i8i32() {
  intrinsic out = dot_i8("dot_16x4_i8i8i32", 16, dtype::i8, dtype::i8, dtype::i32);
  out.suits = &detail::dot_i8::has_avx512bw;
  return out;
}
TILEWRIGHT_INLINE intrinsic dot_8x4_i8i8i32() {
  intrinsic out = dot_i8("dot_8x4_i8i8i32", 8, dtype::i8, dtype::i8, dtype::i32);
  out.suits = &detail::dot_i8::has_avx2;
  return out;
}
TILEWRIGHT_INLINE intrinsic dot_4x4_vnni() {
  intrinsic out = dot_i8("dot_4x4_vnni", 4, dtype::u8, dtype::i8, dtype::i32);
  out.suits = &detail::dot_i8::has_vnni;
  return out;
}

}  // namespace tilewright::intrin
