// What the outputs of candidates have to be: those of the default schedule, and f64 at some points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/check/output_spans.hpp>
#include <tilewright/impl/search/check/rounding_bounds.hpp>
#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/search/check/comparison_kernel.hpp>
#include <tilewright/search/check/spot_check.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::search::detail {

/// Root mean squares of the outputs; 0 of those that are no floats. // [written parameters]
inline std::vector<double> scales_of(const std::vector<operand>& operands,
                                     const output_spans& outputs) {
  std::vector<double> out;
  for (const operand& o : operands)
    if (o.written)
      out.push_back(is_float(o.type) ? root_mean_square(o.type, outputs[out.size()]) : 0);
  return out;
}

/// What is asked of candidates: where the function keeps the order of its terms, the same results.
inline value_needs needs_of_candidates(value_needs needs, const ir::function& f) {
  needs.exact = ir::keeps_term_order(f);
  return needs;
}

class expected_outputs {
 public:
  expected_outputs() = default;
  /// @param f the unscheduled function, which outlives the object
  /// @param r its arguments, too, and what candidates are told of them
  /// @param outputs of the default schedule, as runner::outputs gives them
  expected_outputs(const ir::function& f, const runner& r, const value_needs& needs,
                   std::vector<std::vector<std::byte>> outputs, spot_list spots, non_finite kinds)
      : needs_(needs_of_candidates(needs, f)),
        outputs_(std::move(outputs)),
        scales_(scales_of(r.operands(), spans_of(outputs_))),
        spots_(std::move(spots)),
        kinds_(kinds),
        bounds_(std::make_unique<rounding_bounds>(f, r)) {}

  /// How the outputs that the last call left in `r` differ; empty: they do not.
  /// @param compared they are known to be those of the default schedule, and what `r` has are the elements of
  /// `pieces` alone
  std::string difference(const runner& r, bool compared) const {
    const outputs_in_place there(r);
    std::string out;
    if (!compared)
      out = compare_spans(r.operands(), needs_, spans_of(outputs_), there.spans(), kinds_,
                          bounds_.get());
    return out.empty() ? compare_spot_spans(r.operands(), needs_, spots_, there.spans(), scales_,
                                            bounds_.get())
                       : out;
  }

  /// How a GPU compares its outputs with these; empty where it cannot.
  std::vector<output_comparison> comparisons(const runner& r, const target::gpu& gpu) const {
    constexpr double patience = 10;  // s, to compile one of them
    std::vector<output_comparison> out;
    for (std::size_t i = 0; i < r.operands().size(); ++i) {
      const operand& o = r.operands()[i];
      if (!o.written) continue;
      output_comparison c;
      c.argument = i;
      c.elements = static_cast<std::int64_t>(r.memory().places()[i].bytes) / bytes(o.type);
      c.relative = is_float(o.type) ? relative_tolerance(o.type, needs_) : 0;
      c.scale = scales_[out.size()];
      if (!has_comparison_kernel(o.type, c.elements)) return {};
      built kernel = build(comparison_kernel(o.type, c.elements, kinds_), gpu, patience);
      if (!kernel) return {};
      c.code = std::move(kernel.artifact);
      out.push_back(std::move(c));
    }
    return out;
  }

  /// Where the elements lie that are compared with f64.
  std::vector<argument_piece> pieces(const runner& r) const {
    std::vector<argument_piece> out;
    for (const spot& s : spots_.spots) {
      const operand& o = r.operands()[s.operand];
      const std::vector<std::int64_t>& strides = r.layouts()[s.operand].strides;
      std::int64_t place = 0, rest = s.position;
      for (std::size_t d = o.extents.size(); d-- > 0; rest /= o.extents[d])
        place += rest % o.extents[d] * strides[d];
      const auto first = static_cast<std::int64_t>(r.memory().places()[s.operand].element0);
      out.push_back({s.operand, static_cast<std::size_t>(first + place * bytes(o.type)),
                     static_cast<std::size_t>(bytes(o.type))});
    }
    return out;
  }

  /// Leaves the outputs in `r` as a call would.
  void put_into(const runner& r) const {
    std::size_t k = 0;
    for (std::size_t i = 0; i < r.operands().size(); ++i)
      if (r.operands()[i].written)
        unpack_elements(r.operands()[i], static_cast<std::byte*>(r.data()[i]),
                        r.layouts()[i].strides, outputs_[k++]);
  }

 private:
  value_needs needs_;
  std::vector<std::vector<std::byte>> outputs_;
  std::vector<double> scales_;
  spot_list spots_;
  non_finite kinds_ = non_finite::apart;
  std::unique_ptr<rounding_bounds> bounds_;
};

}  // namespace tilewright::search::detail
