// The table of what TVM refuses: of each kind of instruction the question that TVM asks and its
// primitive here does not. A question is put to the program and arguments that the primitive has
// accepted, so that it can rely on the primitive's own requirements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/schedule/analysis/reducer.hpp>
#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/trace/kind_traits.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::tvm {

using kind_traits::block_or_loop;
using kind_traits::loop_or_blocks;
using kind_traits::place;

/// TVM finds dependences by buffer: who writes another part of it writes it, too.
inline void sole_writer(refusal refuse, int requirement, const block_scope& scope,
                        std::size_t child) {
  const ir::block_node& block = *scope[child].realize->block;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const ir::block_node& other = *scope[i].realize->block;
    for (const ir::buffer_region& w : block.writes)
      if (i != child && ir::mentions(other.writes, w.buffer))
        refuse(requirement, {quoted(other), " writes parts of \"", w.buffer->name, "\", as does ",
                             quoted(block)});
  }
}

/// The block may be computed earlier or later: no block before it uses what it writes, none after it
/// writes what it reads, not even another part.
inline void movable(refusal refuse, int requirement, const block_scope& scope, std::size_t child) {
  const ir::block_node& block = *scope[child].realize->block;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const ir::block_node& other = *scope[i].realize->block;
    const auto& uses = i < child ? other.reads : other.writes;
    for (const ir::buffer_region& r : i < child ? block.writes : block.reads)
      if (i != child && ir::mentions(uses, r.buffer))
        refuse(requirement, {quoted(other), " uses parts of \"", r.buffer->name, "\" ",
                             i < child ? "before " : "after ", quoted(block)});
  }
}

inline void stage_pipeline(refusal refuse, int requirement, const block_scope& scope) {
  if (!is_stage_pipeline(scope)) refuse(requirement, "the scope is no stage pipeline");
}

/// Below a loop TVM takes complete blocks and reductions, but no updates in place and no reductions whose guard leaves out
/// terms of some results.
inline void no_update_in_place(refusal refuse, const ir::function& f, const ir::var& loop) {
  const path at = find_loop(f, loop);
  const block_scope scope(*at.scope()->block);
  for (const child_block& child : scope.children()) {
    const ir::block_node& block = *child.realize->block;
    if (loop_index(child.loops, loop) < 0) continue;
    if (block.init) {
      if (!reduces_affinely(child)) refuse(1, {quoted(block), " is no reduction of all its terms"});
      continue;
    }
    for (const ir::buffer_region& w : block.writes)
      if (ir::mentions(block.reads, w.buffer))
        refuse(1, {quoted(block), " updates \"", w.buffer->name, "\" in place"});
  }
}

// Of each kind.

/// One of the values is made of all loops from position `first` on that the condition uses.
inline bool bounds_a_value(const ir::expr& condition, const child_block& child, std::size_t first) {
  return support::any(child.realize->values, [&](const ir::expr& value) {
    for (std::size_t l = first; l < child.loops.size(); ++l)
      if (ir::uses_var(condition, child.loops[l]->var) && !ir::uses_var(value, child.loops[l]->var))
        return false;
    return true;
  });
}

/// TVM takes no bindings for affine where a loop inside of another one has bounds in terms of it, or
/// where a guard bounds nothing that one of them is made of.
inline void reorder(const ir::function& f, const std::vector<ir::var>& loops) {
  if (loops.size() < 2) return;
  constexpr refusal refuse{"reorder"};
  const path at = find_loop(f, loops[0]);
  const block_scope scope(*at.scope()->block);
  for (const child_block& child : scope.children()) {
    std::size_t first = child.loops.size();  // the outermost of those that change their places
    for (const ir::var& loop : loops)
      if (const int l = loop_index(child.loops, loop); l >= 0)
        first = std::min(first, static_cast<std::size_t>(l));
    if (first == child.loops.size()) continue;
    for (const ir::expr& part : ir::conjuncts(child.realize->predicate))
      if (!bounds_a_value(part, child, first))
        refuse(5, {"the guard of ", quoted(*child.realize->block),
                   " bounds no value of one of its iteration variables"});
    for (std::size_t inner = first + 1; inner < child.loops.size(); ++inner)
      for (std::size_t outer = first; outer < inner; ++outer)
        if (bounds_use(*child.loops[inner], child.loops[outer]->var))
          refuse(5, {"the range of ", quoted(*child.loops[inner]), " uses ",
                     quoted(*child.loops[outer])});
  }
}

inline void parallel(const ir::function& f, const ir::var& loop) {
  no_update_in_place(refusal{"parallel"}, f, loop);
}
inline void vectorize(const ir::function& f, const ir::var& loop) {
  no_update_in_place(refusal{"vectorize"}, f, loop);
}
inline void bind(const ir::function& f, const ir::var& loop) {
  no_update_in_place(refusal{"bind"}, f, loop);
}

