// Results of a call where they lie, compared without a copy: of large ones a copy takes longer than the comparison.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <tilewright/search/check/spot_check.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/measurement/runner.hpp>

namespace tilewright::search::detail {

class rounding_bounds;

/// Elements of each written parameter in row-major order, as runner::outputs gives them.
using output_spans = std::vector<std::span<const std::byte>>;

inline output_spans spans_of(const std::vector<std::vector<std::byte>>& outputs) {
  return {outputs.begin(), outputs.end()};
}

/// What the last call has left in the outputs of a runner, until the next one.
class outputs_in_place {
 public:
  explicit outputs_in_place(const runner& r) {
    const std::vector<operand>& all = r.operands();
    packed_.reserve(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].written) continue;
      const auto* first = static_cast<const std::byte*>(r.data()[i]);
      const std::vector<std::int64_t>& strides = r.layouts()[i].strides;
      if (strides == row_major(all[i].extents)) {
        spans_.emplace_back(first,
                            static_cast<std::size_t>(all[i].elements() * bytes(all[i].type)));
      } else {
        packed_.push_back(packed_elements(all[i], first, strides));
        spans_.emplace_back(packed_.back());
      }
    }
  }
  outputs_in_place(const outputs_in_place&) = delete;
  outputs_in_place& operator=(const outputs_in_place&) = delete;

  const output_spans& spans() const noexcept { return spans_; }

 private:
  std::vector<std::vector<std::byte>> packed_;  // of those that have gaps, or another order
  output_spans spans_;
};

/// As compare_outputs and compare_spots.
/// @param scales root mean square of each written parameter
/// @param bounds of the rounding, within which floats may differ by more than the tolerance; null: none
/// @{
std::string compare_spans(const std::vector<operand>& operands, const value_needs& needs,
                          const output_spans& expected, const output_spans& actual,
                          non_finite kinds = non_finite::apart, rounding_bounds* bounds = nullptr);
std::string compare_spot_spans(const std::vector<operand>& operands, const value_needs& needs,
                               const spot_list& list, const output_spans& outputs,
                               const std::vector<double>& scales,
                               rounding_bounds* bounds = nullptr);
/// @}

}  // namespace tilewright::search::detail
