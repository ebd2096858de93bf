#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

#include <tilewright/impl/ir/interpret/evaluate_plan.ipp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir::detail::point {

/// Computes values of a plan.
class machine {
 public:
  machine(std::vector<number>& slots, std::int64_t budget) : slots_(slots), budget_(budget) {}

  bool exhausted() const { return budget_ < 0; }

  /// Element `index` as the first `version` blocks that write `t` leave it.
  number element(tensor& t, std::size_t version, const std::int64_t* index) {
    std::int64_t at = 0, position = 0;
    for (std::size_t d = 0; d < t.extents.size(); ++d) {
      if (index[d] < 0 || index[d] >= t.extents[d]) throw no_value{};
      at += index[d] * t.strides[d];
      position = position * t.extents[d] + index[d];
    }
    if (version == 0) return initial(t, at);
    auto& known = t.known[version];
    if (const auto k = known.find(position); k != known.end()) return k->second;
    const tensor::writer& w = t.writers[version - 1];
    number out;
    if (find(*w.by, w.by->targets[w.target], index, position)) {
      compute(*w.by);
      out = slots_[w.by->targets[w.target].accumulator];
    } else {
      out = element(t, version - 1, index);
    }
    known.emplace(position, out);
    return out;
  }

 private:
  static number initial(const tensor& t, std::int64_t at) {
    if (!t.data) throw no_value{};
    return {t.read(t.data + at * bytes(t.type)), 0, false};
  }

  /// Sets the iteration variables to where `d` stores the element; false when it does nowhere.
  bool find(definition& d, target& t, const std::int64_t* index, std::int64_t position) {
    if (t.place) {
      if (!t.place->find(index, iteration_)) return false;
      for (std::size_t n = 0; n < d.spatial.size(); ++n)
        slots_[d.spatial[n].slot] = exact_integer(iteration_[n]);
      return true;
    }
    if (!t.listed) list_iterations(d, t);
    const auto found = t.stored_by.find(position);
    if (found == t.stored_by.end()) return false;
    if (found->second < 0) throw no_value{};
    std::int64_t number = found->second;
    for (std::size_t n = d.spatial.size(); n-- > 0; number /= d.spatial[n].extent)
      slots_[d.spatial[n].slot] = exact_integer(number % d.spatial[n].extent);
    return true;
  }

  static constexpr std::int64_t listed_at_most = 1 << 20;

  /// Runs the indices of the store in every iteration. Elements that several iterations store get
  /// the number -1.
  void list_iterations(const definition& d, target& t) {
    std::int64_t count = 1;
    for (const iteration& i : d.spatial) count *= std::min(i.extent, listed_at_most + 1);
    if (count > listed_at_most) throw no_value{};
    for (const iteration& i : d.spatial) slots_[i.slot] = exact_integer(0);
    for (std::int64_t number = 0; number < count; ++number) {
      std::int64_t position = 0;
      for (std::size_t k = 0; k < t.index.size(); ++k) {
        const auto i = run(*t.index[k]);
        if (i.open || i.v.i < 0 || i.v.i >= t.to->extents[k]) throw no_value{};
        position = position * t.to->extents[k] + i.v.i;
      }
      const auto [known, first] = t.stored_by.emplace(position, number);
      if (!first) known->second = -1;
      advance(d.spatial);
    }
    t.listed = true;
  }

  /// Steps to the next iteration, the last variable first; false after the last one.
  bool advance(const std::vector<iteration>& all) {
    for (std::size_t k = all.size(); k-- > 0;) {
      value& at = slots_[all[k].slot].v;
      if (++at.i < all[k].extent) return true;
      at.i = 0;
    }
    return false;
  }

  /// Leaves what the block stores in the iteration that is set in the accumulators.
  void compute(const definition& d) {
    for (const target& t : d.targets)
      if (t.init)
        slots_[t.accumulator] = run(*t.init);
      else if (t.updates)
        slots_[t.accumulator] = before(t);
    std::vector<iteration> reduced = d.reduced;
    for (std::size_t k = 0; k < reduced.size(); ++k) {
      if (d.lengths[k]) reduced[k].extent = run(*d.lengths[k]).v.i;
      if (reduced[k].extent <= 0) return;
      slots_[reduced[k].slot] = exact_integer(0);
    }
    std::vector<number> stored(d.targets.size());
    do {
      for (const auto& [slot, what] : d.lets) slots_[slot] = run(*what);
      for (std::size_t k = 0; k < stored.size(); ++k) stored[k] = run(*d.targets[k].value);
      for (std::size_t k = 0; k < stored.size(); ++k) slots_[d.targets[k].accumulator] = stored[k];
    } while (advance(reduced));
  }

  /// The element that a target stores, as the blocks before left it.
  number before(const target& t) {
    std::vector<std::int64_t> index;
    for (const node* n : t.index) index.push_back(run(*n).v.i);
    return element(*t.to, t.version, index.data());
  }