inline void compute_inline(const ir::function& f, std::uint64_t block) {
  constexpr refusal refuse{"compute_inline"};
  const scoped_block m(f, block);
  sole_writer(refuse, 2, m.scope, m.child);
  movable(refuse, 1, m.scope, m.child);
}

inline void reverse_compute_inline(const ir::function& f, std::uint64_t block) {
  constexpr refusal refuse{"reverse_compute_inline"};
  const scoped_block m(f, block);
  sole_writer(refuse, 2, m.scope, m.child);
  stage_pipeline(refuse, 1, m.scope);
  if (!ir::is_true((*m).realize->predicate)) refuse(4, {quoted(m.block()), " has a predicate"});
  for (std::size_t i = 0; i < m.child; ++i)
    for (const ir::buffer_region& r : (*m).realize->block->reads)
      if (ir::mentions(m.scope[i].realize->block->writes, r.buffer))
        sole_writer(refuse, 3, m.scope, i);
}

/// Requirement 5, of neighbours that use another part of the buffer, too.
inline void check_neighbours(refusal refuse, const scoped_block& m, const ir::var& loop,
                             bool forward) {
  for (std::size_t i = 0; i < m.scope.size(); ++i) {
    const child_block& other = m.scope[i];
    if (i == m.child || loop_index(other.loops, loop) >= 0) continue;
    const ir::block_node& there = *other.realize->block;
    for (const ir::buffer_region& r : forward ? m.block().writes : (*m).realize->block->reads)
      if (ir::mentions(forward ? there.reads : there.writes, r.buffer))
        refuse(5, {quoted(there), ", which uses parts of \"", r.buffer->name, "\", is not below ",
                   "loop \"", loop->name, "\""});
  }
}

inline void compute_at(const ir::function& f, std::uint64_t block, const place& to) {
  if (!to.loop && to.marker == inline_location) return compute_inline(f, block);
  if (!to.loop) return;
  constexpr refusal refuse{"compute_at"};
  const scoped_block m(f, block);
  movable(refuse, 1, m.scope, m.child);
  sole_writer(refuse, 2, m.scope, m.child);
  check_neighbours(refuse, m, to.loop, true);
}

inline void reverse_compute_at(const ir::function& f, std::uint64_t block, const place& to) {
  if (!to.loop && to.marker == inline_location) return reverse_compute_inline(f, block);
  if (!to.loop) return;
  constexpr refusal refuse{"reverse_compute_at"};
  const scoped_block m(f, block);
  movable(refuse, 1, m.scope, m.child);
  sole_writer(refuse, 2, m.scope, m.child);
  check_neighbours(refuse, m, to.loop, false);
}

inline void decompose_reduction(const ir::function& f, std::uint64_t block) {
  const scoped_block m(f, block);
  sole_writer(refusal{"decompose_reduction"}, 2, m.scope, m.child);
}

/// Whether one of the known reducers makes the block's result; an annotation that names one TVM does
/// not read.
inline bool has_known_reducer(const ir::block_node& block) {
  reduction_form form;
  if (!find_reduction_form(block, form).empty()) return false;
  std::vector<ir::expr> old;
  for (const ir::store_node* s : form.stores)
    old.push_back(ir::load(s->buffer, form.stores[0]->indices));
  return match_reducer(form.identity, old, form.updates).has_value();
}

inline void rfactor(const ir::function& f, const ir::var& loop) {
  constexpr refusal refuse{"rfactor"};
  const path at = find_loop(f, loop);
  const scoped_block m(f, child_blocks(at.target())[0]->block->id);
  const child_block& child = *m;
  sole_writer(refuse, 1, m.scope, m.child);
  stage_pipeline(refuse, 1, m.scope);
  if (!has_known_reducer(m.block()))
    refuse(5, {quoted(m.block()), " combines and starts as no known reducer does"});
  const auto reduces = [&](const ir::loop_node* l) {
    for (std::size_t i = 0; i < child.realize->values.size(); ++i)
      if (m.block().iters[i].kind != ir::iter_kind::spatial &&
          ir::uses_var(child.realize->values[i], l->var))
        return true;
    return false;
  };
  for (const ir::expr& conjunct : ir::conjuncts(child.realize->predicate))
    for (const ir::loop_node* l : child.loops)
      if (!l->var.same(loop) && reduces(l) && ir::uses_var(conjunct, l->var))
        refuse(7, {"the guard of ", quoted(m.block()), " is about ", quoted(*l)});
}

