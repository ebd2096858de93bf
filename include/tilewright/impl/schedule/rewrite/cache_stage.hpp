// What the caches have in common: where the copy goes, what it copies, and who then uses it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <tilewright/impl/dependence/binding/domain_inference.hpp>
#include <tilewright/impl/dependence/binding/inner_guards.hpp>
#include <tilewright/impl/schedule/analysis/readable_region.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/rewrite/block_buffers.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::cache_stage {

using arith::bounds;

struct call {
  const char* name;
  const std::string& storage;
};

/// Uses a cache instead of a buffer, whose place `offset` is the cache's place 0. What stands around
/// blocks, and what the domains of their variables load, is in no box and stays, unless `everywhere`.
class redirection : public ir::rerouting {
 public:
  redirection(ir::buffer from, ir::buffer to, std::vector<arith::linear> offset = {},
              bool everywhere = false)
      : from_(std::move(from)),
        to_(std::move(to)),
        offset_(std::move(offset)),
        everywhere_(everywhere) {}

  using ir::rerouting::mutate;
  ir::expr mutate(const ir::expr& e) override {
    if (!everywhere_ && !inside_) return e;
    if (e->op == ir::op::data && e->buffer == from_) return ir::data(to_);
    return ir::rerouting::mutate(e);
  }
  ir::block mutate(const ir::block& b) override {
    const bool outermost = !std::exchange(inside_, true);
    ir::block inner = ir::rerouting::mutate(b);
    if (!outermost) return inner;
    inside_ = false;
    if (everywhere_) return inner;
    ir::block_node out = *inner;
    out.iters = b->iters;
    return ir::make_block(std::move(out));
  }

 private:
  bool reroutes(const ir::buffer& b) const override {
    return b == from_ && (everywhere_ || inside_);
  }
  ir::buffer_element rerouted(const ir::buffer&, std::vector<ir::expr> indices) override {
    for (std::size_t d = 0; d < offset_.size(); ++d)
      if (!offset_[d].is_constant() || offset_[d].constant != 0)
        indices[d] = arith::from_linear(difference(arith::to_linear(indices[d]), offset_[d]));
    return {to_, std::move(indices)};
  }

  ir::buffer from_, to_;
  std::vector<arith::linear> offset_;  // [rank]; empty: all 0
  bool everywhere_, inside_ = false;   // inside of a block
};

/// A buffer for a copy of `original`, called after it and `suffix`.
inline ir::buffer make_cache(const ir::function& f, const ir::buffer& original,
                             std::vector<ir::expr> shape, const std::string& suffix,
                             const std::string& storage) {
  return ir::make_buffer(block_buffers::fresh_buffer_name(f, original->name + "_" + suffix),
                         original->type, std::move(shape), storage);
}

/// The function with a buffer that the block `holder` allocates.
inline ir::function allocate_in(const ir::function& f, std::uint64_t holder,
                                const ir::buffer& cache) {
  const path at = find_block(f, holder);
  ir::block_node block = *ir::as_realize(at.target())->block;
  block.alloc_buffers.push_back(cache);
  return replace_block(f, at, ir::make_block(std::move(block)));
}

/// Makes `block` copy one element.
inline void copy_element(ir::block_node& block, const ir::buffer& from,
                         const std::vector<ir::expr>& at_from, const ir::buffer& to,
                         const std::vector<ir::expr>& at_to) {
  block.reads.push_back({from, ir::point_box(at_from)});
  block.writes.push_back({to, ir::point_box(at_to)});
  block.body = ir::make_store(to, at_to, ir::load(from, at_from));
}

/// A region that the copy reads is there.
inline void check_readable(const refusal& refuse, int requirement, const path& copy,
                           const ir::buffer_region& r) {
  const std::string_view reason = why_unreadable(copy, r);
  if (!reason.empty())
    refuse(requirement, {"the copy would read elements of \"", r.buffer->name, "\" ", reason});
}

/// All that the copy reads is there, the cache aside.
inline void check_filled(const refusal& refuse, int requirement, const path& copy,
                         const ir::buffer& cache) {
  for (const ir::buffer_region& r : ir::as_realize(copy.target())->block->reads)
    if (r.buffer != cache) check_readable(refuse, requirement, copy, r);
}

/// Where the copy goes: in the body of the innermost of the first `depth` loops around `anchor`,
/// before the first statement that holds one of `before`, after the anchor without such; without
/// anchor first in the scope.
struct place {
  int anchor = -1;
  std::size_t depth = 0;
  std::vector<std::uint64_t> before = {};  // ids
  bool at_end = false;                     // last, when there is nothing to stand before
};

