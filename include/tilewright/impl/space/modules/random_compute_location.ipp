#pragma once

#include <algorithm>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/random_compute_location.hpp>
#include <tilewright/space/root_blocks.hpp>

namespace tilewright::space {
namespace detail::places {

inline bool may_move(const schedule& s, const std::string& name) {
  if (is_output(s, name) || consumer_names(s, name).empty() || is_tiled(s, name)) return false;
  const primitive::block_scope scope(*ir::root_block(s.function()));
  const int at = scope.find(named_block(s, name).block->id);
  if (at < 0) return false;
  const auto child = static_cast<std::size_t>(at);
  if (scope[child].loops.empty()) return false;
  for (std::size_t other = 0; other < scope.size(); ++other)
    if (other != child && scope.common_loops(child, other) > 0) return false;
  return true;
}

inline void move(schedule& s, const std::string& name) {
  if (!may_move(s, name)) return;
  const block_rv block = s.get_block(name);
  s.compute_at(block, s.sample_compute_location(block), true);
}

}  // namespace detail::places

TILEWRIGHT_INLINE void random_compute_location::operator()(schedule& s, const std::string& name,
                                                           const context& /*where*/,
                                                           chooser& /*choices*/) const {
  constexpr const char* key = "meta_schedule.random_compute_producer";
  if (!has_block(s, name)) return;
  if (named_block(s, name).block->annotations.count(key) > 0) {
    s.unannotate(s.get_block(name), key);
    for (const std::string& producer : producer_names(s, name)) detail::places::move(s, producer);
  }
  if (has_block(s, name)) detail::places::move(s, name);
}

}  // namespace tilewright::space
