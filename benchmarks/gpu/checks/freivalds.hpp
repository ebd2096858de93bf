// Freivalds' check of a product: with a random vector r, (A B) r is A (B r), and one wrong element of A B shows in
// it, wherever it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/stmt.hpp>

#include "product_form.hpp"

namespace gpu_case {

/// Random sums of an output along the dimension of its form, computed from the inputs: floats in f64, integers modulo 2^32. There
/// is a sum for each place in the other dimensions, so that every element of the output is in one.
class freivalds {
 public:
  /// @param arguments memory of the parameters on the host, contiguous
  freivalds(const tilewright::ir::function& f, std::size_t output, const product_form& form,
            const std::vector<tilewright::ir::tensor_view>& arguments, std::uint64_t seed);

  /// False where computing the sums would have taken too long.
  bool known() const { return known_; }
  /// How many sums differ from those of the output's elements by more than `spread`, the usual error of an element, makes
  /// likely: by more than 12 times its square root of the dimension; integers by anything.
  std::size_t wrong(const std::byte* output, double spread) const;

 private:
  double weight(std::int64_t j) const { return weights_[static_cast<std::size_t>(j)]; }
  std::vector<double> summed(const std::byte* data, tilewright::dtype type, std::size_t outer,
                             std::size_t inner) const;
  void compute(const tilewright::ir::function& f, std::size_t output, const product_form& form,
               const std::vector<tilewright::ir::tensor_view>& arguments);

  tilewright::dtype type_;
  std::size_t outer_ = 1, inner_ = 1;  // places before and behind the dimension
  std::vector<double> weights_;        // [extent]
  std::vector<double> sums_;           // [outer * inner]
  bool known_ = true;
};

}  // namespace gpu_case
