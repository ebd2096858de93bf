#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::pass::detail::unify {

using namespace tilewright::ir;

/// The axes of a grid in the order of a kernel's loops.
inline constexpr std::array<std::string_view, 6> axes{"blockIdx.z",  "blockIdx.y",  "blockIdx.x",
                                                      "threadIdx.z", "threadIdx.y", "threadIdx.x"};
inline constexpr std::size_t first_thread_axis = 3;

inline std::size_t axis_of(const loop_node& loop) {
  if (loop.loop != loop_kind::thread_binding) return axes.size();
  const auto at = std::find(axes.begin(), axes.end(), loop.thread_tag);
  if (at == axes.end())
    throw build_error(
        "loop " + loop.var->name + " is bound to \"" + loop.thread_tag +
        "\", which is no axis of a grid; bind it to blockIdx or threadIdx .x, .y or .z");
  return static_cast<std::size_t>(at - axes.begin());
}

using axis_set = std::array<bool, axes.size()>;

/// The axes that loops in each statement of a kernel are bound to.
class axes_of_statements {
 public:
  explicit axes_of_statements(const stmt& s) { note(s); }

  axis_set in(const stmt& s) const {
    const auto found = axes_.find(s.get());
    return found == axes_.end() ? axis_set{} : found->second;
  }

 private:
  axis_set note(const stmt& s) {
    axis_set out{};
    any_child(s, [&](const stmt& child) {
      const axis_set more = note(child);
      for (std::size_t a = 0; a < axes.size(); ++a) out[a] = out[a] || more[a];
      return false;
    });
    const loop_node* loop = as_loop(s);
    if (loop && loop->loop == loop_kind::thread_binding) out[axis_of(*loop)] = true;
    if (out != axis_set{}) axes_.emplace(s.get(), out);
    return out;
  }

  std::unordered_map<const stmt_node*, axis_set> axes_;  // of those that hold such a loop
};

class unifier : public mutator {
 public:
  using mutator::mutate;

  explicit unifier(const stmt& kernel) : axes_of_(kernel) {}

  stmt kernel(const stmt& s) {
    measure(s);
    if (extents_[0] == 0 && extents_[1] == 0 && extents_[2] == 0) extents_[2] = 1;
    for (std::size_t a = 0; a < axes.size(); ++a)
      if (extents_[a] > 0) vars_[a] = make_var(short_name(a));
    stmt body = alone(mutate_below(s), s);
    const auto outermost = support::find(extents_, [](auto e) { return e > 0; });
    for (std::size_t a = axes.size(); a-- > 0;)
      if (extents_[a] > 0)
        body =
            make_loop(vars_[a], integer(dtype::i32, 0), integer(dtype::i32, extents_[a]),
                      std::move(body), loop_kind::thread_binding,
                      &extents_[a] == &*outermost ? notes_ : annotations{}, std::string(axes[a]));
    return body;
  }

  stmt mutate(const stmt& s) override { return alone(mutate_below(s), s); }

  expr mutate(const expr& e) override {
    if (e->op != op::var) return mutator::mutate(e);
    const auto found = places_.find(e);
    return found == places_.end() ? e : found->second;
  }

  buffer mutate(const buffer& b) override {
    const auto found = moved_.find(b);
    return found == moved_.end() ? b : found->second;
  }

 private:
  static std::string short_name(std::size_t axis) {
    const std::string_view tag = axes[axis];
    return std::string(axis < first_thread_axis ? "b" : "t") + tag.back();
  }

  void measure(const stmt& s) {
    bool blocks_inside = false;
    for_each_stmt(s, [&](const stmt& x) {
      const loop_node* loop = as_loop(x);
      if (!loop || loop->loop != loop_kind::thread_binding) return;
      const std::size_t a = axis_of(*loop);
      if (!is_int(loop->min) || !is_int(loop->extent))
        throw build_error("loop " + loop->var->name + " is bound to " + loop->thread_tag +
                          " and has an extent that is no constant; bind all extents");
      extents_[a] = std::max(extents_[a], as_int(loop->extent));
      notes_.insert(loop->annotations.begin(), loop->annotations.end());
      blocks_inside = blocks_inside || a < first_thread_axis;
    });
    if (blocks_inside) check_blocks(s);
  }

  /// Iterations of a serial loop around a grid would have to wait for each other across blocks.
  void check_blocks(const stmt& s) const {
    any_stmt(s, [&](const stmt& x) {
      const loop_node* loop = as_loop(x);
      if (!loop || loop->loop == loop_kind::thread_binding || is_unit(*loop)) return false;
      const axis_set inside = axes_of_.in(loop->body);
      if (inside[0] || inside[1] || inside[2])
        throw build_error("loop " + loop->var->name +
                          " stands around loops bound to blockIdx, whose blocks would have to wait "
                          "for each other; bind the outer loop, or move it inside");
      return false;
    });
  }

