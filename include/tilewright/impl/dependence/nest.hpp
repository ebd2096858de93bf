// Nests: loops around a block, outermost first, and the variables of blocks.
#pragma once

#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/node_memory.hpp>

namespace tilewright::dependence {

using loop_nest = std::vector<const ir::loop_node*>;
/// A mark for each of them.
using loop_marks = std::vector<char, support::node_allocator<char>>;

/// What the variable of the loop runs over.
inline ir::range domain_of(const ir::loop_node& loop) { return {loop.min, loop.extent}; }

/// The loops from position `first` on, or the variables of a block, as domains.
inline arith::loop_domains domains(const loop_nest& loops, std::size_t first = 0) {
  arith::loop_domains out;
  out.reserve(loops.size());
  for (std::size_t i = first; i < loops.size(); ++i)
    out.emplace_back(loops[i]->var, domain_of(*loops[i]));
  return out;
}
inline arith::loop_domains domains(const std::vector<ir::iter_var>& iters) {
  arith::loop_domains out;
  for (const ir::iter_var& v : iters) out.emplace_back(v.var, v.dom);
  return out;
}

/// A part of the loops, and their variables.
inline loop_nest loops_before(const loop_nest& loops, std::size_t last) {
  return {loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(last)};
}
inline loop_nest loops_from(const loop_nest& loops, std::size_t first) {
  return {loops.begin() + static_cast<std::ptrdiff_t>(first), loops.end()};
}
inline ir::var_set variables_of(const loop_nest& loops) {
  ir::var_set out;
  for (const ir::loop_node* l : loops) out.insert(l->var);
  return out;
}

/// An analyzer that knows loops, or the variables of a block.
template <class Variables>
arith::analyzer knowing(const Variables& variables) {
  arith::analyzer known;
  known.bind(domains(variables));
  return known;
}

/// Position of the loop whose variable is `v`; -1 when it is none of them.
inline int loop_index(const loop_nest& loops, const ir::expr& v) {
  for (std::size_t i = loops.size(); i-- > 0;)
    if (loops[i]->var.same(v)) return static_cast<int>(i);
  return -1;
}

/// Whether a bound of a loop, or of a range, has the variable in it, or one of several.
template <class Bounds>
bool bounds_use(const Bounds& of, const ir::var& v) {
  return ir::uses_var(of.min, v) || ir::uses_var(of.extent, v);
}
template <class Bounds>
bool bounds_use(const Bounds& of, const ir::var_set& vars) {
  return ir::uses_any(of.min, vars) || ir::uses_any(of.extent, vars);
}
/// Whether a bound is loaded, or is from that buffer.
template <class Bounds>
bool bounds_load(const Bounds& of) {
  return ir::reads_memory(of.min) || ir::reads_memory(of.extent);
}
template <class Bounds>
bool bounds_load(const Bounds& of, const ir::buffer& from) {
  return ir::loads_from(of.min, from) || ir::loads_from(of.extent, from);
}

/// The loop around another body, with variables replaced: its own too, by a variable.
inline ir::stmt copy_of_loop(const ir::loop_node& loop, const ir::var_map& renamed, ir::stmt body) {
  const auto own = renamed.find(loop.var);
  return ir::make_loop(own == renamed.end() ? loop.var : ir::var(own->second),
                       ir::substitute(loop.min, renamed), ir::substitute(loop.extent, renamed),
                       std::move(body), loop.loop, loop.annotations, loop.thread_tag);
}

/// The loops around another body, as they are or with variables replaced.
inline ir::stmt nest_around(const loop_nest& loops, ir::stmt body) {
  for (std::size_t l = loops.size(); l-- > 0;) body = ir::with_body(*loops[l], std::move(body));
  return body;
}
inline ir::stmt nest_around(const loop_nest& loops, const ir::var_map& renamed, ir::stmt body) {
  for (std::size_t l = loops.size(); l-- > 0;)
    body = copy_of_loop(*loops[l], renamed, std::move(body));
  return body;
}
/// Serial loops from 0 around a body.
template <class Variables>
ir::stmt nest_around(const Variables& axes, const std::vector<ir::expr>& extents, ir::stmt body) {
  for (std::size_t d = axes.size(); d-- > 0;)
    body = ir::make_loop(axes[d], ir::integer(axes[d].type(), 0), extents[d], std::move(body));
  return body;
}

/// What the loops begin with.
inline ir::var_map first_iterations(const loop_nest& loops) {
  ir::var_map out;
  for (const ir::loop_node* l : loops) out.emplace(l->var, l->min);
  return out;
}

/// New variables for the loops, called as theirs with `suffix` behind.
inline ir::var_map fresh_loops(const loop_nest& loops, const char* suffix = "") {
  ir::var_map out;
  for (const ir::loop_node* l : loops)
    out.emplace(l->var, ir::make_var(l->var->name + suffix, l->var.type()));
  return out;
}

/// The statements of a sequence; one that is none stands for itself.
inline std::vector<ir::stmt> statements_of(const ir::stmt& body) {
  if (const ir::seq_node* seq = ir::as_seq(body)) return seq->stmts;
  return {body};
}

}  // namespace tilewright::dependence
