// What tests of movement look at in a nest: constant extents, and whether a block is guarded.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/schedule/schedule.hpp>

namespace nests {

using sizes = std::vector<std::int64_t>;

inline std::int64_t extent(const tilewright::schedule& s, tilewright::loop_rv l) {
  return s.get(l).extent->integer;
}
inline sizes extents(tilewright::schedule& s, tilewright::block_rv b) {
  sizes out;
  for (const tilewright::loop_rv l : s.get_loops(b)) out.push_back(extent(s, l));
  return out;
}
inline bool guarded(const tilewright::schedule& s, tilewright::block_rv b) {
  return !tilewright::ir::is_true(s.get(b).predicate);
}

}  // namespace nests
