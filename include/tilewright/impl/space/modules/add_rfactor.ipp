#pragma once

#include <algorithm>

#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/add_rfactor.hpp>
#include <tilewright/space/root_blocks.hpp>

namespace tilewright::space {
namespace detail::partial_results {

/// Below this many reduction steps in all, handing out work costs more than it saves.
constexpr std::int64_t least_work = 16384;
constexpr std::int64_t parts_per_thread = 16;

struct volume {
  std::int64_t spatial = 1, reduced = 1;
};

inline volume volume_of(const block_profile& p) {
  volume out;
  for (std::size_t i = 0; i < p.kind.size(); ++i)
    (p.kind[i] == ir::iter_kind::reduce ? out.reduced : out.spatial) *= p.extent[i];
  return out;
}

}  // namespace detail::partial_results

TILEWRIGHT_INLINE bool needs_rfactor(const schedule& s, const std::string& name,
                                     const context& where) {
  using namespace detail::partial_results;
  const std::optional<block_profile> p = reduction_profile(s, name);
  if (where.threads < 2 || !p || p->in_order || !p->reduction || !p->has(ir::iter_kind::reduce))
    return false;
  const volume size = volume_of(*p);
  return size.spatial < where.threads && size.spatial * size.reduced >= least_work;
}

TILEWRIGHT_INLINE void add_rfactor(schedule& s, const std::string& name, const context& where,
                                   chooser& choices) {
  using namespace detail::partial_results;
  const block_profile p = *reduction_profile(s, name);
  if (choices.pick(2) == 1) return;
  const block_rv block = s.get_block(name);
  const std::vector<loop_rv> loops = s.get_loops(block);
  std::vector<loop_rv> order, reduced;
  for (const std::size_t i : p.walking_order()) {
    order.push_back(loops[i]);
    if (p.kind[i] == ir::iter_kind::reduce) reduced.push_back(loops[i]);
  }
  if (order.size() > 1) s.reorder(order);
  const loop_rv all = reduced.size() > 1 ? s.fuse(reduced) : reduced[0];

  const std::int64_t extent = volume_of(p).reduced;
  std::vector<std::int64_t> lengths;
  for (std::int64_t parts = where.threads; parts <= where.threads * parts_per_thread; parts *= 2)
    if (const std::int64_t length = (extent + parts - 1) / parts; length > 1)
      lengths.push_back(length);
  const std::vector<expr_rv> tiles = choices.tile(s, all, lengths, lengths.front());
  const auto [outer, inner] = s.split(all, {infer, tiles[1]});
  s.rfactor(outer, 0);
}

}  // namespace tilewright::space
