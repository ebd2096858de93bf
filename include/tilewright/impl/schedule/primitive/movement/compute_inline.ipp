#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tilewright/impl/dependence/binding/index_inverse.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/analysis/threads.hpp>
#include <tilewright/impl/schedule/legality/invariants.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/rewrite/inlining.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/movement/compute_inline.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::inlining {

/// Whether the block uses the buffer, also where it does not declare that, as in the boxes of its
/// regions.
inline bool uses_buffer(const ir::block_node& b, const ir::buffer& x) {
  const auto place_loads = [&](const ir::buffer_region& r) {
    return support::any(r.box, [&](const ir::range& d) { return bounds_load(d, x); });
  };
  const auto follows = [&](const ir::iter_var& v) { return bounds_load(v.dom, x); };
  return reads_buffer(b, x) || support::any(b.iters, follows) || loads_from(b.body, x) ||
         (b.init && loads_from(b.init, x)) || support::any(b.reads, place_loads) ||
         support::any(b.writes, place_loads);
}

/// Puts the value of the producer in place of loads of its buffer.
struct inliner : ir::mutator {
  const ir::block_node& producer;
  const ir::store_node& store;
  const inverse& inv;

  inliner(const ir::block_node& p, const ir::store_node& s, const inverse& i)
      : producer(p), store(s), inv(i) {}
  using ir::mutator::mutate;
  ir::expr mutate(const ir::expr& e) override {
    if (e->op != ir::op::load || e->buffer != store.buffer) return ir::mutator::mutate(e);
    std::vector<ir::expr> at;
    for (const ir::expr& i : e->args) at.push_back(mutate(i));
    return ir::substitute(store.value, solve(inv, producer.iters, at));
  }
  ir::block mutate(const ir::block& b) override {
    if (!uses_buffer(*b, store.buffer)) return b;
    ir::block_node out = *ir::mutator::mutate(b);
    if (reads_buffer(*b, store.buffer))
      out.reads = updated_reads(out, store.buffer, producer.reads);
    return ir::make_block(std::move(out));
  }
};

inline bool takes_address(const ir::stmt& s, const ir::buffer& x) {
  return ir::any_expr(s,
                      [&](const ir::expr& e) { return e->op == ir::op::data && e->buffer == x; });
}

inline bool is_matched(const ir::stmt& s, const ir::buffer& x) {
  return ir::any_stmt(s, [&](const ir::stmt& c) {
    const ir::block_realize_node* r = ir::as_realize(c);
    return r && support::any(r->block->match_buffers,
                             [&](const ir::match_buffer& m) { return m.source.buffer == x; });
  });
}

/// The only block below the scope's root that writes the buffer, other than `child`; -1 if there is
/// none.
inline int other_writer(const block_scope& scope, std::size_t child, const ir::buffer& x) {
  for (std::size_t i = 0; i < scope.size(); ++i)
    if (i != child && writes_buffer(scope[i].block(), x)) return static_cast<int>(i);
  return -1;
}

/// Whether a block of the scope writes some of what is read.
inline bool writes_any(const block_scope& scope, const std::vector<ir::buffer_region>& reads) {
  return support::any(scope.children(), [&](const child_block& c) {
    return support::any(reads, [&](const auto& r) { return writes_buffer(c.block(), r.buffer); });
  });
}

/// What is read through the inlined expression must be there where its new reader stands.
inline void check_covered(const refusal& refuse, const ir::function& f, std::uint64_t id) {
  const scoped_block reader(f, id);
  if (!region_covered(reader.scope, reader.child))
    refuse(1, {quoted(*reader), " would read what is not written there yet"});
}

/// Whether anything but these blocks loads the buffer.
inline bool loads_elsewhere(const ir::stmt& s, const ir::buffer& x,
                            const std::vector<std::uint64_t>& blocks) {
  struct search : ir::visitor {
    const ir::buffer& x;
    const std::vector<std::uint64_t>& blocks;
    bool found = false;

    search(const ir::buffer& of, const std::vector<std::uint64_t>& but) : x(of), blocks(but) {}
    using ir::visitor::visit;
    void visit(const ir::expr& e) override {
      found = found || e->buffer == x;
      ir::visitor::visit(e);
    }
    void visit(const ir::stmt& part) override {
      const ir::block_realize_node* r = ir::as_realize(part);
      if (!r || !support::contains(blocks, r->block->id)) ir::visitor::visit(part);
    }
  };
  search all(x, blocks);
  all.visit(s);
  return all.found;
}

