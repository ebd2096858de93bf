// What no primitive may give up: what iterations that run at once compute each for itself stays theirs.
//
// As long as all that use a buffer stand below a loop whose iterations run at once, each iteration
// has the buffer for itself and may write what the others write too. A reader, a copy or a second
// nest outside of the loop makes one buffer of them, and a block that moves below such a loop, or
// gets another result, may begin to write what others see. One question after every primitive finds
// all of these, whatever the primitive did.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/impl/ir/interpret_private.hpp>
#include <tilewright/impl/schedule/concurrency.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/analysis.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

namespace tilewright::primitive::detail {

/// A block that writes the same elements in iterations of a loop which run at once, although the
/// loop is not around all that use them.
struct racing_write {
  const ir::block_node* block = nullptr;
  const ir::loop_node* loop = nullptr;
};

/// Finds them in a program.
class racing_writes : ir::visitor {
 public:
  static std::vector<racing_write> in(const ir::function& f) {
    racing_writes all(f);
    all.visit(f.body);
    return std::move(all.found_);
  }

 private:
  explicit racing_writes(const ir::function& f) : f_(f) {}

  using ir::visitor::visit;
  void visit(const ir::expr&) override {}
  void visit(const ir::stmt& s) override {
    const ir::loop_node* loop = ir::as_loop(s);
    concurrent_ = concurrent_ || (loop && runs_at_once(*loop));
    ir::visitor::visit(s);
  }
  void visit(const ir::block& b) override {
    const bool around = std::exchange(concurrent_, false);
    ir::visitor::visit(b);
    if (concurrent_) look_into(block_scope(*b));
    concurrent_ = around;
  }

  void look_into(const block_scope& scope) {
    for (std::size_t c = 0; c < scope.size(); ++c)
      for (std::size_t l = 0; l < scope[c].loops.size(); ++l) {
        const ir::loop_node& loop = *scope[c].loops[l];
        if (!runs_at_once(loop) || copied_together(scope[c].block(), loop) ||
            writes_apart(scope, c, l) || shared_writes_apart(scope[c], l))
          continue;
        found_.push_back({&*scope[c].realize->block, &loop});
        break;
      }
  }

  /// The same without what only this loop's iterations use, whoever allocates it.
  bool shared_writes_apart(const child_block& c, std::size_t l) {
    const ir::loop_node& loop = *c.loops[l];
    if (!owners_) owners_.emplace(f_.body);
    auto shared = std::make_shared<ir::block_node>(c.block());
    std::erase_if(shared->writes, [&](const ir::buffer_region& w) {
      const std::vector<const ir::loop_node*>& owners = owners_->of(w.buffer);
      return std::find(owners.begin(), owners.end(), &loop) != owners.end() && !is_param(w.buffer);
    });
    if (shared->writes.size() == c.block().writes.size()) return false;
    child_block rest = c;
    rest.widened = std::move(shared);
    return rest.block().writes.empty() || iterations_apart(rest, l);
  }
  bool is_param(const ir::buffer& b) const {
    return std::any_of(f_.params.begin(), f_.params.end(),
                       [&](const ir::param& p) { return p.buffer == b; });
  }

  const ir::function& f_;
  std::optional<ir::detail::interp::private_loops> owners_;
  std::vector<racing_write> found_;
  bool concurrent_ = false;  // such a loop stands in the innermost block around
};

/// Whether programs differ in nothing but the kinds of loops and in annotations. What is the same
/// node is the same, so that only the way down to a change is walked.
inline bool same_nests(const ir::stmt& a, const ir::stmt& b);

inline bool same_nests(const ir::block_node& a, const ir::block_node& b) {
  const auto same_range = [](const ir::range& x, const ir::range& y) {
    return x.min.same(y.min) && x.extent.same(y.extent);
  };
  const auto same_region = [&](const ir::buffer_region& x, const ir::buffer_region& y) {
    return x.buffer == y.buffer &&
           std::equal(x.box.begin(), x.box.end(), y.box.begin(), y.box.end(), same_range);
  };
  const auto same_iter = [&](const ir::iter_var& x, const ir::iter_var& y) {
    return x.var.same(y.var) && x.kind == y.kind && same_range(x.dom, y.dom);
  };
  const auto same_regions = [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_region);
  };
  return a.alloc_buffers == b.alloc_buffers && a.match_buffers.empty() && b.match_buffers.empty() &&
         std::equal(a.iters.begin(), a.iters.end(), b.iters.begin(), b.iters.end(), same_iter) &&
         same_regions(a.reads, b.reads) && same_regions(a.writes, b.writes) &&
         same_nests(a.init, b.init) && same_nests(a.body, b.body);
}

inline bool same_nests(const ir::stmt& a, const ir::stmt& b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind) return false;
  if (const ir::loop_node* x = ir::as_loop(a)) {
    const ir::loop_node* y = ir::as_loop(b);
    return x->var.same(y->var) && x->min.same(y->min) && x->extent.same(y->extent) &&
           same_nests(x->body, y->body);
  }
  if (const ir::seq_node* x = ir::as_seq(a)) {
    const std::vector<ir::stmt>& other = ir::as_seq(b)->stmts;
    return std::equal(x->stmts.begin(), x->stmts.end(), other.begin(), other.end(),
                      [](const ir::stmt& p, const ir::stmt& q) { return same_nests(p, q); });
  }
  if (const ir::block_realize_node* x = ir::as_realize(a)) {
    const ir::block_realize_node* y = ir::as_realize(b);
    return x->predicate.same(y->predicate) &&
           std::equal(x->values.begin(), x->values.end(), y->values.begin(), y->values.end(),
                      [](const ir::expr& p, const ir::expr& q) { return p.same(q); }) &&
           same_nests(*x->block, *y->block);
  }
  return false;
}

/// Requirement 0 of the primitive. A block that wrote so before is believed, as one that scatters.
/// @throws schedule_error
inline void check_private(std::string_view primitive, const ir::function& before,
                          const ir::function& after) {
  if (as_tvm() || !holds_concurrent_loop(after.body)) return;
  // those that give a loop its kind ask themselves whether its iterations may run at once
  if (same_nests(before.body, after.body)) return;
  const std::vector<racing_write> now = racing_writes::in(after);
  if (now.empty()) return;
  const std::vector<racing_write> then = racing_writes::in(before);
  for (const racing_write& w : now)
    if (std::none_of(then.begin(), then.end(),
                     [&](const racing_write& old) { return old.block->id == w.block->id; }))
      throw schedule_error(std::string(primitive), 0,
                           "iterations of loop \"" + w.loop->var->name +
                               "\", which run at once, would write the same elements in block \"" +
                               w.block->name + "\", and not each for itself");
}

/// Whether a primitive accepts a call: `attempt` makes it and gives the function that comes out.
template <class Attempt>
bool accepts(std::string_view primitive, const ir::function& f, const Attempt& attempt) {
  try {
    check_private(primitive, f, attempt());
    return true;
  } catch (const schedule_error&) {
    return false;
  }
}

}  // namespace tilewright::primitive::detail
