#pragma once

#include <string>

#include <tilewright/intrin/outer_product_f32.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::intrin {
namespace detail::outer_product {

inline std::string script(int rows, int columns, const std::string& body) {
  const std::string m = std::to_string(rows), n = std::to_string(columns);
  return "@T.prim_func\ndef main(A: T.Buffer((" + m +
         ", 1), \"float32\", offset_factor=1), "
         "B: T.Buffer((1, " +
         n +
         "), \"float32\", offset_factor=1), "
         "C: T.Buffer((" +
         m + ", " + n +
         "), \"float32\", offset_factor=1)):\n"
         "    with T.block(\"root\"):\n"
         "        T.reads(C[0:" +
         m + ", 0:" + n + "], A[0:" + m + ", 0:1], B[0:1, 0:" + n +
         "])\n"
         "        T.writes(C[0:" +
         m + ", 0:" + n + "])\n" + body;
}

inline std::string description(int rows, int columns) {
  const std::string m = std::to_string(rows), n = std::to_string(columns);
  return script(rows, columns,
                "        for i, j in T.grid(" + m + ", " + n +
                    "):\n"
                    "            with T.block(\"update\"):\n"
                    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                    "                C[vi, vj] = C[vi, vj] + A[vi, 0] * B[0, vj]\n");
}

inline std::string implementation(int rows, int columns) {
  return script(rows, columns,
                "        for i in T.unroll(" + std::to_string(rows) +
                    "):\n"
                    "            for j in T.vectorized(" +
                    std::to_string(columns) +
                    "):\n"
                    "                C[i, j] = C[i, j] + A[i, 0] * B[0, j]\n");
}

}  // namespace detail::outer_product

TILEWRIGHT_INLINE intrinsic outer_product_f32(int rows, int columns) {
  using namespace detail::outer_product;
  intrinsic out;
  out.name = "outer_product_" + std::to_string(rows) + "x" + std::to_string(columns) + "_f32";
  out.description = ir::parse(description(rows, columns));
  out.implementation = ir::parse(implementation(rows, columns));
  return out;
}

TILEWRIGHT_INLINE intrinsic outer_product_6x16_f32() {
  intrinsic out = outer_product_f32(6, 16);
  out.suits = [](const target::machine& where) {
    return where.cpu && where.cpu->vector_bits == 256 && where.cpu->fma;
  };
  return out;
}

TILEWRIGHT_INLINE intrinsic outer_product_14x32_f32() {
  intrinsic out = outer_product_f32(14, 32);
  out.suits = [](const target::machine& where) {
    return where.cpu && where.cpu->vector_bits == 512;
  };
  return out;
}

}  // namespace tilewright::intrin
