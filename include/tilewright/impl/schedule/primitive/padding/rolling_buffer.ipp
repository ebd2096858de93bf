#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/point_access.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/circular_buffers.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/padding/rolling_buffer.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::primitive {
namespace detail::rolling {

inline constexpr refusal refuse{"rolling_buffer"};

/// The window of one iteration of `loop` along dimension `dim`.
struct window {
  const ir::loop_node* loop = nullptr;
  std::size_t dim = 0;
  std::int64_t length = 0, overlap = 0;
  ir::expr offset;  // of an instance inside its window, in the block's own loops
};

/// Where the window of an iteration begins: loop * step, or loop * n // m, which moves by the
/// quotient of n and m or by one more than that.
struct beginning {
  ir::expr term;            // the loop, or the quotient
  std::int64_t factor = 0;  // of the term
  std::int64_t step = 0;    // at most
};

inline std::optional<beginning> begins_at(const arith::linear& value, const ir::var& loop) {
  std::optional<beginning> out;
  for (const auto& [term, factor] : value.terms) {
    if (!ir::uses_var(term, loop)) continue;
    if (out || factor < 1) return std::nullopt;
    if (term.same(loop)) {
      out = beginning{term, factor, factor};
      continue;
    }
    if (term->op != ir::op::floordiv || !ir::is_int(term->args[1]) || factor != 1)
      return std::nullopt;
    const arith::linear over = arith::to_linear(term->args[0]);
    const std::int64_t by = ir::as_int(term->args[1]), moves = over.coefficient(loop);
    if (by < 1 || moves < 1 || over.terms.size() != 1 || over.constant != 0) return std::nullopt;
    out = beginning{term, 1, -ir::floor_divide(-moves, by)};
  }
  return out;
}

/// What a conjunct of the guard leaves of a window of offsets `own`. Where it holds for an instance
/// it must hold for the one that wrote the same element an iteration before, or say how far the
/// window reaches.
inline bool admit(window& w, const arith::linear& own, const beginning& begin, const child_block& b,
                  const ir::expr& conjunct) {
  ir::var_set moving{w.loop->var};
  for (const auto& term : own.terms) moving.insert(term.first);
  if (!ir::uses_any(conjunct, moving)) return true;
  std::optional<arith::linear> rest = footprints::not_negative(conjunct);
  if (!rest || own.terms.empty()) return false;
  if (range_of(*rest, b.loops).lo >= 0) return true;
  const std::int64_t by_begin = rest->coefficient(begin.term);
  const std::int64_t by_offset = rest->coefficient(own.terms[0].first) / own.terms[0].second;
  erase_if(rest->terms, [&](const auto& t) { return footprints::meets(t.first, begin.term); });
  accumulate(*rest, own, -by_offset);
  for (const auto& term : rest->terms)
    if (ir::uses_any(term.first, moving)) return false;
  if (by_offset * begin.factor >= by_begin) return true;
  if (by_begin != 0 || !rest->is_constant()) return false;
  w.length = std::min(w.length, ir::floor_divide(rest->constant, -by_offset) + 1);
  return true;
}

/// Whether the loop moves what the block writes in another dimension as well: then no two windows
/// have an element in common.
inline bool moves_elsewhere(const child_block& producer, const ir::buffer_region& written,
                            const ir::var& loop, std::size_t dim) {
  const ir::block_node& block = producer.block();
  for (std::size_t d = 0; d < written.box.size(); ++d)
    for (std::size_t i = 0; i < block.iters.size() && d != dim; ++i)
      if (ir::uses_var(written.box[d].min, block.iters[i].var) &&
          ir::uses_var(producer.realize->values[i], loop))
        return true;
  return false;
}

/// The window along `dim` when `loops[at]` moves it, if it overlaps the one before.
inline std::optional<window> find_window(const child_block& producer,
                                         const ir::buffer_region& written, std::size_t common,
                                         std::size_t at, std::size_t dim) {
  const ir::range& place = written.box[dim];
  const int iter = iter_index(producer.block(), place.min);
  if (iter < 0 || !ir::is_int(place.extent, 1) ||
      moves_elsewhere(producer, written, producer.loops[at]->var, dim))
    return std::nullopt;
  arith::linear value = arith::to_linear(producer.realize->values[static_cast<std::size_t>(iter)]);
  const ir::loop_node& loop = *producer.loops[at];
  const std::optional<beginning> begin = begins_at(value, loop.var);
  if (!begin || value.constant != 0) return std::nullopt;
  erase_if(value.terms, [&](const auto& t) { return t.first.same(begin->term); });
  window out{&loop, dim, 1, 0, arith::from_linear(value)};
  support::stable_sort(value.terms,
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [term, factor] : value.terms) {
    const int own = loop_index(producer.loops, term);
    if (own < static_cast<int>(common) || factor < 1) return std::nullopt;
    const ir::loop_node& l = *producer.loops[static_cast<std::size_t>(own)];
    if (!ir::is_int(l.min, 0) || !ir::is_int(l.extent)) return std::nullopt;
    if (factor > out.length && !ir::is_int(l.extent, 1)) return std::nullopt;  // holes
    out.length += factor * (ir::as_int(l.extent) - 1);
  }
  for (const ir::expr& conjunct : ir::conjuncts(producer.realize->predicate))
    if (!admit(out, value, *begin, producer, conjunct)) return std::nullopt;
  out.overlap = out.length - begin->step;
  const ir::expr& shape = written.buffer->shape[dim];
  if (out.overlap <= 0 || !ir::is_int(shape) || out.length > ir::as_int(shape)) return std::nullopt;
  return out;
}

/// Loops around the block and all of its readers; requirement 2.
inline std::size_t shared_loops(const block_scope& scope, std::size_t producer,
                                const std::vector<std::size_t>& users) {
  std::size_t common = scope[producer].loops.size();
  for (const std::size_t u : users) {
    common = std::min(common, scope.common_loops(producer, u));
    if (u < producer || !region_covered(scope, u))
      refuse(2, {quoted(scope[u].block()), " reads what is not written in the same iteration"});
  }
  if (users.empty() || common == 0)
    refuse(2, {quoted(scope[producer].block()), " and its readers share no loop"});
  return common;
}

/// Indices modulo the window, and opaque variables where the loop drives them.
class rewriter : public ir::rerouting {
 public:
  /// `first` rolls; in the dimensions of the others, what an iteration finds there is also kept.
  explicit rewriter(const std::vector<window>& windows, ir::buffer from, ir::buffer to)
      : windows_(windows), window_(windows.front()), from_(std::move(from)), to_(std::move(to)) {}

