#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <span>

#include <tilewright/impl/search/check/output_spans.hpp>
#include <tilewright/impl/search/check/rounding_bounds.hpp>
#include <tilewright/impl/search/data_share.hpp>
#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::search {
namespace detail {

inline std::string difference_text(const operand& o, std::int64_t position, double expected,
                                   double actual, double tolerance) {
  return o.name + index_text(position, o.extents) + " is " + support::general_text(actual, 9) +
         " instead of " + support::general_text(expected, 9) + " (tolerance " +
         support::general_text(tolerance, 3) + ")";
}

/// @param number of the parameter
inline std::string compare_floats(const operand& o, std::size_t number, double relative,
                                  std::span<const std::byte> expected,
                                  std::span<const std::byte> actual, non_finite kinds,
                                  rounding_bounds* bounds) {
  const auto size = static_cast<std::size_t>(bytes(o.type));
  const std::size_t count = expected.size() / size;
  const double scale = root_mean_square(o.type, expected);
  const auto differ = [&](double a, double b) {
    // nothing finite is near infinity, but where one order overflows and the other does not
    const bool near = std::isfinite(a) || kinds == non_finite::alike;
    if (a == b || (near && std::abs(a - b) <= relative * std::max(std::abs(a), scale)))
      return false;
    if (std::isnan(a) && std::isnan(b)) return false;
    return !(kinds == non_finite::alike && !std::isfinite(a) && !std::isfinite(b));
  };
  std::atomic<std::size_t> found{count};  // the first element that differs, of all parts
  with_reader(o.type, [&](const auto& read) {
    in_parts(count, [&](std::size_t, std::size_t first, std::size_t end) {
      std::size_t at = first;
      while (at < end && !differ(read(&expected[at * size]), read(&actual[at * size]))) ++at;
      std::size_t known = found.load();
      while (at < end && at < known && !found.compare_exchange_weak(known, at)) {
      }
    });
  });
  for (std::size_t at = found.load(); at < count; ++at) {
    const double a = float_at(o.type, &expected[at * size]),
                 b = float_at(o.type, &actual[at * size]);
    if (!differ(a, b)) continue;
    const double tolerance = relative * std::max(std::abs(a), scale);
    const auto position = static_cast<std::int64_t>(at);
    if (!bounds || !bounds->allow(number, position, a, b, tolerance))
      return difference_text(o, position, a, b, tolerance);
  }
  return {};
}

inline bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::atomic<bool> out{a.size() == b.size()};
  if (!out) return false;
  in_parts(a.size(), [&](std::size_t, std::size_t first, std::size_t end) {
    if (out.load(std::memory_order_relaxed) && std::memcmp(&a[first], &b[first], end - first) != 0)
      out = false;
  });
  return out;
}

inline bool is_float_operation(const ir::expr& e) {
  if (!is_float(e.type())) return false;
  switch (e->op) {
    case ir::op::add:
    case ir::op::sub:
    case ir::op::mul:
    case ir::op::div:
    case ir::op::min:
    case ir::op::max:
    case ir::op::call: return true;
    default: return false;
  }
}

/// Counts the iterations around every store, and the operations of what is stored.
class work_counter : public ir::visitor {
 public:
  explicit work_counter(const ir::function& f) : function_(f), shares_(f) {}
  double stores = 0, operations = 0;
  using ir::visitor::visit;
  void visit(const ir::stmt& s) override {
    const ir::loop_node* l = ir::as_loop(s);
    const double before = around_;
    if (l) around_ *= ir::mean_extent(function_, l->extent);
    if (ir::as_store(s)) stores += around_;
    ir::visitor::visit(s);
    around_ = before;
  }
  void visit(const ir::block& b) override {
    const double before = share_;
    share_ *= shares_.of(*b);
    visit(b->body);  // `init` runs too seldom to count
    share_ = before;
  }
  void visit(const ir::expr& e) override {
    if (!e) return;
    if (is_float_operation(e)) operations += around_ * share_;
    ir::visitor::visit(e);
  }

 private:
  const ir::function& function_;
  data_shares shares_;
  double around_ = 1, share_ = 1;  // share_: of the iterations, those on data
};

}  // namespace detail

