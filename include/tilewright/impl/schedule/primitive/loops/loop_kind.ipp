#pragma once

#include <algorithm>
#include <string>

#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/analysis/thread_axes.hpp>
#include <tilewright/impl/schedule/legality/any_order.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/analysis/private_buffers.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/loops/loop_kind.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail {

inline ir::function set_loop_kind(const ir::function& f, const path& at, ir::loop_kind kind,
                                  std::string thread_axis = {}) {
  const ir::loop_node& old = *ir::as_loop(at.target());
  return replace(f, at,
                 ir::make_loop(old.var, old.min, old.extent, old.body, kind, old.annotations,
                               std::move(thread_axis)));
}

inline bool is_thread_axis(std::string_view text) {
  if (text == "vthread") return true;
  const std::size_t dot = text.find('.');
  if (dot == text.npos) return false;
  const std::string_view axis = text.substr(0, dot), dim = text.substr(dot + 1);
  return (axis == "blockIdx" || axis == "threadIdx" || axis == "vthread") &&
         (dim == "x" || dim == "y" || dim == "z");
}

/// The loop drives spatial and reduce iterators only.
inline bool drives_no_order(const block_scope& scope, const ir::var& loop) {
  return support::all(dependence::driven_iters(scope, loop), [](const dependence::driven_iter& v) {
    return v.kind == ir::iter_kind::spatial || v.kind == ir::iter_kind::reduce;
  });
}

/// The loop drives spatial iterators only, and reduce iterators of blocks that add atomically.
inline bool drives_no_sum(const block_scope& scope, const ir::var& loop) {
  return support::all(dependence::driven_iters(scope, loop), [](const dependence::driven_iter& v) {
    return v.kind == ir::iter_kind::spatial ||
           (v.kind == ir::iter_kind::reduce && ir::adds_atomically(*v.block));
  });
}

/// A block in the nest of one that adds atomically below the loop, which touches what that one adds to: blocks of
/// threads would have to wait for each other between the two. -1: none.
inline int meets_additions(const block_scope& scope, const ir::var& loop) {
  for (std::size_t a = 0; a < scope.size(); ++a) {
    const ir::block_node& adds = scope[a].block();
    if (loop_index(scope[a].loops, loop) < 0 || !ir::adds_atomically(adds)) continue;
    const ir::buffer& to = ir::only_addition(adds.body)->buffer;
    for (std::size_t other = 0; other < scope.size(); ++other)
      if (other != a && scope.common_loops(a, other) > 0 &&
          (ir::writes_buffer(scope[other].block(), to) ||
           ir::reads_buffer(scope[other].block(), to)))
        return static_cast<int>(other);
  }
  return -1;
}

inline ir::function run_concurrently(const ir::function& f, const ir::var& loop, ir::loop_kind kind,
                                     const char* primitive, const std::string& thread_axis = {}) {
  // asked of what comes out: threads have less for themselves where they copy jointly
  ir::function out = set_loop_kind(f, need_loop(f, loop, primitive), kind, thread_axis);
  const path at = find_loop(out, loop);
  const block_scope scope(*at.scope()->block);
  ir::private_buffers own(out.body);
  check_any_order(scope, loop, own, refusal{primitive}, 1, kind == ir::loop_kind::thread_binding);
  const bool adds_up = thread_axis.starts_with("threadIdx");
  const bool blocks = thread_axis.starts_with("blockIdx");
  if (!(adds_up  ? drives_no_order(scope, loop)
        : blocks ? drives_no_sum(scope, loop)
                 : iter_kind_of(scope, loop) == loop_iter_kind::spatial))
    refusal{primitive}(2, {"loop \"", loop->name,
                           "\" drives iterators that are not spatial; decompose or factor the "
                           "reduction, or choose another loop"});
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE ir::function parallel(const ir::function& f, const ir::var& loop) {
  return detail::run_concurrently(f, loop, ir::loop_kind::parallel, "parallel");
}

TILEWRIGHT_INLINE ir::function vectorize(const ir::function& f, const ir::var& loop) {
  return detail::run_concurrently(f, loop, ir::loop_kind::vectorized, "vectorize");
}

TILEWRIGHT_INLINE ir::function bind(const ir::function& f, const ir::var& loop,
                                    const std::string& thread_axis) {
  if (!detail::is_thread_axis(thread_axis))
    refusal{"bind"}(3, {"\"", thread_axis, "\" is no thread axis; there are blockIdx.x, ",
                        "threadIdx.x, vthread.x, the same with .y and .z, and vthread"});
  ir::function out =
      detail::run_concurrently(f, loop, ir::loop_kind::thread_binding, "bind", thread_axis);
  const path at = find_loop(f, loop);
  if (const ir::loop_node* same = detail::same_axis(f, at, thread_axis))
    refusal{"bind"}(4, {quoted(*same), " of the same nest is bound to ", thread_axis,
                        ", and the two are not of one length or the inner one does ",
                        "not the same in all iterations: a thread has one place on an axis"});
  if (thread_axis.starts_with("blockIdx")) {
    const path bound = find_loop(out, loop);
    const block_scope scope(*bound.scope()->block);
    if (const int block = detail::meets_additions(scope, loop); block >= 0)
      refusal{"bind"}(5,
                      {quoted(scope[block].block()), " in the nest of loop \"", loop->name,
                       "\" touches what a block there adds to atomically, and blocks of threads ",
                       "do not wait for each other; give it a nest of its own"});
  }
  return out;
}

TILEWRIGHT_INLINE ir::function unroll(const ir::function& f, const ir::var& loop) {
  const path at = need_loop(f, loop, "unroll");
  const ir::loop_node& threads = *ir::as_loop(at.target());
  ir::for_each_stmt(threads.body, [&](const ir::stmt& s) {
    const ir::block_realize_node* r = ir::as_realize(s);
    if (r && ir::copies_jointly(*r->block, threads))
      refusal{"unroll"}(1, {"the threads of loop \"", loop->name, "\" make the copy of ",
                            quoted(*r->block), " jointly, and must stay"});
  });
  return detail::set_loop_kind(f, at, ir::loop_kind::unrolled);
}

}  // namespace tilewright::primitive
