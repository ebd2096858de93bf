#pragma once

#include <string>

#include <tilewright/impl/intrin/matrix_text.hpp>
#include <tilewright/intrin/wgmma.hpp>
#include <tilewright/ir/text/parse.hpp>

namespace tilewright::intrin {

TILEWRIGHT_INLINE intrinsic wgmma(dtype in, int columns, bool b_trans) {
  using namespace detail::matrix_text;
  const std::string n = std::to_string(columns), whole_sums = "C[0:64, 0:" + n + "]";
  const std::string begin = head(
      parameter("A", in, "shared.dyn", "64, 16") + ", " +
          parameter("B", in, "shared.dyn", b_trans ? n + ", 16" : "16, " + n) + ", " +
          parameter("C", dtype::f32, "wgmma.accumulator", "64, " + n),
      whole_sums + ", A[0:64, 0:16], B" + (b_trans ? "[0:" + n + ", 0:16]" : "[0:16, 0:" + n + "]"),
      whole_sums);
  const auto wide = [](const std::string& e) { return "T.cast(" + e + ", \"float32\")"; };
  const std::string statement = "C[vi, vj] = C[vi, vj] + " + wide("A[vi, vk]") + " * " +
                                wide(b_trans ? "B[vj, vk]" : "B[vk, vj]") + "\n";
  const std::string grid = "T.grid(64, " + n + ", 16):\n", type = short_name(in);
  intrinsic out;
  out.name = "wgmma_64x" + n + "x16_" + type + type + "f32" + (b_trans ? "_trans" : "");
  out.description = ir::parse(begin + "        for i, j, k in " + grid +
                              "            with T.block(\"update\"):\n"
                              "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                              "                " +
                              statement);
  out.implementation =
      ir::parse(begin + "        for vi, vj, vk in " + grid + "            " + statement);
  return out;
}

}  // namespace tilewright::intrin
