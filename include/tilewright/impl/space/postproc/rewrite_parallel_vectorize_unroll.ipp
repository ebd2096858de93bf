#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space {
namespace detail::loop_kinds {

struct wishes {
  std::int64_t parallel = 0, vectorize = 0, unroll = 0;  // 0: none
  bool explicit_unroll = true;
  bool any() const { return parallel > 0 || vectorize > 0 || unroll > 0; }
};

/// Takes an integer annotation from the root; 0 where there is none.
inline std::int64_t take(schedule& s, const std::string& root, const char* key) {
  const ir::annotations& notes = named_block(s, root).block->annotations;
  const auto note = notes.find(key);
  if (note == notes.end()) return 0;
  const auto* n = std::get_if<std::int64_t>(&note->second.value);
  const std::int64_t out = n ? *n : 0;
  s.unannotate(s.get_block(root), key);
  return out;
}

inline wishes take_wishes(schedule& s) {
  const std::string root = ir::root_block(s.function())->name;  // of a block that changes
  wishes out;
  out.parallel = take(s, root, "meta_schedule.parallel");
  out.vectorize = take(s, root, "meta_schedule.vectorize");
  out.unroll = take(s, root, "meta_schedule.unroll_implicit");
  out.explicit_unroll = out.unroll <= 0;
  out.unroll = std::max(out.unroll, take(s, root, "meta_schedule.unroll_explicit"));
  return out;
}

/// A loop that may still become something: serial, without notes, spatial, of constant extent.
inline bool is_free(const primitive::block_scope& scope, const ir::loop_node& loop) {
  return loop.loop == ir::loop_kind::serial && loop.annotations.empty() &&
         ir::is_int(loop.extent) && ir::is_int(loop.min, 0) &&
         primitive::iter_kind_of(scope, loop.var) == primitive::loop_iter_kind::spatial;
}

inline bool has_one_child(const ir::loop_node& loop) {
  return ir::as_loop(loop.body) || ir::as_realize(loop.body);
}

/// Row-major steps through a buffer, one per dimension; empty where the shape is not constant.
inline std::vector<std::int64_t> steps_of(const ir::buffer& b) {
  std::vector<std::int64_t> out(b->shape.size(), 1);
  for (std::size_t d = out.size(); d-- > 0;) {
    if (!ir::is_int(b->shape[d])) return {};
    if (d > 0) out[d - 1] = out[d] * b->shape[d]->integer;
  }
  return out;
}

/// How many of the innermost loops walk a region as one loop would: without a step, or each with
/// the step times the extent of the one inside. The innermost one may have any step.
inline std::size_t contiguous_loops(const primitive::child_block& child,
                                    const ir::buffer_region& region) {
  const std::vector<std::int64_t> dims = steps_of(region.buffer);
  if (dims.size() != region.box.size()) return 0;
  std::vector<std::int64_t> step(child.loops.size(), 0);
  for (std::size_t d = 0; d < dims.size(); ++d)
    for (const auto& [term, coefficient] : primitive::in_loops(region.box[d].min, child).terms)
      if (const int l = primitive::loop_index(child.loops, term); l >= 0)
        step[static_cast<std::size_t>(l)] = coefficient * dims[d];
  std::int64_t expected = 0;  // of the next loop outwards that moves; 0: none inside does
  for (std::size_t n = 0; n < step.size(); ++n) {
    const std::size_t l = step.size() - 1 - n;
    if (step[l] == 0) continue;
    const bool fits = expected == 0 ? n == 0 || step[l] == 1 : step[l] == expected;
    if (!fits || !ir::is_int(child.loops[l]->extent)) return n;
    expected = step[l] * child.loops[l]->extent->integer;
  }
  return step.size();
}

inline std::size_t contiguous_loops(const primitive::child_block& child) {
  std::size_t out = child.loops.size();
  for (const auto* regions : {&child.block().reads, &child.block().writes})
    for (const ir::buffer_region& r : *regions) out = std::min(out, contiguous_loops(child, r));
  return out;
}

/// Loops to become parallel and vectorized, from outside and from inside.
struct plan {
  std::size_t parallel = 0, vectorized = 0;
  bool whole = false;  // all loops as one, split in two
};

inline plan make_plan(const primitive::block_scope& scope, const primitive::child_block& child,
                      const wishes& w) {
  const std::vector<const ir::loop_node*>& loops = child.loops;
  plan out;
  std::size_t free = 0;
  while (free < loops.size() && is_free(scope, *loops[free])) ++free;
  std::int64_t iterations = 1;
  for (std::size_t l = 0; w.parallel > 0 && l < free && iterations <= w.parallel; ++l) {
    iterations *= loops[l]->extent->integer;
    out.parallel = l + 1;
    if (!has_one_child(*loops[l])) break;
  }
  if (iterations == 1) out.parallel = 0;

  const std::size_t fusible = w.vectorize > 0 ? contiguous_loops(child) : 0;
  std::int64_t lanes = 1;
  for (std::size_t n = 0; n < fusible; ++n) {
    const ir::loop_node& loop = *loops[loops.size() - 1 - n];
    if (!is_free(scope, loop) || !has_one_child(loop) || lanes * loop.extent->integer > w.vectorize)
      break;
    lanes *= loop.extent->integer;
    out.vectorized = n + 1;
  }
  if (lanes == 1) out.vectorized = 0;
  std::int64_t all = 1;
  bool chain = free == loops.size() && fusible == loops.size();
  for (const ir::loop_node* l : loops) {
    chain = chain && has_one_child(*l);
    all *= chain ? l->extent->integer : 1;
  }
  out.whole = chain && w.parallel > 0 && w.vectorize > 0 && all > w.vectorize;
  out.parallel = std::min(out.parallel, loops.size() - out.vectorized);
  return out;
}

inline loop_rv fused(schedule& s, const std::vector<loop_rv>& loops) {
  return loops.size() == 1 ? loops[0] : s.fuse(loops);
}

inline void apply(schedule& s, const std::string& name, const plan& p, const wishes& w) {
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  if (p.whole) {
    const auto [outer, lanes] = s.split(fused(s, loops), {infer, static_cast<int>(w.vectorize)});
    s.parallel(outer);
    s.vectorize(lanes);
    return;
  }
  const auto inside = loops.end() - static_cast<std::ptrdiff_t>(p.vectorized);
  const auto outside = loops.begin() + static_cast<std::ptrdiff_t>(p.parallel);
  if (p.parallel > 0) s.parallel(fused(s, {loops.begin(), outside}));
  if (p.vectorized > 0) s.vectorize(fused(s, {inside, loops.end()}));
}

inline void ask_to_unroll(schedule& s, const std::string& name, const wishes& w) {
  const std::vector<ir::iter_var>& iters = named_block(s, name).block->iters;
  const bool spatial =
      support::all(iters, [](const ir::iter_var& i) { return i.kind == ir::iter_kind::spatial; });
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  if (spatial || s.get(loops[0]).annotations.count(ir::unroll_note)) return;
  s.annotate(loops[0], ir::unroll_note, w.unroll);
  s.annotate(loops[0], ir::explicit_unroll_note, w.explicit_unroll ? 1 : 0);
}

}  // namespace detail::loop_kinds

TILEWRIGHT_INLINE void rewrite_parallel_vectorize_unroll::operator()(schedule& s,
                                                                     const context&) const {
  using namespace detail::loop_kinds;
  const wishes w = take_wishes(s);
  if (!w.any()) return;
  for (const std::string& name : root_block_names(s)) {
    if (loop_count(s, name) == 0) continue;
    const ir::block root = ir::root_block(s.function());
    const primitive::block_scope scope(*root);
    const int at = scope.find(named_block(s, name).block->id);
    apply(s, name, make_plan(scope, scope[static_cast<std::size_t>(at)], w), w);
    if (w.unroll > 0) ask_to_unroll(s, name, w);
  }
}

}  // namespace tilewright::space