inline void fuse_reduction_epilogue(const ir::function& f, std::uint64_t reduction,
                                    std::uint64_t epilogue) {
  constexpr refusal refuse{"fuse_reduction_epilogue"};
  const scoped_block first(f, reduction), second(f, epilogue);
  sole_writer(refuse, 2, first.scope, first.child);
  sole_writer(refuse, 3, second.scope, second.child);
}

/// Indices are variables and constants: none is computed, as those of windows are.
inline void pad_einsum(const ir::function& f, std::uint64_t block) {
  constexpr refusal refuse{"pad_einsum"};
  const scoped_block m(f, block);
  sole_writer(refuse, 2, m.scope, m.child);
  const auto check = [&](const ir::buffer& buffer, const std::vector<ir::expr>& indices) {
    for (const ir::expr& index : indices)
      if (!ir::is_int(index) && iter_index(m.block(), index) < 0)
        refuse(2, {"an index of \"", buffer->name, "\" in ", quoted(m.block()),
                   " is no iteration variable and no constant"});
  };
  ir::for_each_expr(m.block().body, [&](const ir::expr& e) {
    if (e->op == ir::op::load) check(e->buffer, e->args);
  });
  ir::for_each_stmt(m.block().body, [&](const ir::stmt& s) {
    if (const ir::store_node* to = ir::as_store(s)) check(to->buffer, to->indices);
  });
}

inline void decompose_padding(const ir::function& f, std::uint64_t block) {
  const scoped_block m(f, block);
  sole_writer(refusal{"decompose_padding"}, 2, m.scope, m.child);
}

/// Windows that begin at a quotient `loop * n // m` TVM knows where n is larger than 1.
inline void rolling_buffer(const ir::function& f, std::uint64_t block) {
  const scoped_block m(f, block);
  for (const ir::expr& value : (*m).realize->values)
    for (const auto& [term, factor] : arith::to_linear(value).terms) {
      if (term->op != ir::op::floordiv || !ir::is_int(term->args[1])) continue;
      const arith::linear over = arith::to_linear(term->args[0]);
      if (over.terms.size() == 1 && over.terms[0].second < 2)
        refusal{"rolling_buffer"}(
            3, {"a window of ", quoted(m.block()), " begins at a quotient of a loop"});
    }
}

inline void reindex(const ir::function& f, std::uint64_t block) {
  stage_pipeline(refusal{"reindex"}, 5, scoped_block(f, block).scope);
}
inline void reindex_cache_read(const ir::function& f, std::uint64_t block) {
  stage_pipeline(refusal{"reindex_cache_read"}, 4, scoped_block(f, block).scope);
}
inline void reindex_cache_write(const ir::function& f, std::uint64_t block) {
  stage_pipeline(refusal{"reindex_cache_write"}, 4, scoped_block(f, block).scope);
}
inline void read_at(const ir::function& f, const ir::var& loop) {
  stage_pipeline(refusal{"read_at"}, 5, block_scope(*find_loop(f, loop).scope()->block));
}
inline void write_at(const ir::function& f, const ir::var& loop) {
  stage_pipeline(refusal{"write_at"}, 5, block_scope(*find_loop(f, loop).scope()->block));
}

/// The loop with the smallest factor in a sum, the innermost of several; -1 when there is none.
inline int last_digit(const arith::linear& sum, const child_block& c) {
  int out = -1;
  std::int64_t smallest = 0;
  for (const auto& [term, factor] : sum.terms) {
    const int at = loop_index(c.loops, term);
    const std::int64_t size = std::abs(factor);
    if (at < 0 || (out >= 0 && (size > smallest || (size == smallest && at < out)))) continue;
    out = at;
    smallest = size;
  }
  return out;
}

/// Whether the guard is about a loop of one iteration that is of another part than the others, or
/// that is not in the binding which it cuts. Where such loops stay in the values, TVM counts them; a
/// guard belongs to the binding that has the same last digit.
inline bool mixes_unit_loops(const ir::expr& conjunct, const child_block& c, std::size_t first) {
  const auto uses_loops = [&](std::size_t from, std::size_t to) {
    for (std::size_t l = from; l < to; ++l)
      if (ir::uses_var(conjunct, c.loops[l]->var)) return true;
    return false;
  };
  const auto is_unit_loop = [&](const ir::expr& term) {
    const int at = loop_index(c.loops, term);
    return at >= 0 && ir::is_int(c.loops[static_cast<std::size_t>(at)]->extent, 1);
  };
  const std::optional<arith::linear> sum = footprints::not_negative(conjunct);
  const int last = sum ? last_digit(*sum, c) : -1;
  return last >= 0 && support::any(c.realize->values, [&](const ir::expr& value) {
           if (last_digit(arith::to_linear(value), c) != last) return false;
           return (uses_loops(0, first) && uses_loops(first, c.loops.size())) ||
                  support::any(sum->terms, [&](const auto& term) {
                    return is_unit_loop(term.first) && !ir::uses_var(value, term.first);
                  });
         });
}