  using ir::rerouting::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::stmt out = ir::rerouting::mutate(s);
    const ir::block_realize_node* realize = ir::as_realize(out);
    return realize && depth_ == 1 ? driven(*realize) : out;
  }

  ir::block mutate(const ir::block& b) override {
    ++depth_;
    ir::block_node out = *ir::rerouting::mutate(b);
    --depth_;
    std::replace(out.alloc_buffers.begin(), out.alloc_buffers.end(), from_, to_);
    return ir::make_block(std::move(out));
  }

 private:
  bool reroutes(const ir::buffer& b) const override { return b == from_; }
  ir::buffer_element rerouted(const ir::buffer&, std::vector<ir::expr> indices) override {
    indices[window_.dim] = wrapped(indices[window_.dim]);
    return {to_, std::move(indices)};
  }
  ir::buffer_region rerouted_region(ir::buffer_region r) override {
    ir::range& side = r.box[window_.dim];
    const dtype type = side.min.type();
    side = ir::is_int(side.extent, 1)
               ? ir::range{wrapped(side.min), side.extent}
               : ir::range{ir::integer(type, 0), ir::integer(type, window_.length)};
    return {to_, std::move(r.box)};
  }
  ir::expr wrapped(const ir::expr& index) const {
    return ir::floormod(index, ir::integer(index.type(), window_.length));
  }

  ir::stmt driven(const ir::block_realize_node& r) const {
    ir::block_node block = *r.block;
    const bool writes = writes_buffer(block, to_);
    if (!writes && !reads_buffer(block, to_))
      return ir::make_realize(r.values, r.predicate, r.block);
    for (std::size_t i = 0; i < block.iters.size(); ++i) {
      if (!ir::uses_var(r.values[i], window_.loop->var)) continue;
      if (block.iters[i].kind == ir::iter_kind::reduce)
        refuse(4, {"reduce variable \"", block.iters[i].var->name, "\" of ", quoted(block),
                   " depends on ", quoted(*window_.loop)});
      block.iters[i].kind = ir::iter_kind::opaque;
    }
    ir::expr predicate = r.predicate;
    if (writes)
      for (const window& w : windows_) {
        const ir::var& v = w.loop->var;
        const ir::expr fresh =
            ir::logical_or(ir::lt(v, ir::integer(v.type(), 1)),
                           ir::le(ir::integer(w.offset.type(), w.overlap), w.offset));
        predicate = ir::logical_and(predicate, fresh);
      }
    return ir::make_realize(r.values, predicate, ir::make_block(std::move(block)));
  }

  const std::vector<window>& windows_;
  const window& window_;
  ir::buffer from_, to_;
  int depth_ = 0;  // of blocks; those directly below the scope, at 1, are bound to the loop
};