/// A cache for `original` and how the copy runs over it.
struct plan {
  ir::buffer original, cache;
  std::vector<bounds> box;  // part of the original that the cache holds, where that is constant
  std::vector<arith::linear> offset;
  footprint needed;        // per iteration of the loops at the place
  std::string block_name;  // of the copy
};

/// The variables that lets in a scope define: a copy beside them does not see these.
inline ir::var_set defined_by_lets(const ir::block_node& root) {
  ir::var_set out;
  ir::for_each_stmt(root.body, [&](const ir::stmt& s) {
    if (const ir::let_node* let = ir::as_let(s)) out.insert(let->var);
  });
  return out;
}

/// Sides of a box that `unseen` says something about are not known where the copy stands: there the
/// box becomes as large as the buffer.
template <class Unseen>
void widen(footprint& box, const Unseen& unseen) {
  const auto drops = [&](const std::optional<arith::linear>& side) {
    return side && support::any(side->terms, [&](const auto& term) { return unseen(term.first); });
  };
  for (span& s : box)
    if (drops(s.lo) || drops(s.hi)) s.lo = s.hi = std::nullopt;
}

/// What is known of the variables of the blocks around a scope.
inline arith::analyzer known_outside(const path& scope) {
  arith::analyzer known;
  for (const ir::stmt* slot : scope.slots)
    if (const ir::block_realize_node* r = ir::as_realize(*slot))
      known.bind(domains(r->block->iters));
  return known;
}

/// Fills origin and extent of one dimension of the cache when what is needed is certainly inside
/// the buffer, and its place depends on variables of blocks around the scope.
inline void narrow_outer(const span& needed, const arith::analyzer& known, arith::linear& offset,
                         ir::expr& extent) {
  if (!needed.lo || !needed.hi || needed.lo->is_constant()) return;
  const arith::linear count = difference(*needed.hi, *needed.lo);
  if (!count.is_constant()) return;
  if (!known.prove_le(ir::integer(extent.type(), 0), arith::from_linear(*needed.lo)) ||
      !known.prove_lt(arith::from_linear(*needed.hi), extent))
    return;
  offset = *needed.lo;
  extent = ir::integer(extent.type(), count.constant + 1);
}

/// Shape of the cache: the box that is needed, at the scope's top, else the shape of the buffer.
inline plan make_plan(const call& c, const ir::function& f, const path& scope,
                      const ir::buffer& original, footprint needed, bool compact) {
  plan out;
  out.original = original;
  std::vector<ir::expr> shape = original->shape;
  const arith::analyzer known = known_outside(scope);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bounds whole = constant_range({ir::integer(shape[d].type(), 0), shape[d]});
    const bounds part = meet(needed[d].within, whole);
    const bool smaller = compact && part.bounded() && part.lo <= part.hi && !(part == whole);
    arith::linear offset;
    offset.type = shape[d].type();
    offset.constant = smaller ? part.lo : 0;
    out.box.push_back(smaller ? part : whole);
    if (smaller) shape[d] = ir::integer(shape[d].type(), part.hi - part.lo + 1);
    if (compact) narrow_outer(needed[d], known, offset, shape[d]);
    out.offset.push_back(std::move(offset));
  }
  out.cache = make_cache(f, original, std::move(shape), c.storage, c.storage);
  out.block_name = fresh_block_name(f, original->name + "_" + c.storage);
  out.needed = std::move(needed);
  return out;
}

/// The copy may use the loops and lets around it through its variables only.
inline void check_closed(const call& c, int requirement, const new_block& made) {
  if (const ir::var used = used_from_outside(find_block(made.function, made.block)))
    refusal{c.name}(requirement, {"the copy depends on \"", used->name,
                                  "\", which is defined outside of its scope"});
}

