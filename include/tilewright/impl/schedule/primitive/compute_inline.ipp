#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/region.hpp>
#include <tilewright/impl/schedule/concurrency.hpp>
#include <tilewright/impl/schedule/index_inverse.hpp>
#include <tilewright/impl/schedule/loads_around.hpp>
#include <tilewright/impl/schedule/loop_sums.hpp>
#include <tilewright/impl/schedule/unfinished.hpp>
#include <tilewright/ir/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/analysis.hpp>
#include <tilewright/schedule/footprint.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/pipeline.hpp>
#include <tilewright/schedule/primitive/compute_inline.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

namespace tilewright::primitive {
namespace detail::inlining {

[[noreturn]] inline void refuse(const char* name, int requirement, const std::string& what) {
  throw schedule_error(name, requirement, what);
}

inline std::string quoted(const ir::block_node& b) { return "block \"" + b.name + "\""; }

inline bool reads_buffer(const ir::block_node& b, const ir::buffer& x) {
  return std::any_of(b.reads.begin(), b.reads.end(), [&](const auto& r) { return r.buffer == x; });
}

inline bool writes_buffer(const ir::block_node& b, const ir::buffer& x) {
  return std::any_of(b.writes.begin(), b.writes.end(),
                     [&](const auto& r) { return r.buffer == x; });
}

/// Whether the block uses the buffer, also where it does not declare that, as in the boxes of its
/// regions.
inline bool uses_buffer(const ir::block_node& b, const ir::buffer& x) {
  const auto place_loads = [&](const ir::buffer_region& r) {
    return std::any_of(r.box.begin(), r.box.end(), [&](const ir::range& d) {
      return loads_from(d.min, x) || loads_from(d.extent, x);
    });
  };
  const auto follows = [&](const ir::iter_var& v) {
    return loads_from(v.dom.min, x) || loads_from(v.dom.extent, x);
  };
  return reads_buffer(b, x) || std::any_of(b.iters.begin(), b.iters.end(), follows) ||
         loads_from(b.body, x) || (b.init && loads_from(b.init, x)) ||
         std::any_of(b.reads.begin(), b.reads.end(), place_loads) ||
         std::any_of(b.writes.begin(), b.writes.end(), place_loads);
}

/// The regions that a block reads, computed anew after its body has changed: `gone` is not read any
/// more, `added` are read now, entries of other buffers stay as they were.
inline std::vector<ir::buffer_region> updated_reads(const ir::block_node& block,
                                                    const ir::buffer& gone,
                                                    const std::vector<ir::buffer_region>& added) {
  std::vector<ir::buffer_region> seen, unused, out;
  const arith::analyzer known;
  arith::access_options options;
  options.use_conditions = false;
  if (block.init) arith::access_regions(block.init, seen, unused, known, options);
  arith::access_regions(block.body, seen, unused, known, options);
  for (const ir::buffer_region& r : seen) {
    const auto is_same = [&](const ir::buffer_region& x) { return x.buffer == r.buffer; };
    const auto listed = std::find_if(block.reads.begin(), block.reads.end(), is_same);
    const bool is_new = std::any_of(added.begin(), added.end(), is_same);
    const bool accumulates = block.init && writes_buffer(block, r.buffer);
    if (r.buffer == gone || accumulates) continue;
    if (is_new)
      out.push_back(r);
    else if (listed != block.reads.end())
      out.push_back(*listed);
  }
  return out;
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

inline bool holds(const ir::stmt& s, ir::op o, const ir::buffer& x) {
  bool found = false;
  ir::for_each_expr(s, [&](const ir::expr& e) { found |= e->op == o && e->buffer == x; });
  return found;
}

inline bool is_matched(const ir::stmt& s, const ir::buffer& x) {
  bool found = false;
  ir::for_each_stmt(s, [&](const ir::stmt& c) {
    if (const ir::block_realize_node* r = ir::as_realize(c))
      for (const ir::match_buffer& m : r->block->match_buffers)
        found = found || m.source.buffer == x;
  });
  return found;
}

/// Requirement 1 of both.
inline void check_surroundings(const char* name, const block_scope& scope, std::size_t child) {
  if (const int hazard = input_hazard(scope, child))
    refuse(name, 1, quoted(scope[child].block()) + " cannot be inlined: " + hazard_text(hazard));
  const int user = earlier_user(scope, child);
  if (user >= 0)
    refuse(name, 1,
           quoted(scope[static_cast<std::size_t>(user)].block()) + " uses the result of " +
               quoted(scope[child].block()) + " before it");
}

inline void check_complete(const char* name, int requirement, const block_scope& scope,
                           std::size_t child) {
  const ir::block_node& b = scope[child].block();
  if (b.init) refuse(name, requirement, quoted(b) + " is a reduction");
  if (const int reason = complete_violation(scope, child))
    refuse(name, requirement,
           quoted(b) + " is not complete: " + std::string(complete_reason(reason)));
}

inline void check_loops(const char* name, int requirement, const child_block& child) {
  if (const ir::loop_node* used = loop_used_inside(child))
    refuse(name, requirement,
           quoted(child.block()) + " uses loop \"" + used->var->name +
               "\" without an iteration variable that stands for it");
}

/// The only block below the scope's root that writes the buffer, other than `child`; -1 if there is
/// none.
inline int other_writer(const block_scope& scope, std::size_t child, const ir::buffer& x) {
  for (std::size_t i = 0; i < scope.size(); ++i)
    if (i != child && writes_buffer(scope[i].block(), x)) return static_cast<int>(i);
  return -1;
}

/// Removes the block at `at` and its buffer's allocation from the scope.
inline ir::function remove(const ir::function& f, std::uint64_t id, std::uint64_t holder,
                           const ir::buffer& x) {
  const ir::function without = replace(f, find_block(f, id), ir::stmt{});
  const path at = find_block(without, holder);
  ir::block_node block = *ir::as_realize(at.target())->block;
  std::erase(block.alloc_buffers, x);
  return replace_block(without, at, ir::make_block(std::move(block)));
}

/// Whether a block of the scope writes some of what is read.
inline bool writes_any(const block_scope& scope, const std::vector<ir::buffer_region>& reads) {
  return std::any_of(scope.children().begin(), scope.children().end(), [&](const child_block& c) {
    return std::any_of(reads.begin(), reads.end(),
                       [&](const auto& r) { return writes_buffer(c.block(), r.buffer); });
  });
}

/// What is read through the inlined expression must be there where its new reader stands.
inline void check_covered(const char* name, const ir::function& f, std::uint64_t id) {
  const path at = find_block(f, id);
  const block_scope scope(*at.scope()->block);
  const auto child = static_cast<std::size_t>(scope.find(id));
  if (!region_covered(scope, child))
    refuse(name, 1, quoted(scope[child].block()) + " would read what is not written there yet");
  if (racing_writer(scope, child) >= 0)
    refuse(name, 1,
           quoted(scope[child].block()) +
               " would read what iterations that run at once have for themselves");
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
      if (!r || std::find(blocks.begin(), blocks.end(), r->block->id) == blocks.end())
        ir::visitor::visit(part);
    }
  };
  search all(x, blocks);
  all.visit(s);
  return all.found;
}

/// @param asks whether it is legal is all that is wanted; then the result means nothing
inline ir::function forward(const ir::function& f, std::uint64_t id, bool asks) {
  constexpr const char* name = "compute_inline";
  const path at = need_block(f, id, name);
  const ir::block_realize_node* holder = at.scope();
  if (!holder) refuse(name, 2, "the root block cannot be inlined");
  const block_scope scope(*holder->block);
  const auto child = static_cast<std::size_t>(scope.find(id));
  const ir::block block = scope[child].realize->block;
  check_surroundings(name, scope, child);
  check_complete(name, 2, scope, child);
  if (const int reader = late_reader(scope, child); reader >= 0)
    refuse(name, 1,
           quoted(scope[static_cast<std::size_t>(reader)].block()) + " reads results of " +
               quoted(*block) + " whose inputs other iterations overwrite");
  check_loops(name, 4, scope[child]);
  if (block->writes.size() != 1) refuse(name, 3, quoted(*block) + " does not write one buffer");
  const ir::buffer x = block->writes.front().buffer;
  if (!scope.allocates(x)) refuse(name, 3, quoted(*block) + " writes an output of its scope");
  if (other_writer(scope, child, x) >= 0)
    refuse(name, 3, "another block writes \"" + x->name + "\" too");
  const ir::store_node* store = ir::as_store(block->body);
  if (!block->match_buffers.empty() || !store || store->buffer != x)
    refuse(name, 4, "the body of " + quoted(*block) + " is not one store");
  const std::optional<inverse> inv = invert(store->indices, block->iters);
  if (!inv)
    refuse(name, 4,
           "the iteration variables of " + quoted(*block) +
               " do not follow from the indices of its store");
  if (scope.size() == 1) refuse(name, 5, quoted(*block) + " is the only block of its scope");
  std::vector<std::uint64_t> rewritten;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const child_block& c = scope[i];
    if (i == child || !(loads_around(*c.realize, x) || uses_buffer(c.block(), x))) continue;
    rewritten.push_back(c.block().id);
    const path reader = find_block(f, rewritten.back());
    if (c.block().annotations.count("auto_copy") && copied_together(reader))
      refuse(name, 6,
             "threads make the copy of " + quoted(c.block()) +
                 " together, as \"auto_copy\" says; it computes nothing");
    if (is_matched(reader.target(), x))
      refuse(name, 6, quoted(c.block()) + " matches a buffer to \"" + x->name + "\"");
    if (holds(reader.target(), ir::op::data, x))
      refuse(name, 6, quoted(c.block()) + " passes on a pointer to \"" + x->name + "\"");
  }
  if (loads_elsewhere(replace(f, at, ir::stmt{}).body, x, rewritten))
    refuse(name, 6, "a loop or a condition around blocks loads \"" + x->name + "\"");
  // what no block of the scope writes is there everywhere
  const bool settled = !writes_any(scope, block->reads);
  if (settled && asks) return f;
  inliner rewrite(*block, *store, *inv);
  ir::function out = f;
  for (const std::uint64_t reader : rewritten) {
    const path at_reader = find_block(out, reader);
    out = replace(out, at_reader, rewrite.mutate(at_reader.target()));
  }
  out = remove(out, id, holder->block->id, x);
  if (!settled)
    for (const std::uint64_t reader : rewritten) check_covered(name, out, reader);
  return out;
}