TILEWRIGHT_INLINE std::string detail::compare_spans(const std::vector<operand>& operands,
                                                    const value_needs& needs,
                                                    const output_spans& expected,
                                                    const output_spans& actual, non_finite kinds,
                                                    rounding_bounds* bounds) {
  std::size_t k = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const operand& o = operands[i];
    if (!o.written) continue;
    const std::span<const std::byte> a = expected[k], b = actual[k];
    ++k;
    if (equal_bytes(a, b)) continue;
    if (!is_float(o.type)) {
      const auto size = static_cast<std::size_t>(bytes(o.type));
      std::size_t at = 0;
      while (std::memcmp(&a[at], &b[at], size) == 0) at += size;
      return o.name + index_text(static_cast<std::int64_t>(at / size), o.extents) + " differs";
    }
    const double relative = needs.exact ? 0 : relative_tolerance(o.type, needs);
    std::string difference =
        compare_floats(o, i, relative, a, b, kinds, needs.exact ? nullptr : bounds);
    if (!difference.empty()) return difference;
  }
  return {};
}

TILEWRIGHT_INLINE std::string compare_outputs(const std::vector<operand>& operands,
                                              const value_needs& needs,
                                              const std::vector<std::vector<std::byte>>& expected,
                                              const std::vector<std::vector<std::byte>>& actual,
                                              non_finite kinds) {
  return detail::compare_spans(operands, needs, detail::spans_of(expected),
                               detail::spans_of(actual), kinds);
}

TILEWRIGHT_INLINE std::string verify_against_interpreter(const ir::function& f, runner& r,
                                                         const backend::loaded& code) {
  return verify_against_interpreter(f, r, [&] { return r.run(code); });
}

TILEWRIGHT_INLINE std::string verify_against_interpreter(const ir::function& f, runner& r,
                                                         const std::function<measurement()>& run,
                                                         non_finite kinds) {
  const measurement m = run();
  if (!m.ok()) return m.detail;
  const auto actual = r.outputs();
  r.reset_outputs();
  std::vector<ir::tensor_view> views;
  for (std::size_t i = 0; i < r.data().size(); ++i)
    views.push_back({r.data()[i], r.layouts()[i].strides});
  try {
    ir::interpret(f, std::move(views));
  } catch (const std::exception& e) {
    return std::string("the interpreter refuses the program: ") + e.what();
  }
  detail::rounding_bounds bounds(f, r);
  const auto expected = r.outputs();
  return detail::compare_spans(r.operands(), needs_of(f), detail::spans_of(expected),
                               detail::spans_of(actual), kinds, &bounds);
}

TILEWRIGHT_INLINE std::string compare_alternatives(const ir::function& f,
                                                   const backend::executor& exec,
                                                   std::uint64_t seed) {
  const std::vector<ir::function> all = ir::alternatives(f);
  std::vector<std::vector<std::byte>> expected;
  for (const ir::function& each : all) {
    runner r(all.front(), {}, exec, seed);  // equal arguments for all
    std::vector<ir::tensor_view> views;
    for (std::size_t i = 0; i < r.data().size(); ++i)
      views.push_back({r.data()[i], r.layouts()[i].strides});
    try {
      ir::interpret(each, std::move(views));
    } catch (const std::exception& e) {
      return "the interpreter refuses its algorithm " + each.name + ": " + e.what();
    }
    if (expected.empty()) expected = r.outputs();
    detail::rounding_bounds bounds(all.front(), r);
    const auto actual = r.outputs();
    const std::string wrong =
        detail::compare_spans(r.operands(), needs_of(f), detail::spans_of(expected),
                              detail::spans_of(actual), non_finite::apart, &bounds);
    if (!wrong.empty())
      return "algorithms " + all.front().name + " and " + each.name + " disagree: " + wrong;
  }
  return {};
}

TILEWRIGHT_INLINE double work_of(const ir::function& f) {
  detail::work_counter counter(f);
  counter.visit(f.body);
  return counter.stores;
}

TILEWRIGHT_INLINE double operations_of(const ir::function& f) {
  detail::work_counter counter(f);
  counter.visit(f.body);
  return counter.operations;
}

}  // namespace tilewright::search
