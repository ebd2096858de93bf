// The copy of the one element that an instance of a block touches: what reindex and its relatives
// make.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/dependence/cover/point_access.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/schedule/analysis/conditional_execution.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/analysis/threads.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/cache_stage.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::primitive::detail::point_copy {

/// The element and where a cache keeps it, in terms of the variables of the block.
struct element {
  std::vector<ir::expr> at_buffer, at_cache;
  std::vector<std::size_t> iters;  // positions of the variables that occur
};

/// A block that copies the element, with variables of its own that are called `names`.
inline ir::block make(const ir::block_node& b, const element& e,
                      const std::vector<std::string>& names, const ir::buffer& x,
                      const ir::buffer& cache, bool into_cache, std::string name) {
  ir::block_node out;
  out.name = std::move(name);
  ir::var_map mine;
  for (std::size_t k = 0; k < e.iters.size(); ++k) {
    const ir::iter_var& v = b.iters[e.iters[k]];
    const ir::var own = ir::make_var(names[k], v.var.type());
    mine.emplace(v.var, own);
    out.iters.push_back({own, v.dom, ir::iter_kind::spatial});
  }
  std::vector<ir::expr> from = ir::substitute(into_cache ? e.at_buffer : e.at_cache, mine),
                        to = ir::substitute(into_cache ? e.at_cache : e.at_buffer, mine);
  const ir::expr value = ir::load(into_cache ? x : cache, std::move(from));
  const ir::buffer& target = into_cache ? cache : x;
  out.reads = point_access::reads_of(value);
  for (const ir::expr& i : to)
    for (ir::buffer_region& r : point_access::reads_of(i)) out.reads.push_back(std::move(r));
  out.writes.push_back({target, ir::point_box(to)});
  out.body = ir::make_store(target, std::move(to), value);
  return ir::make_block(std::move(out));
}

/// The domains of the block say the same wherever the copy stands.
inline void check_domains(const refusal& refuse, int requirement, const block_scope& scope,
                          std::size_t self) {
  const ir::block_node& b = scope[self].block();
  if (const ir::iter_var* v = following_a_loop(scope[self]))
    refuse(requirement, {"the domain of iteration variable \"", v->var->name,
                         "\" depends on a loop around ", quoted(b)});
  if (const ir::iter_var* v = following_results(scope, self))
    refuse(requirement, {"the domain of iteration variable \"", v->var->name, "\" of ", quoted(b),
                         " depends on what a block of the scope writes"});
}

/// A while around the block does not let it read something else each time.
inline void check_repetition(const refusal& refuse, int requirement, const path& at,
                             const block_scope& scope, std::size_t self) {
  if (changes_in_while(at, scope, self))
    refuse(requirement,
           {"a while repeats ", quoted(scope[self]), ", which may read something else each time"});
}

/// A copy outside of the loops below `depth` sees the buffer that the block sees.
inline void check_threads(const refusal& refuse, int requirement, const path& at,
                          const child_block& child, std::size_t depth, const ir::buffer& x) {
  if (depth < child.loops.size() && threads_begin_at(at, *child.loops[depth], x))
    refuse(requirement, {"\"", x->name, "\" belongs to threads that loops around ", quoted(child),
                         " start, and the copy stands outside of these"});
}

}  // namespace tilewright::primitive::detail::point_copy
