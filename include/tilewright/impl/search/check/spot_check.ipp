#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include <tilewright/impl/ir/interpret/interpret_convert.hpp>
#include <tilewright/impl/search/check/expected_outputs.hpp>
#include <tilewright/impl/search/check/output_spans.hpp>
#include <tilewright/impl/search/check/rounding_bounds.hpp>
#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/search/check/spot_check.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {
namespace detail {

/// An element as a double, of any type.
inline double number_at(dtype type, const std::byte* at) {
  if (is_float(type)) return float_at(type, at);
  return ir::detail::interp::with_type(stored_as(type), [&](auto d) -> double {
    constexpr dtype D = decltype(d)::value;
    if constexpr (is_float(D))
      return 0;
    else
      return ir::detail::interp::convert<dtype::f64, D>(ir::detail::interp::read_element<D>(at)).d;
  });
}

/// What is left of a value when a type holds it.
inline double held_by(dtype type, double v) {
  switch (type) {
    case dtype::f32: return static_cast<double>(static_cast<float>(v));
    case dtype::f16: return static_cast<double>(static_cast<float>(float16(v)));
    case dtype::bf16: return static_cast<double>(static_cast<float>(bfloat16(v)));
    default: return v;
  }
}

/// Why there are fewer points than asked for.
inline std::string missing_points(std::size_t found, std::size_t count, std::size_t undecided,
                                  std::size_t without, bool exhausted) {
  std::string out =
      "only " + std::to_string(found) + " of " + std::to_string(count) + " points are known";
  if (exhausted) out += "; the budget is used up";
  if (undecided)
    out += "; at " + std::to_string(undecided) + " others rounding decides what the value is";
  if (without)
    out += "; " + std::to_string(without) + " others depend on elements that have no value";
  return out;
}

inline bool same_number(double expected, double actual, double tolerance) {
  return (std::isnan(expected) && std::isnan(actual)) || expected == actual ||
         std::abs(expected - actual) <= tolerance;
}

}  // namespace detail

TILEWRIGHT_INLINE spot_list spot_values(const ir::function& f, runner& r, std::uint64_t seed,
                                        std::size_t count) {
  spot_list out;
  out.skipped = ir::point_evaluator::refusal(f);
  if (!out.skipped.empty()) return out;
  r.reset_outputs();
  std::vector<ir::tensor_view> views;
  for (std::size_t i = 0; i < r.data().size(); ++i)
    views.push_back({r.data()[i], r.layouts()[i].strides});
  ir::point_evaluator evaluator(f, views);
  const std::vector<operand>& all = r.operands();
  std::vector<std::size_t> written;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].written && all[i].elements() > 0) written.push_back(i);
  support::random random(seed);
  std::size_t undecided = 0, without = 0;
  for (std::size_t n = 0; n < 2 * count && out.spots.size() < count && !written.empty(); ++n) {
    const std::size_t i = written[n % written.size()];
    const auto position =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(all[i].elements())));
    const auto v = evaluator.value(i, detail::unflatten(position, all[i].extents));
    if (evaluator.exhausted()) break;
    if (!v)
      ++without;
    else if (!v->decided && (!is_float(all[i].type) || !(v->error < HUGE_VAL)))
      ++undecided;
    else
      out.spots.push_back({i, position, v->value, v->decided ? 0 : v->error});
  }
  if (out.spots.size() < count && !written.empty())
    out.skipped =
        detail::missing_points(out.spots.size(), count, undecided, without, evaluator.exhausted());
  return out;
}

TILEWRIGHT_INLINE std::string compare_spots(const std::vector<operand>& operands,
                                            const value_needs& needs, const spot_list& list,
                                            const std::vector<std::vector<std::byte>>& outputs) {
  const detail::output_spans spans = detail::spans_of(outputs);
  return detail::compare_spot_spans(operands, needs, list, spans,
                                    detail::scales_of(operands, spans));
}

TILEWRIGHT_INLINE std::string detail::compare_spot_spans(
    const std::vector<operand>& operands, const value_needs& needs, const spot_list& list,
    const output_spans& outputs, const std::vector<double>& scales, rounding_bounds* bounds) {
  std::size_t k = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const operand& o = operands[i];
    if (!o.written) continue;
    const std::span<const std::byte> elements = outputs[k];
    const double scale = scales[k++];
    const double relative = is_float(o.type) ? detail::relative_tolerance(o.type, needs) : 0;
    for (const spot& s : list.spots) {
      if (s.operand != i) continue;
      const double expected = detail::held_by(o.type, s.value);
      const double actual = detail::number_at(
          o.type, &elements[static_cast<std::size_t>(s.position * bytes(o.type))]);
      const double tolerance = relative * std::max(std::abs(expected), scale) + s.slack;
      if (detail::same_number(expected, actual, tolerance)) continue;
      if (bounds && is_float(o.type) && bounds->allow(i, s.position, actual, actual, tolerance))
        continue;
      return o.name + detail::index_text(s.position, o.extents) + " is " +
             support::general_text(actual, 9) + " instead of " +
             support::general_text(expected, 9) + " in f64 (tolerance " +
             support::general_text(tolerance, 3) + ")";
    }
  }
  return {};
}

}  // namespace tilewright::search
