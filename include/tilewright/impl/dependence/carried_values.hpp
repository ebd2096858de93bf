// Whether a loop carries values of a buffer from one iteration to a later one. Where it does not,
// the buffer may live and die within an iteration.
//
//   for i in range(8):              T is carried by i: iteration i reads what iteration i - 1
//     T[i] = A[i]                   has written.
//     B[i] = T[i] + T[max(i - 1, 0)]
//
// Nothing is carried when every load is apart from all stores of other iterations, or finds what a
// store before it in the same iteration certainly writes. Both are proved; what cannot be proved
// counts as carried.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/iter_map.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/region.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence::carried_values {

using namespace tilewright::ir;

/// Which statement of a sequence an access stands in, and how many loops are around the sequence.
struct turn {
  std::size_t position = 0, loops = 0;
};

/// One access of a buffer, in terms of the loops around it.
struct access {
  bool writes = false;
  bool whole = false;         // through a pointer: any element, or none
  std::vector<expr> indices;  // [rank]
  std::vector<expr> guards;   // conditions under which it happens
  arith::loop_domains loops;  // around it, outermost first
  std::vector<turn> turns;    // outermost first
};

inline bool uses_loop_from(const expr& e, const access& a, std::size_t first) {
  for (std::size_t l = first; l < a.loops.size(); ++l)
    if (uses_var(e, a.loops[l].first)) return true;
  return false;
}

/// An index as `factor * loop + rest + [lo, hi]` around one loop: `rest` stands still while the loop
/// and those inside it run.
struct stepped {
  std::int64_t factor = 0;
  arith::linear rest;
  arith::bounds inner;
};

inline std::optional<stepped> step_of(const arith::linear& sum, const access& a, std::size_t loop,
                                      const arith::analyzer& known) {
  stepped out;
  out.rest.type = sum.type;
  out.inner = {sum.constant, sum.constant};
  for (const auto& [term, factor] : sum.terms) {
    if (term.same(a.loops[loop].first)) {
      out.factor = factor;
    } else if (!uses_loop_from(term, a, loop)) {
      out.rest.terms.emplace_back(term, factor);
    } else {
      if (uses_var(term, a.loops[loop].first)) return std::nullopt;
      const arith::bounds b = known.const_bounds(term);
      if (!b.bounded()) return std::nullopt;
      out.inner = arith::add(out.inner, arith::scale(b, factor));
    }
  }
  return out;
}

inline bool same_terms(const arith::linear& a, const arith::linear& b) {
  return a.terms.size() == b.terms.size() && support::all(a.terms, [&](const auto& term) {
           return b.coefficient(term.first) == term.second;
         });
}

enum class against { earlier, other };

/// The same of one index of each; null: of a number that memory says.
inline bool steps_apart(const arith::linear* stored, const access& store,
                        const arith::linear* touched, const access& a, std::size_t loop,
                        against iterations, const arith::analyzer& known) {
  if (!stored || !touched) return false;
  const std::optional<stepped> s = step_of(*stored, store, loop, known);
  if (!s || s->factor == 0) return false;
  const std::optional<stepped> l = step_of(*touched, a, loop, known);
  if (!l || l->factor != s->factor || !same_terms(s->rest, l->rest)) return false;
  const std::int64_t most = s->inner.hi - l->inner.lo, least = s->inner.lo - l->inner.hi;
  const bool behind = most<std::abs(s->factor), before = least> - std::abs(s->factor);
  return iterations == against::other ? behind && before : s->factor > 0 ? behind : before;
}

/// The position of an element in the buffer.
inline expr flat(const std::vector<expr>& indices, const std::vector<expr>& shape) {
  expr out = indices[0];
  for (std::size_t d = 1; d < indices.size(); ++d)
    out = out * cast(out.type(), shape[d]) + cast(out.type(), indices[d]);
  return out;
}

/// Indices that the accesses have in common, and that stand still inside of the loop, are others in
/// all its iterations.
inline bool digits_apart(const access& store, const access& a, std::size_t loop,
                         const arith::analyzer& known) {
  std::vector<expr> digits;
  for (std::size_t d = 0; d < store.indices.size(); ++d) {
    const expr& index = store.indices[d];
    if (uses_var(index, store.loops[loop].first) && !reads_memory(index) &&
        !uses_loop_from(index, store, loop + 1) && arith::same_value(index, a.indices[d]))
      digits.push_back(index);
  }
  return digits.size() > 1 && arith::detect_iter_map(digits, {store.loops[loop]}, boolean(true),
                                                     arith::iter_map_level::bijective, known)
                                  .has_value();
}

