// Algorithms of one function that take some of its parameters in another storage format.
//
// They stand beside the others (ir/alternatives.hpp), so that a schedule begins with one of them by
// `work_on` and a trace names the format as it names an algorithm. Whoever runs what comes of such a
// schedule has to hand over the arguments that it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/alternatives.hpp>

namespace tilewright::ir {

/// Attribute of an algorithm: the numbers of its format, with which its name ends: [8, 4096] of "spmm_in_sell_8_4096".
/// As an annotation of the root block, in front of `work_on`: the numbers that were drawn, for the family that this
/// names.
inline constexpr const char* sizes_attribute = "tilewright.sizes";

/// The numbers that attributes of a function, or annotations of a block, say; empty where they say none.
std::vector<std::int64_t> sizes_in(const annotations& notes);

/// Algorithms of one name that differ in numbers.
struct algorithm_family {
  std::string name;
  std::vector<std::vector<std::int64_t>>
      sizes;  // of each; one empty list: an algorithm without numbers
};

/// "spmm_in_sell" with [8, 4096]: "spmm_in_sell_8_4096".
std::string sized_name(const std::string& family, const std::vector<std::int64_t>& sizes);

/// `first` with algorithms beside it whose parameters are others. Requires: 1. names differ.
/// @throws argument_error naming the function
function with_reformatted(function first, const std::vector<function>& others);

/// The algorithm of that name: the function itself, or one beside it; nothing where none has it. A text
/// that this thread has read lately is not read again.
std::optional<function> alternative(const function& f, std::string_view name);

/// The names of all algorithms, that of the function itself first.
std::vector<std::string> algorithm_names(const function& f);

/// All algorithms in families, in the order of the first of each; the function itself first.
std::vector<algorithm_family> algorithm_families(const function& f);

}  // namespace tilewright::ir