/// @param asks whether it is legal is all that is wanted; then the result means nothing
inline ir::function forward(const ir::function& f, std::uint64_t id, bool asks) {
  constexpr refusal refuse{"compute_inline"};
  const path at = need_block(f, id, "compute_inline");
  if (!at.scope()) refuse(2, "the root block cannot be inlined");
  const scoped_block producer(at);
  const block_scope& scope = producer.scope;
  const std::size_t child = producer.child;
  const ir::block block = (*producer).realize->block;
  check_surroundings(refuse, scope, child);
  check_no_reduction(refuse, 2, scope, child);
  if (const int reader = late_reader(scope, child); reader >= 0)
    refuse(1, {quoted(scope[reader]), " reads results of ", quoted(*block),
               " whose inputs other iterations overwrite"});
  check_sight(refuse, 4, at);
  if (block->writes.size() != 1) refuse(3, {quoted(*block), " does not write one buffer"});
  const ir::buffer x = block->writes.front().buffer;
  if (!scope.allocates(x)) refuse(3, {quoted(*block), " writes an output of its scope"});
  if (other_writer(scope, child, x) >= 0) refuse(3, {"another block writes \"", x->name, "\" too"});
  const ir::store_node* store = ir::as_store(block->body);
  if (!block->match_buffers.empty() || !store || store->buffer != x)
    refuse(4, {"the body of ", quoted(*block), " is not one store"});
  const std::optional<inverse> inv = invert(store->indices, block->iters);
  if (!inv)
    refuse(4, {"the iteration variables of ", quoted(*block),
               " do not follow from the indices of its store"});
  if (scope.size() == 1) refuse(5, {quoted(*block), " is the only block of its scope"});
  std::vector<std::uint64_t> rewritten;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const child_block& c = scope[i];
    if (i == child || !(loads_around(*c.realize, x) || uses_buffer(c.block(), x))) continue;
    rewritten.push_back(c.block().id);
    const path reader = find_block(f, rewritten.back());
    if (const ir::buffer own = left_with_threads(at, reader))
      refuse(1, {quoted(c), " would read \"", own->name,
                 "\" outside of the threads that it belongs to"});
    if (is_matched(reader.target(), x))
      refuse(6, {quoted(c), " matches a buffer to \"", x->name, "\""});
    if (takes_address(reader.target(), x))
      refuse(6, {quoted(c), " passes on a pointer to \"", x->name, "\""});
  }
  if (loads_elsewhere(replace(f, at, ir::stmt{}).body, x, rewritten))
    refuse(6, {"a loop or a condition around blocks loads \"", x->name, "\""});
  // what no block of the scope writes is there everywhere
  const bool settled = !writes_any(scope, block->reads);
  if (settled && asks) return f;
  inliner rewrite(*block, *store, *inv);
  ir::function out = f;
  for (const std::uint64_t reader : rewritten) {
    const path at_reader = find_block(out, reader);
    out = replace(out, at_reader, rewrite.mutate(at_reader.target()));
  }
  out = remove(out, id, scope.root().id, x);
  if (!settled)
    for (const std::uint64_t reader : rewritten) check_covered(refuse, out, reader);
  return out;
}

}  // namespace detail::inlining

TILEWRIGHT_INLINE ir::function compute_inline(const ir::function& f, std::uint64_t block) {
  return detail::inlining::forward(f, block, false);
}

TILEWRIGHT_INLINE bool can_compute_inline(const ir::function& f, std::uint64_t block) {
  return detail::accepts("compute_inline", f,
                         [&] { return detail::inlining::forward(f, block, true); });
}

}  // namespace tilewright::primitive
