#pragma once

#include <algorithm>

#include <tilewright/space/modules/fuse_rows.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail {

/// Everything that the block needs, directly or not, the block itself left out; consumers before
/// producers.
inline std::vector<std::string> chain_above(const schedule& s, const std::string& output) {
  std::vector<std::string> needed{output};
  const std::vector<std::string> order = root_block_names(s);
  for (std::size_t i = 0; i < needed.size(); ++i)
    for (const std::string& p : producer_names(s, needed[i]))
      if (std::find(needed.begin(), needed.end(), p) == needed.end()) needed.push_back(p);
  std::vector<std::string> out;
  for (auto name = order.rbegin(); name != order.rend(); ++name)
    if (*name != output && std::find(needed.begin(), needed.end(), *name) != needed.end())
      out.push_back(*name);
  return out;
}

inline bool move_all(schedule& s, const std::vector<std::string>& chain, const std::string& output,
                     std::size_t depth) {
  schedule attempt = s;
  const loop_rv at = attempt.get_loops(attempt.get_block(output))[depth];
  try {
    for (const std::string& name : chain) attempt.compute_at(attempt.get_block(name), at, true);
  } catch (const schedule_error&) {
    return false;
  }
  s = std::move(attempt);
  return true;
}

}  // namespace detail

TILEWRIGHT_INLINE void fuse_rows(schedule& s, const std::string& output, chooser& choices) {
  const std::vector<std::string> chain = detail::chain_above(s, output);
  const std::size_t loops = loop_count(s, output);
  if (chain.empty() || loops < 2 || choices.pick(2) == 1) return;
  for (std::size_t depth = loops - 1; depth-- > 0;)
    if (detail::move_all(s, chain, output, depth)) return;
}

}  // namespace tilewright::space