/// The blocks of a reverse_compute_inline.
struct fold {
  std::size_t consumer = 0, producer = 0;
  ir::buffer between;
};

inline fold find_producer(const char* name, const block_scope& scope, std::size_t child) {
  fold out{child, 0, {}};
  const ir::block_node& block = scope[child].block();
  for (const ir::buffer_region& r : block.reads) {
    if (r.buffer == out.between) continue;
    for (std::size_t i = 0; i < scope.size(); ++i) {
      if (i == child || !writes_buffer(scope[i].block(), r.buffer)) continue;
      if (out.between)
        refuse(
            name, 3,
            quoted(block) + " reads more than one result of its scope, or one of several blocks");
      out.between = r.buffer;
      out.producer = i;
    }
  }
  if (!out.between)
    refuse(name, 3, quoted(block) + " reads no result of another block of its scope");
  const ir::block_node& producer = scope[out.producer].block();
  check_complete(name, 3, scope, out.producer);
  if (producer.writes.size() != 1 || !producer.match_buffers.empty() ||
      !ir::as_store(producer.body))
    refuse(name, 3, "the body of producer " + quoted(producer) + " is not one store");
  if (!scope.allocates(out.between))
    refuse(name, 3, "producer " + quoted(producer) + " writes an output of its scope");
  for (std::size_t i = 0; i < scope.size(); ++i)
    if (i != child && reads_buffer(scope[i].block(), out.between))
      refuse(name, 3, quoted(scope[i].block()) + " reads \"" + out.between->name + "\" too");
  return out;
}

