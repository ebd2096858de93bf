// Sums of rows of a matrix, and the same of a matrix whose rows are longer, as a format with padding has
// them.
#pragma once

#include <string>
#include <utility>

#include <tilewright/ir/reformatted.hpp>
#include <tilewright/ir/text/parse.hpp>

namespace programs {

/// Sums of rows of `n` elements.
inline tilewright::ir::function row_sums(const std::string& name, int n) {
  const std::string width = std::to_string(n);
  return tilewright::ir::parse(
      "@T.prim_func\ndef " + name + "(A: T.Buffer((16, " + width +
      "), \"float32\"), B: T.Buffer((16,), \"float32\")):\n    for i, k in T.grid(16, " + width +
      "):\n        with T.block(\"B\"):\n            vi, vk = T.axis.remap(\"SR\", [i, "
      "k])\n            with T.init():\n                B[vi] = T.float32(0)\n            "
      "B[vi] = B[vi] + A[vi, vk]\n");
}

/// Those of 5 elements, with the same in rows of 8 and 16, and of 7 under another kind of name.
inline tilewright::ir::function reformatted_row_sums() {
  return tilewright::ir::with_reformatted(
      row_sums("sum", 5),
      {row_sums("sum_in_ell_8", 8), row_sums("sum_in_ell_16", 16), row_sums("sum_in_other", 7)});
}

/// Those and others, of which two are one format with different numbers.
inline tilewright::ir::function row_sums_of_families() {
  const auto sized = [](const std::string& name, int n, tilewright::ir::attr::list sizes) {
    tilewright::ir::function out = row_sums(name, n);
    out.attrs[tilewright::ir::sizes_attribute] = std::move(sizes);
    return out;
  };
  return tilewright::ir::with_reformatted(
      row_sums("sum", 5), {sized("sum_in_ell_8", 8, {8}), sized("sum_in_other_7", 7, {7}),
                           sized("sum_in_ell_16", 16, {16}), row_sums("sum_in_none", 6)});
}

}  // namespace programs
