#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/allocation_places.hpp>
#include <tilewright/ir/external.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/hoist_statements.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::statements {

using namespace tilewright::ir;

/// What a statement does to memory.
struct effects {
  buffer_set loaded, stored;
  bool plain = true;  // it stores and does nothing else

  explicit effects(const stmt& s) : loaded(loaded_buffers(s)), stored(stored_buffers(s)) {
    for_each_stmt(s, [&](const stmt& x) {
      plain = plain && x->kind != stmt_kind::evaluate && x->kind != stmt_kind::while_loop &&
              x->kind != stmt_kind::attribute;
    });
    for_each_expr(s, [&](const expr& e) {
      plain = plain && e->op != op::data && !(e->op == op::call && find_external(e->name));
      if (e->op == op::data) {
        loaded.insert(e->buffer);
        stored.insert(e->buffer);
      }
    });
  }

  /// Whether it stores to what the other one stores to or loads from.
  bool changes(const effects& other) const {
    return support::any(stored, [&](const buffer& b) {
      return other.stored.count(b) != 0 || other.loaded.count(b) != 0;
    });
  }
};

inline bool uses_loop(const stmt& s, const var& v) {
  bool out = false;
  for_each_expr(s, [&](const expr& e) { out = out || e.same(v); });
  return out;
}

/// Whether the loop may be left by what is the same in all its iterations.
inline bool repeats(const loop_node& l) {
  return (l.loop == loop_kind::serial || l.loop == loop_kind::unrolled) && constant_extent(l) > 0;
}

/// A block in it has another name for a part of a buffer.
inline bool has_aliases(const stmt& s) {
  return any_stmt(s, [](const stmt& x) {
    const block_realize_node* r = as_realize(x);
    return r && !r->block->match_buffers.empty();
  });
}

/// The statements in a loop's body, below loops of one iteration.
struct loop_body {
  std::vector<const loop_node*> ones;  // outermost first
  std::vector<stmt> list;

  explicit loop_body(const loop_node& loop) {
    const stmt* at = &loop.body;
    for (const loop_node* l;
         (l = as_loop(*at)) != nullptr && is_unit(*l) && repeats(*l) && !uses_var(l->min, loop.var);
         at = &l->body)
      ones.push_back(l);
    const seq_node* all = as_seq(*at);
    list = all ? all->stmts : std::vector<stmt>{*at};
  }

  /// What variables of loops of one iteration stand for.
  var_map values() const {
    var_map out;
    for (const loop_node* l : ones) out[l->var] = substitute(l->min, out);
    return out;
  }
};

class hoister : public mutator {
 public:
  explicit hoister(const stmt& body) : body_(body) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    stmt out = mutator::mutate(s);
    const loop_node* loop = as_loop(out);
    return loop && repeats(*loop) && !is_unit(*loop) ? without_repetition(*loop, out) : out;
  }

 private:
  stmt without_repetition(const loop_node& loop, const stmt& unchanged) {
    const loop_body body(loop);
    const std::vector<bool> leaves = leaving(body.list, loop);
    if (!support::any(leaves, [](bool each) { return each; })) return unchanged;
    const var_map ones = body.values();
    std::vector<stmt> out, rest;
    for (std::size_t k = 0; k < leaves.size(); ++k)
      if (leaves[k])
        out.push_back(substitute(body.list[k], ones));
      else
        rest.push_back(body.list[k]);
    if (!rest.empty()) {
      stmt inside = make_seq(std::move(rest));
      for (std::size_t k = body.ones.size(); k-- > 0;)
        inside = with_body(*body.ones[k], std::move(inside));
      out.push_back(with_body(loop, std::move(inside)));
    }
    return make_seq(std::move(out));
  }

  /// Which of the statements leave the loop: of those that may by themselves, the most that nothing that
  /// stays holds back.
  std::vector<bool> leaving(const std::vector<stmt>& list, const loop_node& loop) {
    std::vector<bool> out;
    for (const stmt& s : list) out.push_back(!uses_loop(s, loop.var));
    if (!support::any(out, [](bool each) { return each; }) || has_aliases(loop.body))
      return std::vector<bool>(list.size(), false);
    std::vector<effects> all;
    for (const stmt& s : list) all.emplace_back(s);
    for (std::size_t k = 0; k < list.size(); ++k)
      out[k] = out[k] && all[k].plain &&
               support::none(all[k].stored, [&](const buffer& b) { return carries(loop.var, b); });
    for (bool settled = false; !settled;) {
      settled = true;
      for (std::size_t k = 0; k < list.size(); ++k)
        for (std::size_t other = 0; other < list.size() && out[k]; ++other)
          if (!out[other] && all[other].changes(all[k])) out[k] = settled = false;
    }
    return out;
  }

  /// Asked of the body as it was: a loop carries no more when other loops have lost what they repeat.
  bool carries(const var& loop, const buffer& b) {
    if (!lives_) lives_.emplace(body_);
    return lives_->carries(loop, b);
  }

  const stmt& body_;
  std::optional<lifetime::placer> lives_;
};

}  // namespace tilewright::pass::detail::statements

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function hoist_statements(const ir::function& f) {
  ir::function out = f;
  out.body = detail::statements::hoister(f.body).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