/// The index tuple of all loads of the buffer in the block.
inline std::vector<ir::expr> common_indices(const char* name, const ir::block_node& block,
                                            const ir::buffer& x) {
  std::vector<ir::expr> out;
  bool first = true, same = true;
  ir::for_each_expr(block.body, [&](const ir::expr& e) {
    if (e->op == ir::op::data && e->buffer == x)
      refuse(name, 5, quoted(block) + " passes on a pointer to \"" + x->name + "\"");
    if (e->op != ir::op::load || e->buffer != x) return;
    if (first) out = e->args;
    for (std::size_t d = 0; d < out.size() && !first; ++d)
      same = same && arith::same_value(out[d], e->args[d]);
    first = false;
  });
  if (first || !same)
    refuse(name, 5, quoted(block) + " does not load \"" + x->name + "\" with one tuple of indices");
  return out;
}

/// Whether the indices are inside of the buffer for every instance: the border of a padding reads
/// nothing.
inline bool stays_inside(const ir::block_node& block, const std::vector<ir::expr>& indices,
                         const ir::buffer& x) {
  arith::analyzer known;
  for (const ir::iter_var& v : block.iters) known.bind(v.var, v.dom);
  const auto is_digit = [&](const ir::expr& index, const ir::expr& limit) {
    const int i = index->args.size() == 2 ? iter_index(block, index->args[0]) : -1;
    return i >= 0 &&
           footprints::digit_within(index, limit, block.iters[static_cast<std::size_t>(i)].dom);
  };
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (!is_digit(indices[d], x->shape[d]) &&
        (!known.prove(ir::ge(indices[d], ir::integer(indices[d].type(), 0))) ||
         !known.prove(ir::lt(indices[d], x->shape[d]))))
      return false;
  return true;
}

