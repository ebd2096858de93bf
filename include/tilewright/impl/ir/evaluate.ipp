#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

#include <tilewright/impl/ir/evaluate_plan.ipp>
#include <tilewright/ir/evaluate.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir::detail::point {

/// Computes values of a plan.
class machine {
 public:
  machine(std::vector<value>& slots, std::int64_t budget) : slots_(slots), budget_(budget) {}

  value element(tensor& t, const std::int64_t* index) {
    std::int64_t at = 0, position = 0;
    for (std::size_t d = 0; d < t.extents.size(); ++d) {
      if (index[d] < 0 || index[d] >= t.extents[d]) throw no_value{};
      at += index[d] * t.strides[d];
      position = position * t.extents[d] + index[d];
    }
    if (!t.writes) return t.read(t.data + at * bytes(t.type));
    if (const auto known = t.known.find(position); known != t.known.end()) return known->second;
    for (std::size_t d = 0; d < t.extents.size(); ++d) slots_[t.from.places[d]] = of_int(index[d]);
    const value v = compute(t.from);
    t.known.emplace(position, v);
    return v;
  }

 private:
  value compute(const definition& d) {
    if (d.init) slots_[d.accumulator] = run(*d.init);
    for (const iteration& i : d.reduced) {
      if (i.extent == 0) return slots_[d.accumulator];
      slots_[i.slot] = of_int(0);
    }
    while (true) {
      for (const auto& [slot, what] : d.lets) slots_[slot] = run(*what);
      const value v = run(*d.body);
      if (!d.init) return v;
      slots_[d.accumulator] = v;
      std::size_t k = d.reduced.size();
      for (; k > 0; --k) {
        value& i = slots_[d.reduced[k - 1].slot];
        if (++i.i < d.reduced[k - 1].extent) break;
        i.i = 0;
      }
      if (k == 0) return v;
    }
  }

  value run(const node& n) {
    if (--budget_ < 0) throw no_value{};
    switch (n.op) {
      case op::var: return slots_[n.slot];
      case op::integer:
      case op::real: return n.constant;
      case op::load: return load(n);
      case op::if_then_else:
      case op::select: return run(*n.args[run(*n.args[0]).i ? 1 : 2]);
      case op::logical_and: return of_int(run(*n.args[0]).i && run(*n.args[1]).i);
      case op::logical_or: return of_int(run(*n.args[0]).i || run(*n.args[1]).i);
      case op::logical_not: return of_int(!run(*n.args[0]).i);
      case op::cast: return cast_to(n.type, n.operand, run(*n.args[0]));
      case op::call: return call(n);
      default: break;
    }
    const value a = run(*n.args[0]), b = run(*n.args[1]);
    return is_float(n.operand) ? of_floats(n.op, a.d, b.d) : of_integers(n, a.i, b.i);
  }

  value load(const node& n) {
    constexpr std::size_t few = 8;
    std::int64_t index[few];
    if (n.args.size() <= few) {
      for (std::size_t d = 0; d < n.args.size(); ++d) index[d] = run(*n.args[d]).i;
      return element(*n.from, index);
    }
    std::vector<std::int64_t> many;
    for (const node* a : n.args) many.push_back(run(*a).i);
    return element(*n.from, many.data());
  }

  value call(const node& n) {
    const double a = run(*n.args[0]).d;
    if (n.unary) return of_double(n.unary(a));
    const double b = run(*n.args[1]).d;
    if (n.binary) return of_double(n.binary(a, b));
    return of_double(std::fma(a, b, run(*n.args[2]).d));
  }

  static value cast_to(dtype to, dtype from, const value& v) {
    if (is_float(to)) {
      if (is_float(from)) return v;
      return of_double(from == dtype::u64 ? static_cast<double>(static_cast<std::uint64_t>(v.i))
                                          : static_cast<double>(v.i));
    }
    if (!is_float(from)) return of_int(wrap_to(to, v.i));
    return interp::with_type(to, [&](auto d) -> value {
      constexpr dtype D = decltype(d)::value;
      if constexpr (is_float(D))
        return v;
      else
        return of_int(interp::to_integer<D>(v.d));
    });
  }