/// The window along the outermost loop that has one, then those of the other dimensions along
/// serial loops inside of it.
inline std::vector<window> find_windows(const child_block& producer,
                                        const ir::buffer_region& written, std::size_t common) {
  if (const ir::loop_node* uneven = uneven_loop(producer))
    refuse(3, {"the bounds of ", quoted(*uneven), " follow other loops or data"});
  std::vector<window> out;
  std::vector<char> taken(written.box.size(), 0);
  for (std::size_t at = 0; at < common; ++at)
    for (std::size_t d = 0; d < written.box.size(); ++d) {
      const std::optional<window> w = find_window(producer, written, common, at, d);
      if (!w || taken[d]) continue;
      const bool serial = w->loop->loop == ir::loop_kind::serial && ir::is_int(w->loop->min, 0);
      if (!serial && out.empty()) refuse(3, {quoted(*w->loop), " is not serial from 0"});
      taken[d] = 1;
      if (serial) out.push_back(*w);
    }
  if (out.empty())
    refuse(3, {"no dimension of \"", written.buffer->name,
               "\" has overlapping windows along a loop that its readers share"});
  return out;
}

/// Requirement 1.
inline void check_producer(const block_scope& scope, const block_scope& whole, std::size_t child,
                           int result) {
  const ir::block_node& block = scope[child].block();
  if (result < 0 || static_cast<std::size_t>(result) >= block.writes.size())
    refuse(1, {quoted(block), " writes ", block.writes.size(), " buffers"});
  const ir::buffer& written = block.writes[static_cast<std::size_t>(result)].buffer;
  if (whole[child].block().writes[static_cast<std::size_t>(result)].buffer != written)
    refuse(1, {"\"", written->name, "\" is circular already"});
  if (!is_complete(whole, child) && !is_reduction(whole, child))
    refuse(1, {quoted(block), " is neither complete nor a reduction"});
  if (!scope.allocates(written))
    refuse(1, {"\"", written->name, "\" is not allocated in the scope of the block"});
  for (std::size_t w = 0; w < scope.size(); ++w)
    for (const ir::buffer_region& r : scope[w].block().writes)
      if (w != child && r.buffer == written)
        refuse(1, {quoted(scope[w].block()), " writes \"", r.buffer->name, "\" too"});
}

/// Rolls a result of a child of the scope. Order matters where others were rolled before: `whole` is
/// the scope without that, of the same children, which says what is written where.
inline ir::block roll(const ir::block& root, const ir::block& whole_root, std::size_t child,
                      int result) {
  const block_scope scope(*root), whole(*whole_root);
  check_producer(scope, whole, child, result);
  const child_block& producer = scope[child];
  const ir::buffer_region& written = producer.block().writes[static_cast<std::size_t>(result)];
  if (point_access::accesses(root, written.buffer).opaque)
    refuse(1,
           {"the address of \"", written.buffer->name, "\" is taken, or a part of it is matched"});
  const std::size_t common = shared_loops(whole, child, readers(whole, child));
  const std::vector<window> windows = find_windows(producer, written, common);
  for (const window& w : windows)
    if (rewrites(whole, child, w.loop->var))
      refuse(5, {quoted(producer.block()), " writes other values to elements of \"",
                 written.buffer->name, "\" in each iteration of ", quoted(*w.loop)});
  const window& w = windows.front();
  ir::buffer_node node = *written.buffer;
  node.shape[w.dim] = ir::integer(node.shape[w.dim].type(), w.length);
  const ir::buffer rolled(new ir::buffer_node(std::move(node)));
  return rewriter(windows, written.buffer, rolled).mutate(root);
}

/// The scope with whole buffers in the place of those that have been rolled in it. That they were is
/// certain when rolling makes the same scope of it again.
inline ir::block before_rolling(const ir::block& root) {
  const std::vector<circular_buffer> found = circular_buffers(block_scope(*root));
  if (found.empty()) return root;
  const ir::block whole = unroller(found).mutate(root);
  const auto as_stmt = [](const ir::block& b) {
    std::vector<ir::expr> values;
    for (const ir::iter_var& v : b->iters) values.push_back(v.dom.min);
    return ir::make_realize(std::move(values), ir::boolean(true), b);
  };
  try {
    ir::block again = whole;
    for (const circular_buffer& c : found)
      again = roll(again, whole, c.writer, static_cast<int>(c.result));
    return ir::equal(as_stmt(again), as_stmt(root)) ? whole : root;
  } catch (const schedule_error&) {
    return root;
  }
}

}  // namespace detail::rolling

TILEWRIGHT_INLINE ir::function rolling_buffer(const ir::function& f, std::uint64_t block,
                                              int write_buffer_index) {
  using namespace detail::rolling;
  const path at = need_block(f, block, "rolling_buffer");
  const ir::block_realize_node* holder = at.scope();
  if (!holder) refuse(1, "the root block has no buffer to roll");
  const std::size_t child = block_scope(*holder->block).position(block);
  return replace_block(
      f, find_block(f, holder->block->id),
      roll(holder->block, before_rolling(holder->block), child, write_buffer_index));
}

}  // namespace tilewright::primitive