inline void divide(const ir::function& f, std::uint64_t block, std::size_t first,
                   bool preserve_unit_iters) {
  const scoped_block m(f, block);
  const child_block& child = *m;
  for (const ir::expr& conjunct : ir::conjuncts(child.realize->predicate))
    if (preserve_unit_iters && mixes_unit_loops(conjunct, child, first))
      refusal{"blockize"}(2, {quoted(m.block()), " cannot be divided here: its guard is about a ",
                              "loop of one iteration apart from the others"});
}

inline void blockize(const ir::function& f, const loop_or_blocks& target,
                     bool preserve_unit_iters) {
  if (target.loop) {
    const path at = find_loop(f, target.loop);
    divide(f, child_blocks(at.target())[0]->block->id, at.loops().size(), preserve_unit_iters);
    return;
  }
  std::size_t common = find_block(f, target.blocks[0]).loops().size();
  const scoped_block first(f, target.blocks[0]);
  for (const std::uint64_t block : target.blocks)
    common = std::min(common, first.scope.common_loops(first.child, first.scope.position(block)));
  for (const std::uint64_t block : target.blocks) divide(f, block, common, preserve_unit_iters);
}

inline void tensorize(const ir::function& f, const block_or_loop& at, const std::string&,
                      bool preserve_unit_iters) {
  if (!at.is_block) blockize(f, {at.loop, {}}, preserve_unit_iters);
}

inline void annotate_buffer_access(const ir::function& f, std::uint64_t block, int buffer_index,
                                   const std::string& buf_type) {
  const path at = find_block(f, block);
  const ir::block_node& b = *ir::as_realize(at.target())->block;
  const auto& list = buf_type == "read" ? b.reads : b.writes;
  if (b.iters.size() != list[static_cast<std::size_t>(buffer_index)].buffer->shape.size())
    refusal{"annotate_buffer_access"}(3, "as many ranges as iteration variables are asked for");
}

/// A question about the first arguments of an instruction.
template <auto Question>
struct asked;
template <class... Args, void (*Question)(const ir::function&, Args...)>
struct asked<Question> {
  static void ask(const schedule_state& s, const std::vector<argument>& args) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      Question(s.function, kind_traits::slot<std::remove_cvref_t<Args>>::get(s, args[I])...);
    }
    (std::index_sequence_for<Args...>{});
  }
};

struct row {
  std::string_view kind;
  void (*ask)(const schedule_state&, const std::vector<argument>&);
};

inline constexpr row table[] = {
    {"reorder", &asked<&reorder>::ask},
    {"parallel", &asked<&parallel>::ask},
    {"vectorize", &asked<&vectorize>::ask},
    {"bind", &asked<&bind>::ask},
    {"reindex", &asked<&reindex>::ask},
    {"reindex_cache_read", &asked<&reindex_cache_read>::ask},
    {"reindex_cache_write", &asked<&reindex_cache_write>::ask},
    {"read_at", &asked<&read_at>::ask},
    {"write_at", &asked<&write_at>::ask},
    {"compute_at", &asked<&compute_at>::ask},
    {"reverse_compute_at", &asked<&reverse_compute_at>::ask},
    {"compute_inline", &asked<&compute_inline>::ask},
    {"reverse_compute_inline", &asked<&reverse_compute_inline>::ask},
    {"decompose_reduction", &asked<&decompose_reduction>::ask},
    {"rfactor", &asked<&rfactor>::ask},
    {"fuse_reduction_epilogue", &asked<&fuse_reduction_epilogue>::ask},
    {"pad_einsum", &asked<&pad_einsum>::ask},
    {"rolling_buffer", &asked<&rolling_buffer>::ask},
    {"decompose_padding", &asked<&decompose_padding>::ask},
    {"blockize", &asked<&blockize>::ask},
    {"annotate_buffer_access", &asked<&annotate_buffer_access>::ask},
    {"tensorize", &asked<&tensorize>::ask},
};

}  // namespace detail::tvm

TILEWRIGHT_INLINE std::optional<schedule_error> tvm_refusal(const schedule_state& before,
                                                            const instruction& what) {
  try {
    for (const detail::tvm::row& r : detail::tvm::table)
      if (r.kind == what.kind->name) r.ask(before, what.args);
    return std::nullopt;
  } catch (const schedule_error& refused) {
    return refused;
  }
}

}  // namespace tilewright::primitive
