// Along which dimension of an output a program is linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace gpu_case {

/// A dimension that output and some inputs share, element by element: each result is a sum of terms, and each term has one
/// factor that depends on the place along the dimension, as the columns of a product A B and of B. A sum of results
/// over the dimension, with any weights, is then what the program makes of the same sum of these inputs.
struct product_form {
  std::size_t dimension = 0;  // of the output
  std::int64_t extent = 0;    // of the dimension
  std::vector<int>
      dimensions;  // [parameter], the dimension of an input that is summed; -1: an input that has none
};

/// The form with the longest dimension, or nothing where no dimension of more than one element has one.
/// 1. Blocks are single stores; others have no form.
/// @param output number of the parameter
std::optional<product_form> product_form_of(const tilewright::ir::function& f, std::size_t output);

/// The function of inputs that were summed over the form's dimension: these hold f64 where they held floats, and i32 where they
/// held integers.
tilewright::ir::function with_sums(const tilewright::ir::function& f, const product_form& form);

}  // namespace gpu_case