  /// What stands outside of every loop on an axis, and holds none, is done where the axis is 0.
  stmt alone(stmt out, const stmt& s) {
    if (s->kind == stmt_kind::seq || s->kind == stmt_kind::allocate || s->kind == stmt_kind::let ||
        is_nothing(out))
      return out;  // their parts are asked
    const axis_set inside = axes_of_.in(s);
    std::vector<expr> terms;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (extents_[a] <= 1 || bound_[a] || guarded_[a]) continue;
      if (inside[a]) continue;
      terms.push_back(eq(vars_[a], integer(dtype::i32, 0)));
    }
    return terms.empty() ? out : make_if(conjunction(terms), std::move(out));
  }

  /// `s` without the guards that `alone` puts around it; nothing inside asks for them again.
  stmt mutate_below(const stmt& s) {
    const axis_set bound = bound_, guarded = guarded_;
    stmt out;
    if (s->kind == stmt_kind::allocate) {
      out = mutate_allocate(*as_allocate(s));
    } else if (s->kind == stmt_kind::seq || s->kind == stmt_kind::let) {
      out = mutator::mutate(s);
    } else {
      const axis_set inside = axes_of_.in(s);
      for (std::size_t a = 0; a < axes.size(); ++a)
        if (!bound_[a] && !inside[a]) guarded_[a] = true;
      const loop_node* loop = as_loop(s);
      out = loop && loop->loop == loop_kind::thread_binding ? mutate_bound(*loop)
                                                            : mutator::mutate(s);
    }
    bound_ = bound;
    guarded_ = guarded;
    return out;
  }

  stmt mutate_bound(const loop_node& loop) {
    const std::size_t a = axis_of(loop);
    if (bound_[a] && as_int(loop.extent) > around_[a])
      throw build_error("loop " + loop.var->name + " on " + loop.thread_tag + " has " +
                        std::to_string(as_int(loop.extent)) + " iterations inside of a loop of " +
                        std::to_string(around_[a]) + " on that axis; give them one extent");
    const std::int64_t around = std::exchange(around_[a], as_int(loop.extent));
    bound_[a] = true;
    expr value = vars_[a] + integer(dtype::i32, as_int(loop.min));
    if (value.type() != loop.var.type()) value = cast(loop.var.type(), value);
    places_[loop.var] = std::move(value);
    stmt body = mutate(loop.body);
    around_[a] = around;
    if (as_int(loop.extent) >= extents_[a]) return body;
    return make_if(lt(vars_[a], integer(dtype::i32, as_int(loop.extent))), std::move(body));
  }

  bool has_threads() const {
    return std::any_of(extents_.begin() + first_thread_axis, extents_.end(),
                       [](std::int64_t e) { return e > 1; });
  }

  stmt mutate_allocate(const allocate_node& n) {
    buffer b = n.buffer;
    if (storage_rank(b->scope) == 0) {
      const bool in_thread = bound_[3] || bound_[4] || bound_[5] || !has_threads();
      buffer_node node = *b;
      node.scope = in_thread ? "local" : "shared";
      moved_[n.buffer] = b = buffer(new buffer_node(std::move(node)));
    }
    return make_allocate(b, mutate(n.body));
  }

  axes_of_statements axes_of_;
  std::array<std::int64_t, axes.size()> extents_{}, around_{};
  std::array<var, axes.size()> vars_;
  annotations notes_;  // of loops on threads, for the outermost loop of the kernel
  axis_set bound_{}, guarded_{};
  var_map places_;  // of loops' variables in the grid
  buffer_map moved_;
};

/// Kernels are what stands below the allocations that several of them share.
inline stmt unify_below(const stmt& s) {
  if (const seq_node* seq = as_seq(s)) {
    std::vector<stmt> out;
    for (const stmt& child : seq->stmts) out.push_back(unify_below(child));
    return make_seq(std::move(out));
  }
  if (const allocate_node* n = as_allocate(s); n && storage_rank(n->buffer->scope) == 0)
    return make_allocate(n->buffer, unify_below(n->body));
  return unifier(s).kernel(s);
}

}  // namespace tilewright::pass::detail::unify

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function unify_threads(const ir::function& f) {
  ir::function out = f;
  out.body = detail::unify::unify_below(f.body);
  return out;
}

TILEWRIGHT_INLINE kernel_nest nest_of(const ir::stmt& kernel) {
  kernel_nest out;
  out.body = kernel;
  for (;;) {
    if (const ir::loop_node* loop = ir::as_loop(out.body);
        loop && loop->loop == ir::loop_kind::thread_binding) {
      (loop->thread_tag.rfind("blockIdx", 0) == 0 ? out.blocks : out.threads).push_back(loop);
      out.body = loop->body;
    } else if (const ir::allocate_node* n = ir::as_allocate(out.body);
               n && out.threads.empty() && ir::storage_rank(n->buffer->scope) == 1 &&
               !(out.blocks.empty() && out.threads.empty())) {
      out.shared.push_back(n->buffer);
      out.body = n->body;
    } else {
      return out;
    }
  }
}

TILEWRIGHT_INLINE ir::stmt rewrite_kernels(const ir::stmt& s,
                                           const std::function<ir::stmt(const ir::stmt&)>& f) {
  if (const ir::seq_node* seq = ir::as_seq(s)) {
    std::vector<ir::stmt> out;
    for (const ir::stmt& child : seq->stmts) out.push_back(rewrite_kernels(child, f));
    return ir::make_seq(std::move(out));
  }
  if (const ir::allocate_node* n = ir::as_allocate(s))
    return ir::make_allocate(n->buffer, rewrite_kernels(n->body, f));
  return f(s);
}

TILEWRIGHT_INLINE ir::stmt with_kernel_body(const kernel_nest& nest, std::vector<ir::buffer> shared,
                                            ir::stmt body) {
  const auto around = [&](const std::vector<const ir::loop_node*>& loops) {
    for (auto l = loops.rbegin(); l != loops.rend(); ++l) body = ir::with_body(**l, body);
  };
  around(nest.threads);
  for (auto b = shared.rbegin(); b != shared.rend(); ++b) body = ir::make_allocate(*b, body);
  around(nest.blocks);
  return body;
}

}  // namespace tilewright::pass