/// Guard of the folded block: the consumer's instance exists and reads what the producer's instance
/// makes.
inline ir::expr fold_guard(const child_block& producer, const ir::block_node& consumer,
                           const std::vector<ir::expr>& loads, const std::vector<ir::expr>& stores,
                           const ir::var_map& solved) {
  arith::analyzer known;
  for (const ir::iter_var& v : producer.block().iters) known.bind(v.var, v.dom);
  ir::expr out = ir::boolean(true);
  const auto need = [&](const ir::expr& condition) {
    if (!known.prove(condition)) out = ir::logical_and(out, condition);
  };
  for (const ir::iter_var& v : consumer.iters) {
    const ir::expr value = known.simplify(solved.at(v.var));
    need(ir::ge(value, v.dom.min));
    need(ir::lt(value, v.dom.min + v.dom.extent));
  }
  for (std::size_t d = 0; d < loads.size(); ++d)
    need(ir::eq(known.simplify(ir::substitute(loads[d], solved)), stores[d]));
  ir::var_map values;
  for (std::size_t i = 0; i < producer.block().iters.size(); ++i)
    values.emplace(producer.block().iters[i].var, producer.realize->values[i]);
  arith::analyzer outside;
  outside.bind(domains(producer.loops));
  return outside.simplify(ir::substitute(out, values));
}

/// The producer with the consumer's expression around its own.
inline ir::block make_folded(const ir::block& producer, const ir::block_node& consumer,
                             const ir::var_map& solved, const ir::buffer& between) {
  const ir::store_node& inner = *ir::as_store(producer->body);
  const ir::store_node& outer = *ir::as_store(consumer.body);
  arith::analyzer known;
  for (const ir::iter_var& v : producer->iters) known.bind(v.var, v.dom);
  const auto folded = [&](const ir::expr& of_consumer) {
    const auto on_expr = [&](const ir::expr& e) {
      return e->op == ir::op::load && e->buffer == between ? inner.value : e;
    };
    return ir::rewrite(ir::substitute(of_consumer, solved), on_expr);
  };
  ir::block_node out = *producer;
  std::vector<ir::expr> indices;
  for (const ir::expr& i : outer.indices) indices.push_back(known.simplify(folded(i)));
  out.writes = {{outer.buffer, ir::point_box(indices)}};
  out.body = ir::make_store(outer.buffer, std::move(indices), folded(outer.value));
  std::vector<ir::buffer_region> added;
  for (const ir::buffer_region& r : consumer.reads)
    if (r.buffer != between) added.push_back(r);
  out.reads = updated_reads(out, between, added);
  return ir::make_block(std::move(out));
}