/// The sums that indices of accesses are, each simplified once however many others it is compared with.
class index_sums {
 public:
  index_sums(const std::vector<expr>& shape, const std::vector<access>& all,
             const arith::analyzer& known)
      : shape_(shape), all_(all), known_(known), entries_(all.size() * (shape.size() + 1)) {}

  /// Of one dimension of an access to elements; null where it reads memory.
  const arith::linear* of(const access& a, std::size_t d) {
    entry& e = entry_of(a, d);
    if (!e.asked) e = {true, sum(a.indices[d])};
    return e.sum ? &*e.sum : nullptr;
  }
  /// Of the position in the buffer.
  const arith::linear* flat(const access& a) {
    entry& e = entry_of(a, shape_.size());
    if (!e.asked) e = {true, sum(carried_values::flat(a.indices, shape_))};
    return e.sum ? &*e.sum : nullptr;
  }

 private:
  struct entry {
    bool asked = false;
    std::optional<arith::linear> sum;
  };

  entry& entry_of(const access& a, std::size_t d) {
    return entries_[static_cast<std::size_t>(&a - all_.data()) * (shape_.size() + 1) + d];
  }
  std::optional<arith::linear> sum(const expr& index) const {
    if (reads_memory(index)) return std::nullopt;
    arith::linear out = arith::to_linear(index);
    if (out.terms.size() > 1 || (out.terms.size() == 1 && !is_var(out.terms[0].first)))
      out = arith::to_linear(known_.simplify(index));
    return out;
  }

  const std::vector<expr>& shape_;
  const std::vector<access>& all_;
  const arith::analyzer& known_;
  std::vector<entry> entries_;  // [accesses][dimensions and the position]
};

/// Whether one store writes all that a load of the same iteration reads, before it.
class cover {
 public:
  cover(const access& store, const access& load, std::size_t loop, const std::vector<expr>& shape,
        const arith::analyzer& known)
      : store_(store), load_(load), loop_(loop), shape_(shape), known_(known) {}

  bool holds() {
    if (store_.whole || load_.whole || !comes_first() || !sort_guards()) return false;
    if (store_.indices.empty()) return rest_.empty();
    const expr predicate = substitute(conjunction(rest_), starts_);
    std::vector<expr> indices;
    std::vector<iter_var> iters;
    for (const expr& index : store_.indices) {
      if (reads_memory(index)) return false;
      indices.push_back(substitute(index, starts_));
      iters.push_back({make_var("i", index.type()),
                       {integer(index.type(), 0), integer(index.type(), 1)},
                       iter_kind::spatial});
    }
    const arith::loop_domains moving = moving_of(store_);
    if (!arith::is_affine_binding(indices, iters, moving, predicate, known_)) return false;
    arith::analyzer inside = known_;
    inside.assume(predicate);
    const arith::box written = arith::relax(points(indices), moving, inside);
    const arith::box read = arith::relax(points(load_.indices), moving_of(load_), known_);
    return limits_hold(read) && arith::covers(written, within_shape(read), known_);
  }

 private:
  /// Elements whose index in that dimension is beyond `limit` are not written.
  struct limit {
    std::size_t dim;
    bool upper;
    expr value;
  };

  /// Finds the loops around both; the store comes first in their body.
  bool comes_first() {
    for (std::size_t t = 0; t < std::min(store_.turns.size(), load_.turns.size()); ++t) {
      if (store_.turns[t].position == load_.turns[t].position) continue;
      shared_ = store_.turns[t].loops;
      return shared_ > loop_ && store_.turns[t].position < load_.turns[t].position;
    }
    return false;
  }

  /// A guard about an index cuts what is written; one that the load has too says nothing; one that
  /// holds in the first iteration of the loops it is about lets the store happen before all loads;
  /// the others stay, if they are about the loops of the store.
  bool sort_guards() {
    for (const expr& g : store_.guards) {
      if (reads_memory(g)) return false;
      if (limits_index(g) || guards_load(g) || holds_at_start(g)) continue;
      if (!uses_loop_from(g, store_, shared_)) return false;
      rest_.push_back(g);
    }
    return true;
  }

  bool guards_load(const expr& g) const {
    return !uses_loop_from(g, store_, shared_) &&
           support::any(load_.guards,
                        [&](const expr& other) { return arith::same_value(g, other); });
  }

  bool holds_at_start(const expr& g) {
    var_map starts;
    for (std::size_t l = loop_ + 1; l < shared_; ++l)
      if (const auto& [v, dom] = store_.loops[l]; uses_var(g, v)) starts.emplace(v, dom.min);
    if (starts.empty() || !is_true(known_.simplify(substitute(g, starts)))) return false;
    starts_.insert(starts.begin(), starts.end());
    return true;
  }

