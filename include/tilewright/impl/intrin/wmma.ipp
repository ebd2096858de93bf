#pragma once

#include <string>

#include <tilewright/impl/intrin/matrix_text.hpp>
#include <tilewright/intrin/wmma.hpp>
#include <tilewright/ir/text/parse.hpp>

namespace tilewright::intrin {
namespace detail::wmma {

using namespace detail::matrix_text;

constexpr const char* whole = "[0:16, 0:16]";

}  // namespace detail::wmma

TILEWRIGHT_INLINE intrinsic wmma_sync(dtype in, dtype sum, bool b_trans, int steps) {
  using namespace detail::wmma;
  const std::string k = std::to_string(steps), left = "16, " + k,
                    right = b_trans ? left : k + ", 16", all = "[0:16, 0:" + k + "]";
  const std::string begin =
      head(parameter("A", in, "wmma.matrix_a", left) + ", " +
               parameter("B", in, "wmma.matrix_b", right) + ", " +
               parameter("C", sum, "wmma.accumulator"),
           std::string("C") + whole + ", A" + all + ", B" + (b_trans ? all : "[0:" + k + ", 0:16]"),
           std::string("C") + whole);
  const auto wide = [&](const std::string& e) {
    return in == sum ? e : "T.cast(" + e + ", " + typed(sum) + ")";
  };
  const std::string statement = "C[vi, vj] = C[vi, vj] + " + wide("A[vi, vk]") + " * " +
                                wide(b_trans ? "B[vj, vk]" : "B[vk, vj]") + "\n";
  const std::string grid = "T.grid(16, 16, " + k + "):\n";
  intrinsic out;
  out.name = "wmma_sync_16x16x" + k + "_" + operand_name(in) + operand_name(in) + short_name(sum) +
             (b_trans ? "_trans" : "");
  out.description = ir::parse(begin + "        for i, j, k in " + grid +
                              "            with T.block(\"update\"):\n"
                              "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                              "                " +
                              statement);
  out.implementation =
      ir::parse(begin + "        for vi, vj, vk in " + grid + "            " + statement);
  return out;
}

TILEWRIGHT_INLINE intrinsic wmma_fill(dtype sum) {
  using namespace detail::wmma;
  const std::string zero = sum == dtype::i32 ? "0" : "T." + std::string(name(sum)) + "(0)";
  return element_wise("wmma_fill_16x16x16_" + short_name(sum),
                      head(parameter("C", sum, "wmma.accumulator"), "", std::string("C") + whole),
                      "C[vi, vj] = " + zero);
}

TILEWRIGHT_INLINE intrinsic wmma_load(dtype in, const char* operand, const char* scope) {
  using namespace detail::wmma;
  const std::string fragment = operand[0] == 'a' ? "wmma.matrix_a" : "wmma.matrix_b";
  return element_wise("wmma_load_16x16x16_" + short_name(in) + "_" + operand + "_" + spelled(scope),
                      head(parameter("A", in, scope) + ", " + parameter("C", in, fragment),
                           std::string("A") + whole, std::string("C") + whole),
                      "C[vi, vj] = A[vi, vj]");
}

TILEWRIGHT_INLINE intrinsic wmma_store(dtype sum, const char* scope) {
  using namespace detail::wmma;
  return element_wise(
      "wmma_store_16x16x16_" + short_name(sum) + "_" + spelled(scope),
      head(parameter("A", sum, "wmma.accumulator") + ", " + parameter("C", sum, scope),
           std::string("A") + whole, std::string("C") + whole),
      "C[vi, vj] = A[vi, vj]");
}

}  // namespace tilewright::intrin