  number run(const node& n) {
    if (--budget_ < 0) throw no_value{};
    switch (n.op) {
      case op::var: return slots_[n.slot];
      case op::integer:
      case op::real: return n.constant;
      case op::load: return load(n);
      case op::if_then_else: return choose(n);
      case op::select: return select(n);
      case op::logical_and: return logic(n, false);
      case op::logical_or: return logic(n, true);
      case op::logical_not: {
        const number a = run(*n.args[0]);
        return exact_integer(!a.v.i, a.open);
      }
      case op::cast: return cast_of(n.type, n.operand, run(*n.args[0]));
      case op::call: return call(n);
      default: break;
    }
    const number a = run(*n.args[0]), b = run(*n.args[1]);
    return is_float(n.operand) ? float_operator(n.op, n.type, a, b)
                               : integer_operator(n.op, n.type, n.operand, a, b);
  }

  /// `decisive` is the value of an operand that decides alone.
  number logic(const node& n, bool decisive) {
    const number a = run(*n.args[0]);
    if (!a.open && (a.v.i != 0) == decisive) return exact_integer(decisive);
    const number b = run(*n.args[1]);
    if (!b.open && (b.v.i != 0) == decisive) return exact_integer(decisive);
    return exact_integer(b.open ? b.v.i : a.v.i, a.open || b.open);
  }

  number choose(const node& n) {
    const number c = run(*n.args[0]);
    number out = run(*n.args[c.v.i ? 1 : 2]);
    if (c.open) {  // the other branch may be no expression of this iteration
      out.open = true;
      if (is_float(n.type)) out.error = unbounded;
    }
    return out;
  }

  number select(const node& n) {
    const number c = run(*n.args[0]), yes = run(*n.args[1]), no = run(*n.args[2]);
    const number &chosen = c.v.i ? yes : no, &other = c.v.i ? no : yes;
    return c.open ? either(n.type, chosen, other) : chosen;
  }

  number load(const node& n) {
    constexpr std::size_t few = 8;
    std::int64_t index[few];
    std::vector<std::int64_t> many;
    std::int64_t* at = index;
    if (n.args.size() > few) {
      many.resize(n.args.size());
      at = many.data();
    }
    bool open = false;
    for (std::size_t d = 0; d < n.args.size(); ++d) {
      const number i = run(*n.args[d]);
      at[d] = i.v.i;
      open = open || i.open;
    }
    if (open) return is_float(n.type) ? unknown_float(0) : exact_integer(0, true);
    return element(*n.from, n.version, at);
  }

  number call(const node& n) {
    if (n.integers) return integer_call(n);
    const number a = run(*n.args[0]);
    if (n.unary) return n.jumps ? step_of(n.unary, a) : function_of(n.type, n.unary, a);
    const number b = run(*n.args[1]);
    if (n.binary) return function_of(n.type, n.binary, n.jumps, a, b);
    return fused_of(n.type, a, b, run(*n.args[2]));
  }

  /// By the interpreter, from constants.
  number integer_call(const node& n) {
    interp::expr_code arguments[2], code = *n.integers;
    bool open = false;
    for (std::size_t k = 0; k < n.args.size() && k < 2; ++k) {
      const number a = run(*n.args[k]);
      open = open || a.open;
      arguments[k].run = &interp::run_constant;
      arguments[k].constant = a.v;
    }
    code.a = &arguments[0];
    code.b = &arguments[1];
    return exact_integer(code.run(code, nothing_).i, open);
  }

  std::vector<number>& slots_;
  std::int64_t budget_;
  std::vector<std::int64_t> iteration_;
  interp::machine nothing_;  // what constants need of the interpreter
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
    if (!args[i].data && t && !t->writers.empty() && !t->held) continue;
    if (!args[i].data)
      throw argument_error("argument " + std::to_string(i) + " of " + f.name + " has no memory");
    const auto* data = static_cast<const std::byte*>(args[i].data);
    if (!t) {
      state_->plan.slots[state_->plan.scalar_slots[i]].v = interp::with_type(
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

TILEWRIGHT_INLINE bool point_evaluator::exhausted() const { return state_->machine.exhausted(); }

TILEWRIGHT_INLINE std::optional<point_value> point_evaluator::value(
    std::size_t param, const std::vector<std::int64_t>& index) {
  detail::point::tensor* t =
      param < state_->plan.outputs.size() ? state_->plan.outputs[param] : nullptr;
  if (!t || t->writers.empty())
    throw argument_error("parameter " + std::to_string(param) + " is no output");
  bool inside = index.size() == t->extents.size();
  for (std::size_t d = 0; inside && d < index.size(); ++d)
    inside = index[d] >= 0 && index[d] < t->extents[d];
  if (!inside) throw argument_error("the index lies outside of " + t->name);
  try {
    const detail::point::number n = state_->machine.element(*t, t->writers.size(), index.data());
    point_value out;
    out.decided = !n.open;
    out.error = is_float(t->type) ? n.error : n.open ? detail::point::unbounded : 0;
    out.value = is_float(t->type)       ? n.v.d
                : t->type == dtype::u64 ? static_cast<double>(static_cast<std::uint64_t>(n.v.i))
                                        : static_cast<double>(n.v.i);
    return out;
  } catch (const detail::point::no_value&) {
    return std::nullopt;
  }
}

}  // namespace tilewright::ir
