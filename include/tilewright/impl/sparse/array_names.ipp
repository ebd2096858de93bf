#pragma once

#include <cstddef>
#include <string>

#include <tilewright/sparse/storage.hpp>

namespace tilewright::sparse {

TILEWRIGHT_INLINE std::string indptr_name(const std::string& parameter) {
  return parameter + "_indptr";
}
TILEWRIGHT_INLINE std::string indices_name(const std::string& parameter) {
  return parameter + "_indices";
}

TILEWRIGHT_INLINE std::string lengths_name(const std::string& parameter) {
  return parameter + "_lengths";
}
TILEWRIGHT_INLINE std::string order_name(const std::string& parameter) {
  return parameter + "_order";
}

TILEWRIGHT_INLINE std::string row_numbers_name(const std::string& parameter) {
  return parameter + "_row_numbers";
}

TILEWRIGHT_INLINE std::string diagonals_name(const std::string& parameter) {
  return parameter + "_diagonals";
}

TILEWRIGHT_INLINE std::string level_name(const std::string& parameter, int level) {
  return parameter + "_level" + std::to_string(level);
}

TILEWRIGHT_INLINE std::string rule_arrays_name(const std::string& arrays, const format_rule& rule,
                                               const format_axis& axis) {
  std::size_t sparse = 0;
  for (const format_axis& a : rule.axes) sparse += a.kind != ir::axis_kind::dense_fixed;
  return sparse == 1 ? arrays : arrays + "_" + axis.name;
}

TILEWRIGHT_INLINE std::string part_name(const std::string& parameter, int part) {
  return parameter + "_part" + std::to_string(part);
}

}  // namespace tilewright::sparse
