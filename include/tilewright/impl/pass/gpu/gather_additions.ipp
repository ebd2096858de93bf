#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/gather_additions.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::additions {

using namespace tilewright::ir;

/// The one addition below a loop, with what stands between the two.
struct nest {
  stmt addition;                      // the attribute and what is inside of it
  const store_node* store = nullptr;  // in there
  var_set defined;                    // by loops and lets in between
  std::vector<expr> conditions;       // of ifs in between, and inside of the addition
  bool may_be_empty = false;          // some loop may have no iteration
  bool follows = false;               // the element changes along the loop
};

/// Whether threads run the loop, or its iterations are lanes.
inline bool is_plain(const loop_node& n) {
  return n.loop == loop_kind::serial || n.loop == loop_kind::unrolled;
}

inline bool look(const stmt& s, nest& out) {
  switch (s->kind) {
    case stmt_kind::loop: {
      const loop_node& n = *as_loop(s);
      if (!is_plain(n)) return false;
      out.defined.insert(n.var);
      out.may_be_empty = out.may_be_empty || constant_extent(n) <= 0;
      return look(n.body, out);
    }
    case stmt_kind::let: out.defined.insert(as_let(s)->var); return look(as_let(s)->body, out);
    case stmt_kind::if_else:
      if (as_if(s)->else_body) return false;
      out.conditions.push_back(as_if(s)->condition);
      return look(as_if(s)->then_body, out);
    case stmt_kind::attribute:
      if (as_attribute(s)->key == atomic_note && !out.addition) out.addition = s;
      return look(as_attribute(s)->body, out);
    case stmt_kind::store: out.store = as_store(s); return out.addition && only_addition(s);
    default: return false;
  }
}

/// The nest of a loop whose terms go to one element, or to one that follows what is loaded, as rows of elements do: many
/// of these come one after the other.
inline std::optional<nest> nest_below(const stmt& loop) {
  nest out;
  if (!look(loop, out)) return std::nullopt;
  const buffer& to = out.store->buffer;
  int loads = 0;
  for_each_expr(loop, [&](const expr& e) { loads += e->op == op::load && e->buffer == to; });
  if (loads != 1) return std::nullopt;  // that of the addition
  bool loaded = false;
  for (const expr& at : out.store->indices)
    if (uses_any(at, out.defined)) {
      out.follows = true;
      loaded = loaded || reads_memory(at);
    }
  return out.follows && !loaded ? std::nullopt : std::optional<nest>(std::move(out));
}

inline std::vector<expr> only() { return {expr(0)}; }
inline stmt set(const buffer& b, const expr& to) { return make_store(b, only(), to); }
inline expr number(const buffer& b, std::int64_t n) { return integer(b->type, n); }

/// What a thread keeps while it goes through a loop.
struct own_sum {
  buffer sum;
  buffer any;                // 1: there was a term; null where there always is one
  std::vector<buffer> last;  // [dimensions] of the element; null where that stays the same

  explicit own_sum(const nest& n) {
    const buffer& to = n.store->buffer;
    const auto local = [&](const std::string& what, dtype type) {
      return make_buffer(to->name + "_" + what, type, {expr(1)}, "local");
    };
    sum = local("sum", to->type);
    bool chooses = n.may_be_empty || n.follows;
    for (const expr& c : n.conditions)
      chooses = chooses || uses_any(c, n.defined) || reads_memory(c);
    if (chooses) any = local("any", dtype::i32);
    for (std::size_t d = 0; d < n.store->indices.size(); ++d) {
      const expr& at = n.store->indices[d];
      last.push_back(uses_any(at, n.defined) ? local("at" + std::to_string(d), at.type())
                                             : buffer{});
    }
  }

  expr has_any() const { return ne(load(any, only()), number(any, 0)); }

  /// Memory adds the sum to the element that was the last one.
  stmt delivered(const nest& n) const {
    std::vector<expr> at = n.store->indices;
    for (std::size_t d = 0; d < at.size(); ++d)
      if (last[d]) at[d] = load(last[d], only());
    const buffer& to = n.store->buffer;
    return make_attribute(integer(dtype::i32, 0), atomic_note, integer(dtype::i32, 1),
                          make_store(to, at, load(to, at) + load(sum, only())));
  }

  /// In place of the addition: one to the sum; before it, what was summed for another element is delivered.
  stmt taken(const nest& n) const {
    stmt out = set(sum, load(sum, only()) + addend(*n.store));
    if (!n.follows)
      return any ? make_seq({std::move(out), set(any, number(any, 1))}) : std::move(out);
    expr other = logical_not(has_any());
    std::vector<stmt> begin{make_if(has_any(), delivered(n)), set(sum, literal(sum->type, 0)),
                            set(any, number(any, 1))};
    std::vector<std::pair<var, expr>> places;
    for (std::size_t d = 0; d < last.size(); ++d) {
      if (!last[d]) continue;
      const var place = make_var(last[d]->name + "_next", last[d]->type);
      other = logical_or(other, ne(place, load(last[d], only())));
      begin.push_back(set(last[d], place));
      places.emplace_back(place, n.store->indices[d]);
    }
    out = make_seq({make_if(other, make_seq(std::move(begin))), std::move(out)});
    for (auto p = places.rbegin(); p != places.rend(); ++p)
      out = make_let(p->first, p->second, std::move(out));
    return out;
  }

  stmt allocated(stmt body) const {
    std::vector<buffer> all = last;
    all.push_back(any);
    all.push_back(sum);
    for (const buffer& b : all)
      if (b) body = make_allocate(b, std::move(body));
    return body;
  }
};

class gatherer : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* n = as_loop(s);
    if (n && is_plain(*n))
      if (const std::optional<nest> found = nest_below(s)) return gathered(s, *found);
    return mutator::mutate(s);
  }

 private:
  struct to_own : mutator {
    to_own(const nest& of, const own_sum& in) : n(of), own(in) {}
    using mutator::mutate;
    stmt mutate(const stmt& s) override {
      if (s == n.addition) return mutate(as_attribute(s)->body);
      return as_store(s) == n.store ? own.taken(n) : mutator::mutate(s);
    }
    const nest& n;
    const own_sum& own;
  };

  static stmt gathered(const stmt& loop, const nest& n) {
    const own_sum own(n);
    std::vector<stmt> body{set(own.sum, literal(own.sum->type, 0))};
    if (own.any) body.push_back(set(own.any, number(own.any, 0)));
    // places of no element, so that nothing is read that was never written
    for (const buffer& b : own.last)
      if (b) body.push_back(set(b, number(b, -1)));
    body.push_back(to_own(n, own).mutate(loop));
    std::vector<expr> around;  // conditions that are the same for all terms
    for (const expr& c : n.conditions)
      if (!uses_any(c, n.defined) && !reads_memory(c)) around.push_back(c);
    if (own.any) around.push_back(own.has_any());
    stmt last = own.delivered(n);
    body.push_back(around.empty() ? std::move(last)
                                  : make_if(conjunction(around), std::move(last)));
    return own.allocated(make_seq(std::move(body)));
  }
};

}  // namespace tilewright::pass::detail::additions

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function gather_additions(const ir::function& f) {
  ir::function out = f;
  out.body = detail::additions::gatherer().mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