  static value of_floats(op o, double a, double b) {
    switch (o) {
      case op::add: return of_double(a + b);
      case op::sub: return of_double(a - b);
      case op::mul: return of_double(a * b);
      case op::div: return of_double(a / b);
      case op::mod: return of_double(std::fmod(a, b));
      case op::floordiv: return of_double(std::floor(a / b));
      case op::floormod: return of_double(a - b * std::floor(a / b));
      case op::min: return of_double(b < a ? b : a);
      case op::max: return of_double(a < b ? b : a);
      default: return of_int(compare(o, a, b));
    }
  }

  template <class T>
  static bool compare(op o, T a, T b) {
    switch (o) {
      case op::eq: return !(a < b) && !(b < a) && a <= b;
      case op::ne: return a < b || b < a || !(a <= b);
      case op::lt: return a < b;
      case op::le: return a <= b;
      case op::gt: return b < a;
      default: return b <= a;
    }
  }

  static value of_integers(const node& n, std::int64_t a, std::int64_t b) {
    switch (n.op) {
      case op::eq:
      case op::ne:
      case op::lt:
      case op::le:
      case op::gt:
      case op::ge:
        return of_int(n.operand == dtype::u64 ? compare(n.op, static_cast<std::uint64_t>(a),
                                                        static_cast<std::uint64_t>(b))
                                              : compare(n.op, a, b));
      case op::div:
      case op::mod:
      case op::floordiv:
      case op::floormod:
        if (b == 0) throw no_value{};
        break;
      default: break;
    }
    return of_int(fold_integer(n.op, n.type, a, b));
  }

  std::vector<value>& slots_;
  std::int64_t budget_;
};

}  // namespace tilewright::ir::detail::point

namespace tilewright::ir {

struct point_evaluator::state {
  state(const function& f, std::int64_t budget) : plan(f), machine(plan.slots, budget) {}
  detail::point::plan plan;
  detail::point::machine machine;
};

TILEWRIGHT_INLINE point_evaluator::point_evaluator(const function& f,
                                                   const std::vector<tensor_view>& args,
                                                   std::int64_t budget)
    : state_(std::make_unique<state>(f, budget)) {
  namespace interp = detail::interp;
  if (args.size() != f.params.size())
    throw argument_error(f.name + " needs " + std::to_string(f.params.size()) + " arguments, not " +
                         std::to_string(args.size()));
  for (std::size_t i = 0; i < args.size(); ++i) {
    detail::point::tensor* t = state_->plan.outputs[i];
    if (t && t->writes) continue;
    if (!args[i].data)
      throw argument_error("argument " + std::to_string(i) + " of " + f.name + " has no memory");
    const auto* data = static_cast<const std::byte*>(args[i].data);
    if (!t) {
      state_->plan.slots[state_->plan.scalar_slots[i]] = interp::with_type(
          f.params[i].scalar.type(),
          [&](auto d) { return detail::point::read_wide<decltype(d)::value>(data); });
      continue;
    }
    t->data = data;
    if (!args[i].strides.empty() && args[i].strides.size() != t->strides.size())
      throw argument_error(t->name + " needs " + std::to_string(t->strides.size()) +
                           " strides, not " + std::to_string(args[i].strides.size()));
    if (!args[i].strides.empty()) t->strides = args[i].strides;
  }
}

TILEWRIGHT_INLINE point_evaluator::~point_evaluator() = default;

TILEWRIGHT_INLINE std::string point_evaluator::refusal(const function& f) {
  try {
    detail::point::plan p(f);
    return {};
  } catch (const argument_error& e) {
    return e.what();
  }
}

TILEWRIGHT_INLINE std::optional<double> point_evaluator::value(
    std::size_t param, const std::vector<std::int64_t>& index) {
  detail::point::tensor* t =
      param < state_->plan.outputs.size() ? state_->plan.outputs[param] : nullptr;
  if (!t || !t->writes)
    throw argument_error("parameter " + std::to_string(param) + " is no output");
  bool inside = index.size() == t->extents.size();
  for (std::size_t d = 0; inside && d < index.size(); ++d)
    inside = index[d] >= 0 && index[d] < t->extents[d];
  if (!inside) throw argument_error("the index lies outside of " + t->name);
  try {
    const detail::interp::value v = state_->machine.element(*t, index.data());
    if (is_float(t->type)) return v.d;
    return t->type == dtype::u64 ? static_cast<double>(static_cast<std::uint64_t>(v.i))
                                 : static_cast<double>(v.i);
  } catch (const detail::point::no_value&) {
    return std::nullopt;
  }
}

}  // namespace tilewright::ir