inline ir::function backward(const ir::function& f, std::uint64_t id) {
  constexpr const char* name = "reverse_compute_inline";
  const path at = need_block(f, id, name);
  const ir::block_realize_node* holder = at.scope();
  if (!holder) refuse(name, 2, "the root block cannot be inlined");
  const block_scope scope(*holder->block);
  const auto child = static_cast<std::size_t>(scope.find(id));
  const ir::block_node& block = scope[child].block();
  check_surroundings(name, scope, child);
  check_complete(name, 2, scope, child);
  if (block.writes.size() != 1 || !block.match_buffers.empty() || !ir::as_store(block.body))
    refuse(name, 2, "the body of " + quoted(block) + " is not one store");
  check_loops(name, 2, scope[child]);
  if (as_tvm() && !is_stage_pipeline(scope)) refuse(name, 1, "the scope is no stage pipeline");
  if (as_tvm() && !ir::is_true(scope[child].realize->predicate))
    refuse(name, 4, quoted(block) + " has a predicate");
  const fold pair = find_producer(name, scope, child);
  const child_block& producer = scope[pair.producer];
  const bound_iters& iters = bind_iters(scope[child]);
  for (std::size_t i = 0; i < block.iters.size(); ++i)
    if (!iters.understood || !(iters.clip[i] == constant_range(block.iters[i].dom)))
      refuse(name, 4, quoted(block) + " has a predicate");
  if (!visits_domains(scope[child]))
    refuse(name, 4, "the loops of " + quoted(block) + " do not visit all of its domain");
  const std::vector<ir::expr> loads = common_indices(name, block, pair.between);
  const std::optional<inverse> inv = invert(loads, block.iters);
  if (!inv)
    refuse(name, 5,
           "the iteration variables of " + quoted(block) +
               " do not follow from the indices of its loads");
  if (pair.producer > child || !region_covered(scope, child))
    refuse(name, 6,
           quoted(producer.block()) + " has not computed all that " + quoted(block) + " reads");
  if (!stays_inside(block, loads, pair.between))
    refuse(name, 6,
           quoted(block) + " has instances that read nothing of \"" + pair.between->name + "\"");
  for (std::size_t l = scope.common_loops(pair.producer, child); l < producer.loops.size(); ++l)
    if (rewrites(scope, pair.producer, producer.loops[l]->var) &&
        !may_read_unfinished(scope, child))
      refuse(name, 6,
             quoted(producer.block()) +
                 " overwrites its results, and others than the last ones may "
                 "not be taken");
  for (std::size_t l = 0; l < producer.loops.size(); ++l)
    if (runs_at_once(*producer.loops[l]) && !iterations_apart(producer, l))
      refuse(name, 7,
             "iterations of loop \"" + producer.loops[l]->var->name +
                 "\", which run at once, all run " + quoted(producer.block()) +
                 " for the same elements");
  const std::vector<ir::expr>& stores = ir::as_store(producer.block().body)->indices;
  const ir::var_map solved = solve(*inv, block.iters, stores);
  const ir::expr guard = fold_guard(producer, block, loads, stores, solved);
  const ir::block folded = make_folded(producer.realize->block, block, solved, pair.between);
  const path to = find_block(f, producer.block().id);
  const ir::function out =
      replace(f, to,
              ir::make_realize(producer.realize->values,
                               ir::logical_and(producer.realize->predicate, guard), folded));
  ir::function alone = remove(out, id, holder->block->id, pair.between);
  if (loads_from(alone.body, pair.between))
    refuse(name, 3,
           "a loop, a condition or the guard of a block loads \"" + pair.between->name + "\" too");
  return alone;
}

}  // namespace detail::inlining

TILEWRIGHT_INLINE ir::function compute_inline(const ir::function& f, std::uint64_t block) {
  return detail::inlining::forward(f, block, false);
}

TILEWRIGHT_INLINE ir::function reverse_compute_inline(const ir::function& f, std::uint64_t block) {
  return detail::inlining::backward(f, block);
}

TILEWRIGHT_INLINE bool can_compute_inline(const ir::function& f, std::uint64_t block) {
  try {
    detail::inlining::forward(f, block, true);
    return true;
  } catch (const schedule_error&) {
    return false;
  }
}

TILEWRIGHT_INLINE bool can_reverse_compute_inline(const ir::function& f, std::uint64_t block) {
  try {
    reverse_compute_inline(f, block);
    return true;
  } catch (const schedule_error&) {
    return false;
  }
}

}  // namespace tilewright::primitive
