#pragma once

#include <limits>
#include <mutex>
#include <utility>

#include <tilewright/impl/schedule/analysis/reducer.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/fork_mutex.hpp>

namespace tilewright {
namespace detail::reducers {

using values = std::vector<ir::expr>;
using identity_list = std::vector<values>;

inline ir::expr largest_finite(dtype type, bool negative) {
  const double largest = type == dtype::f64   ? std::numeric_limits<double>::max()
                         : type == dtype::f16 ? 65504.0
                         : type == dtype::f32
                             ? static_cast<double>(std::numeric_limits<float>::max())
                             : 0x1.fep127;
  return ir::real(type, negative ? -largest : largest);
}

/// What a maximum (or minimum) may start from: infinity as well as the largest finite number.
inline values extremes(dtype type, bool lowest) {
  values out{lowest ? ir::lowest_value(type) : ir::highest_value(type)};
  if (is_float(type)) out.push_back(largest_finite(type, lowest));
  return out;
}

using operation = ir::expr (*)(const ir::expr&, const ir::expr&);

/// Of one value, by an operator.
template <class Identities>
commutative_reducer by_operator(std::string name, operation op, const Identities& identities) {
  commutative_reducer r;
  r.name = std::move(name);
  r.combine = [op](const values& l, const values& x) { return values{op(l[0], x[0])}; };
  r.identities = [identities](const std::vector<dtype>& t) { return identities(t[0]); };
  return r;
}

inline commutative_reducer arithmetic(std::string name, operation op, double identity) {
  return by_operator(std::move(name), op, [identity](dtype t) {
    return t == dtype::boolean ? identity_list{} : identity_list{{ir::literal(t, identity)}};
  });
}

inline commutative_reducer extreme(std::string name, operation op, bool lowest) {
  return by_operator(std::move(name), op, [lowest](dtype t) {
    identity_list out;
    for (const ir::expr& e : extremes(t, lowest)) out.push_back({e});
    return out;
  });
}

inline commutative_reducer logic(std::string name, operation op, bool identity) {
  return by_operator(std::move(name), op, [identity](dtype t) {
    return t == dtype::boolean ? identity_list{{ir::boolean(identity)}} : identity_list{};
  });
}

inline commutative_reducer pair_sum() {
  commutative_reducer r;
  r.name = "pair_sum";
  r.size = 2;
  r.combine = [](const values& l, const values& x) { return values{l[0] + x[0], l[1] + x[1]}; };
  r.identities = [](const std::vector<dtype>& t) {
    if (t[0] == dtype::boolean || t[1] == dtype::boolean) return identity_list{};
    return identity_list{{ir::literal(t[0], 0), ir::literal(t[1], 0)}};
  };
  return r;
}

/// (index, value) of an extreme. `better` says that the left value wins against the right one.
inline commutative_reducer arg_extreme(std::string name,
                                       ir::expr (*better)(const ir::expr&, const ir::expr&),
                                       bool lowest, bool ties_by_index) {
  commutative_reducer r;
  r.name = std::move(name);
  r.size = 2;
  r.combine = [=](const values& l, const values& x) {
    const ir::expr wins = better(l[1], x[1]);
    const ir::expr keeps =
        ties_by_index
            ? ir::logical_or(wins, ir::logical_and(ir::eq(l[1], x[1]), ir::lt(l[0], x[0])))
            : wins;
    return values{ir::select(keeps, l[0], x[0]), ir::select(wins, l[1], x[1])};
  };
  r.identities = [=](const std::vector<dtype>& t) {
    identity_list out;
    if (!is_integer(t[0]) || t[0] == dtype::boolean || t[1] == dtype::boolean) return out;
    for (const ir::expr& e : extremes(t[1], lowest)) out.push_back({ir::integer(t[0], -1), e});
    return out;
  };
  return r;
}

inline std::vector<commutative_reducer> make_built_ins() {
  return {arithmetic("sum", &ir::operator+, 0),
          arithmetic("product", &ir::operator*, 1),
          extreme("min", &ir::min, false),
          extreme("max", &ir::max, true),
          logic("and", &ir::logical_and, true),
          logic("or", &ir::logical_or, false),
          pair_sum(),
          arg_extreme("argmax", &ir::ge, true, false),
          arg_extreme("argmin", &ir::le, false, false),
          arg_extreme("argmax_first", &ir::gt, true, true),
          arg_extreme("argmin_first", &ir::lt, false, true)};
}

struct registry {
  support::fork_mutex mutex;
  std::vector<commutative_reducer> list = make_built_ins();
};

inline registry& known() {
  const support::fork_pass inside;
  static registry& r = *new registry;  // outlives static destruction
  return r;
}

/// Unifies a combination over pattern variables with the expression of a program.
class unifier {
 public:
  unifier(const values& left, values left_pattern, values right_pattern)
      : left_(left),
        left_pattern_(std::move(left_pattern)),
        right_pattern_(std::move(right_pattern)),
        bound_(right_pattern_.size()) {}

