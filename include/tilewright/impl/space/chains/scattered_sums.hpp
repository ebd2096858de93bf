// Sums each term of which belongs to one result, as those of a histogram and of segments: a term is added where it belongs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/arith/one_hot.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The results among which each term has its place, and what tells it.
struct scattered_results {
  std::size_t variable;
  ir::expr place;
};

inline std::optional<scattered_results> scattered(const ir::block_node& b, const block_profile& p) {
  const ir::store_node* store = ir::as_store(b.body);
  if (!p.reduction || p.in_order || !store || store->value->op != ir::op::add) return std::nullopt;
  for (std::size_t i = 0; i < b.iters.size(); ++i)
    for (const ir::expr& term : store->value->args) {
      if (p.kind[i] != ir::iter_kind::spatial) continue;
      const std::optional<arith::one_hot> hot = arith::as_one_hot(term, b.iters[i].var);
      if (hot && ir::reads_memory(hot->place)) return scattered_results{i, hot->place};
    }
  return std::nullopt;
}

/// ```
/// for b: for n: H[b] += Select(I[n] == b, V[n], 0)   ->   for b: H[b] = 0
///                                                         for n: for b (scattered): H[b] += ..
/// ```
/// What the place of a term depends on goes around its results, other results inside, where they are vectors. A structural choice, the
/// first one, where more results than a vector and all threads have lanes would be looked at for each term
/// (pass/accumulators/scattered_terms.hpp). 65,536 numbers in 256 bins take 0.8 ms looked at.
/// @returns whether the choice was taken; then nothing else of the block is to be decided
inline bool scatter_sums(schedule& s, const std::string& name, const context& where,
                         chooser& choices) {
  const std::optional<block_profile> p = profile(s, name);
  if (!p) return false;
  const ir::block_node& b = *named_block(s, name).block;
  const std::optional<scattered_results> found = scattered(b, *p);
  if (!found) return false;
  const std::int64_t looked_at = where.cpu->lanes(p->write.buffer->type) * where.threads;
  if (p->extent[found->variable] < looked_at || choices.pick(2) == 1) return false;
  const block_rv block = s.get_block(name);
  const std::vector<loop_rv> loops = s.get_loops(block);
  std::vector<loop_rv> order, terms, inside;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (p->kind[i] == ir::iter_kind::reduce)
      terms.push_back(loops[i]);
    else if (i != found->variable)
      (ir::uses_var(found->place, b.iters[i].var) ? order : inside).push_back(loops[i]);
  }
  order.insert(order.end(), terms.begin(), terms.end());
  order.push_back(loops[found->variable]);
  order.insert(order.end(), inside.begin(), inside.end());
  s.reorder(order);
  s.decompose_reduction(block, terms.front());
  s.annotate(loops[found->variable], ir::scattered_note, 1);
  return true;
}

}  // namespace tilewright::space::detail