/// The nest that copies between the buffer and its cache.
inline ir::stmt copy_nest(const plan& p, bool into_cache, const loop_nest& loops,
                          std::uint64_t& id) {
  const std::size_t rank = p.original->shape.size();
  ir::block_node block;
  block.name = p.block_name;
  std::vector<ir::expr> here, there;
  std::vector<iter_domain> solved(rank);
  std::vector<bounds> clip(rank);
  block.iters.reserve(rank);
  here.reserve(rank);
  there.reserve(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const dtype type = p.original->shape[d].type();
    ir::var v = ir::make_var(std::string("v").append(std::to_string(d)), type);
    block.iters.push_back({v, {ir::integer(type, 0), p.cache->shape[d]}, ir::iter_kind::spatial});
    clip[d] = constant_range(block.iters.back().dom);
    here.push_back(v);
    arith::linear source = p.offset[d];
    source.terms.emplace_back(v, 1);
    source.type = type;
    there.push_back(arith::from_linear(source));
    if (p.needed[d].lo && p.needed[d].hi &&
        !(p.needed[d].lo->is_constant() && p.needed[d].hi->is_constant())) {
      solved[d] = {p.needed[d].lo, p.needed[d].hi, std::nullopt};
      solved[d].lo = difference(*solved[d].lo, p.offset[d]);
      solved[d].hi = difference(*solved[d].hi, p.offset[d]);
    }
    if (p.offset[d].is_constant() && !p.offset[d].constant)
      clip[d] = meet(clip[d], p.needed[d].within);
  }
  const ir::buffer& from = into_cache ? p.original : p.cache;
  const ir::buffer& to = into_cache ? p.cache : p.original;
  const std::vector<ir::expr>& at_from = into_cache ? there : here;
  const std::vector<ir::expr>& at_to = into_cache ? here : there;
  copy_element(block, from, at_from, to, at_to);
  const ir::block made = ir::make_block(std::move(block));
  id = made->id;
  std::vector<fitted_iter> fitted = fit(*made, solved, clip, loops);
  // an iteration that needs less than others copies no more than that
  for (std::size_t d = 0; d < fitted.size(); ++d)
    if (!fitted[d].exact && !fitted[d].below && solved[d].hi) {
      ++solved[d].hi->constant;
      fitted[d].below = arith::from_linear(*solved[d].hi);
    }
  return make_nest(made, fitted, true);
}

/// Adds the buffer and the copy to the scope.
inline ir::function insert(const ir::function& f, std::uint64_t holder, const block_scope& scope,
                           place where, const ir::buffer& cache, const ir::stmt& nest) {
  const path at = find_block(f, holder);
  ir::block_node block = *ir::as_realize(at.target())->block;
  block.alloc_buffers.push_back(cache);
  const std::uint64_t anchor = where.anchor < 0 ? 0 : scope[where.anchor].block().id;
  const auto with_copy = [&](const ir::stmt& body) {
    std::vector<ir::stmt> items = statements_of(body);
    std::size_t position = where.at_end ? items.size() : 0;
    for (std::size_t i = 0; i < items.size() && anchor && !where.at_end; ++i)
      if (holds_block(items[i], anchor)) position = i + 1;
    for (std::size_t i = items.size(); i-- > 0;)
      for (const std::uint64_t id : where.before)
        if (holds_block(items[i], id)) position = i;
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(position), nest);
    return ir::make_seq(std::move(items));
  };
  if (where.depth == 0) block.body = with_copy(block.body);
  ir::function out = replace_block(f, at, ir::make_block(std::move(block)));
  if (where.depth == 0) return out;
  const ir::loop_node& around = *scope[where.anchor].loops[where.depth - 1];
  const path loop = find_loop(out, around.var);
  const ir::loop_node& now = *ir::as_loop(loop.target());
  return replace(out, loop, ir::with_body(now, with_copy(now.body)));
}

inline ir::function redirect(const ir::function& f, std::uint64_t block, const plan& p) {
  redirection r(p.original, p.cache, p.offset);
  const path at = find_block(f, block);
  return replace_block(f, at, r.mutate(ir::as_realize(at.target())->block));
}

/// Whether a block reads elements of a buffer that it does not start itself. Old scripts declare that
/// a reduction reads its result: with an init it finds there what it has written, if that comes first.
inline bool reads_before(const child_block& c, const ir::buffer& x) {
  const ir::block_node& b = c.block();
  if (b.init && writes_buffer(b, x) && !init_comes_first(c)) return true;
  const auto starts = [&](const ir::buffer_region& r) {
    return b.init && b.writes.size() == 1 && b.writes[0].buffer == x &&
           std::equal(r.box.begin(), r.box.end(), b.writes[0].box.begin(), b.writes[0].box.end(),
                      [](const ir::range& i, const ir::range& j) {
                        return ir::equal(i.min, j.min) && ir::equal(i.extent, j.extent);
                      });
  };
  return support::any(b.reads, [&](const auto& r) { return r.buffer == x && !starts(r); });
}

/// Whether a block reads anything that another one writes.
inline bool consumes(const ir::block_node& reader, const ir::block_node& writer) {
  return support::any(writer.writes, [&](const auto& r) { return reads_buffer(reader, r.buffer); });
}