  bool unify(const ir::expr& pattern, const ir::expr& e) {
    for (std::size_t i = 0; i < left_pattern_.size(); ++i)
      if (pattern.same(left_pattern_[i])) return ir::equal(left_[i], e);
    for (std::size_t i = 0; i < right_pattern_.size(); ++i)
      if (pattern.same(right_pattern_[i])) return bind(bound_[i], e);
    if (pattern->op != e->op || pattern.type() != e.type() ||
        pattern->args.size() != e->args.size() || pattern->name != e->name ||
        pattern->buffer != e->buffer)
      return false;
    if (pattern->args.empty()) return ir::equal(pattern, e);
    for (std::size_t i = 0; i < pattern->args.size(); ++i)
      if (!unify(pattern->args[i], e->args[i])) return false;
    return true;
  }

  const values& bound() const noexcept { return bound_; }
  bool complete() const noexcept {
    for (const ir::expr& e : bound_)
      if (!e) return false;
    return true;
  }

 private:
  static bool bind(ir::expr& to, const ir::expr& e) {
    if (to) return ir::equal(to, e);
    to = e;
    return true;
  }

  const values& left_;
  values left_pattern_, right_pattern_, bound_;
};

inline bool is_identity(const commutative_reducer& r, const values& identity,
                        const std::vector<dtype>& types) {
  for (const values& accepted : r.identities(types)) {
    bool same = accepted.size() == identity.size();
    for (std::size_t i = 0; same && i < identity.size(); ++i)
      same = ir::equal(accepted[i], identity[i]);
    if (same) return true;
  }
  return false;
}

inline bool matches(const commutative_reducer& r, const values& left, const values& updates,
                    values& right) {
  values l, x;
  for (const ir::expr& e : left) {
    l.push_back(ir::make_var("left", e.type()));
    x.push_back(ir::make_var("right", e.type()));
  }
  const values pattern = r.combine(l, x);
  unifier u(left, l, x);
  for (std::size_t i = 0; i < updates.size(); ++i)
    if (!u.unify(pattern[i], updates[i])) return false;
  if (!u.complete()) return false;
  right = u.bound();
  return true;
}

}  // namespace detail::reducers

TILEWRIGHT_INLINE void register_reducer(commutative_reducer r) {
  if (r.size == 0 || !r.combine || !r.identities)
    throw argument_error("register_reducer: reducer \"" + r.name +
                         "\" needs at least one value, a combination and its identities");
  auto& known = detail::reducers::known();
  const std::lock_guard lock(known.mutex);
  known.list.push_back(std::move(r));
}

TILEWRIGHT_INLINE std::optional<matched_reducer> match_reducer(
    const std::vector<ir::expr>& identity, const std::vector<ir::expr>& left,
    const std::vector<ir::expr>& updates) {
  std::vector<dtype> types;
  for (const ir::expr& e : left) types.push_back(e.type());
  auto& known = detail::reducers::known();
  const std::lock_guard lock(known.mutex);
  for (const commutative_reducer& r : known.list) {
    if (r.size != updates.size() || !detail::reducers::is_identity(r, identity, types)) continue;
    matched_reducer out;
    if (!detail::reducers::matches(r, left, updates, out.right)) continue;
    out.found = r;
    out.identity = identity;
    return out;
  }
  return std::nullopt;
}

TILEWRIGHT_INLINE std::optional<matched_reducer> match_declared_reducer(
    const ir::annotations& notes, const std::vector<ir::expr>& identity,
    const std::vector<ir::expr>& left, const std::vector<ir::expr>& updates) {
  const auto note = notes.find(ir::reducer_note);
  const auto* text = note == notes.end() ? nullptr : std::get_if<std::string>(&note->second.value);
  const std::optional<ir::comm_reducer> declared =
      text ? ir::parse_reducer(*text) : std::optional<ir::comm_reducer>{};
  if (!declared || declared->identity.size() != updates.size()) return std::nullopt;
  matched_reducer out;
  out.found.name = "declared";
  out.found.size = updates.size();
  out.found.combine = [r = *declared](const auto& l, const auto& x) { return r.combined(l, x); };
  out.found.identities = [r = *declared](const auto&) {
    return detail::reducers::identity_list{r.identity};
  };
  out.identity = identity;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i].type() != declared->identity[i].type()) return std::nullopt;
  if (!detail::reducers::is_identity(out.found, identity, {}) ||
      !detail::reducers::matches(out.found, left, updates, out.right))
    return std::nullopt;
  return out;
}

}  // namespace tilewright