  bool limits_index(const expr& g) {
    const bool less = g->op == op::lt || g->op == op::le;
    if (!less && g->op != op::gt && g->op != op::ge) return false;
    const bool strict = g->op == op::lt || g->op == op::gt;
    const expr& small = g->args[less ? 0 : 1];
    const expr& large = g->args[less ? 1 : 0];
    const expr room = large - small - integer(small.type(), strict ? 1 : 0);  // >= 0
    for (std::size_t d = 0; d < store_.indices.size(); ++d)
      for (const bool upper : {true, false}) {
        const expr& index = store_.indices[d];
        const expr value = known_.simplify(upper ? index + room : index - room);
        if (uses_loop_from(value, store_, shared_)) continue;
        limits_.push_back({d, upper, value});
        return true;
      }
    return false;
  }

  bool limits_hold(const arith::box& read) const {
    return support::all(limits_, [&](const limit& l) {
      const range& r = read[l.dim];
      const expr value = substitute(l.value, starts_), one = integer(value.type(), 1);
      if (l.upper)
        return known_.prove_le(shape_[l.dim] - one, value) ||
               (r.min && r.extent && known_.prove_le(r.min + r.extent - one, value));
      return known_.prove_le(value, integer(value.type(), 0)) ||
             (r.min && known_.prove_le(value, r.min));
    });
  }

  arith::loop_domains moving_of(const access& a) const {
    return {a.loops.begin() + static_cast<std::ptrdiff_t>(shared_), a.loops.end()};
  }

  static arith::box points(const std::vector<expr>& indices) {
    arith::box out;
    for (const expr& index : indices)
      out.push_back(reads_memory(index) ? range{} : range{index, integer(index.type(), 1)});
    return out;
  }

  /// No access is beyond the shape.
  arith::box within_shape(const arith::box& b) const {
    arith::box whole;
    for (const expr& extent : shape_) whole.push_back({integer(extent.type(), 0), extent});
    arith::box out = b;
    for (std::size_t d = 0; d < out.size(); ++d)
      if (!out[d].min || !out[d].extent) out[d] = whole[d];
    return arith::intersect(out, whole, known_);
  }

  const access& store_;
  const access& load_;
  std::size_t loop_;
  const std::vector<expr>& shape_;
  const arith::analyzer& known_;
  std::size_t shared_ = 0;  // loops around both
  var_map starts_;          // first values of shared loops
  std::vector<limit> limits_;
  std::vector<expr> rest_;
};

/// The accesses of one buffer that blocks allocate, and what is known of the loops around them.
class accesses {
 public:
  accesses(const std::vector<expr>& shape, const std::vector<access>& all,
           const arith::analyzer& known)
      : shape_(shape), all_(all), known_(known), sums_(shape, all, known) {}

  /// Whether an iteration of that loop may load what only an earlier one has stored.
  bool carried_by(std::size_t loop) {
    return support::any(all_, [&](const access& load) {
      const auto is_apart = [&](const access& store) {
        return !store.writes || apart(store, load, loop, against::earlier);
      };
      const auto is_cover = [&](const access& store) {
        return store.writes && cover(store, load, loop, shape_, known_).holds();
      };
      return !load.writes && !support::all(all_, is_apart) && support::none(all_, is_cover);
    });
  }

  /// Whether iterations of that loop touch different elements.
  bool apart_in(std::size_t loop) {
    return support::all(all_, [&](const access& store) {
      return !store.writes || support::all(all_, [&](const access& other) {
        return apart(store, other, loop, against::other);
      });
    });
  }

 private:
  /// The store touches other elements than `a` does, in earlier or in all other iterations of that
  /// loop, which is around both.
  bool apart(const access& store, const access& a, std::size_t loop, against iterations) {
    if (store.whole || a.whole) return false;
    for (std::size_t d = 0; d < store.indices.size(); ++d)
      if (steps_apart(sums_.of(store, d), store, sums_.of(a, d), a, loop, iterations, known_))
        return true;
    return store.indices.size() > 1 &&
           (digits_apart(store, a, loop, known_) ||
            steps_apart(sums_.flat(store), store, sums_.flat(a), a, loop, iterations, known_));
  }

  const std::vector<expr>& shape_;
  const std::vector<access>& all_;
  const arith::analyzer& known_;
  index_sums sums_;
};

}  // namespace tilewright::dependence::carried_values