/// Scope of the block and its position in it, after the checks that both primitives make.
struct subject {
  const ir::block_realize_node* holder;
  ir::buffer buffer;
};

inline subject look_up(const call& c, const path& at, int index, bool read) {
  const ir::block_realize_node* holder = at.scope();
  if (!holder) refusal{c.name}(1, "the root block accesses nothing itself");
  const ir::block_node& b = *ir::as_realize(at.target())->block;
  const ir::buffer_region& region = block_buffers::region_of(c.name, 1, b, index, read);
  if (const std::string why = ir::no_scope(c.storage); !why.empty()) refusal{c.name}(2, why);
  return {holder, region.buffer};
}

/// Positions of those of the listed blocks that read the buffer.
inline std::vector<std::size_t> pick_consumers(const call& c, int requirement,
                                               const block_scope& scope,
                                               const std::vector<std::uint64_t>& ids,
                                               const ir::buffer& x) {
  std::vector<std::size_t> out;
  for (const std::uint64_t id : ids) {
    const int at = scope.find(id);
    if (at < 0)
      refusal{c.name}(requirement, "a listed consumer is no block of the scope of the block");
    if (!reads_buffer(*scope[at].realize->block, x)) continue;
    out.push_back(static_cast<std::size_t>(at));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// The block of the scope that writes the buffer, or -1; several are refused.
inline int only_writer(const call& c, const block_scope& scope, const ir::buffer& x) {
  int out = -1;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    if (!writes_buffer(scope[i].block(), x)) continue;
    if (out >= 0)
      refusal{c.name}(
          3, {quoted(scope[out]), " and ", quoted(scope[i]), " both write \"", x->name, "\""});
    out = static_cast<int>(i);
  }
  return out;
}

/// Everything the blocks touch of a buffer while the first `fixed` loops stand still.
inline footprint united(const block_scope& scope, const std::vector<std::size_t>& list,
                        const ir::buffer& x, std::size_t fixed) {
  std::vector<requirement> all;
  for (const std::size_t i : list) {
    const child_block reader = guards_inside::cut(scope[i], x);
    for (const ir::buffer_region& r : reader.realize->block->reads)
      if (r.buffer == x) add_requirement(all, x, touched({reader, r}, {fixed, {}}), reader.loops);
  }
  return std::move(all.front().box);
}

/// Whether a loop around both blocks runs more than once.
inline bool repeat_together(const block_scope& scope, std::size_t a, std::size_t b) {
  return support::any(loops_before(scope[a].loops, scope.common_loops(a, b)),
                      [](const ir::loop_node* l) { return !ir::is_int(l->extent, 1); });
}

/// The place of a cache_read's copy: before the first reader, in the loops that it shares with the
/// writer.
inline place place_after(const call& c, const block_scope& scope, int writer,
                         const std::vector<std::size_t>& readers, bool& one_depth) {
  one_depth = true;
  if (writer < 0) return {};
  const auto w = static_cast<std::size_t>(writer);
  place out{writer, 0};
  const bool all_before =
      support::all(readers, [&](std::size_t r) { return r < w && !repeat_together(scope, r, w); });
  if (all_before) return {};
  for (const std::size_t r : readers) {
    if (r < w || !region_covered(scope, r))
      refusal{c.name}(4, {"what ", quoted(scope[r]), " reads is not all written by ",
                          quoted(scope[w]), " before it"});
    const std::size_t common = scope.common_loops(w, r);
    one_depth = one_depth && (r == readers.front() || common == out.depth);
    out.depth = std::max(out.depth, common);
  }
  for (const std::size_t r : readers)
    if (scope.common_loops(w, r) == out.depth) out.before.push_back(scope[r].block().id);
  return out;
}

/// Depth of a cache_write's copy, and the checks of readers.
inline std::size_t depth_of_copy(const call& c, const block_scope& scope, std::size_t w,
                                 const ir::buffer& x, const std::vector<std::size_t>& direct) {
  std::size_t depth = 0;
  for (std::size_t r = 0; r < scope.size(); ++r) {
    if (r == w || !reads_buffer(scope[r].block(), x)) continue;
    const std::size_t common = scope.common_loops(w, r);
    if (r < w && common > 0)
      refusal{c.name}(4, {quoted(scope[r]), " reads \"", x->name, "\" before ", quoted(scope[w]),
                          " in a common loop"});
    if (r > w && !support::contains(direct, r)) depth = std::max(depth, common);
  }
  return depth;
}

}  // namespace tilewright::primitive::detail::cache_stage
