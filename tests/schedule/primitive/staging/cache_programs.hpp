// Programs for tests of caches, and what these look at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../check_schedule.hpp"
#include "../../stages.hpp"

namespace caches {

using namespace tilewright;
using stages::indices;
using stages::program;

inline std::vector<std::int64_t> shape(const ir::buffer& b) {
  std::vector<std::int64_t> out;
  for (const ir::expr& e : b->shape) out.push_back(e->integer);
  return out;
}
using sizes = std::vector<std::int64_t>;

/// T = A + 1; X = T * 2; Y = T * 3.
inline ir::function two_readers(int n) {
  program p;
  const ir::buffer a = p.input("A", {n}), t = p.temp("T", {n}), x = p.output("X", {n}),
                   y = p.output("Y", {n});
  p.map(t, {{"i", n}}, [&](const indices& v) { return ir::load(a, v) + stages::f32(1); });
  p.map(x, {{"i", n}}, [&](const indices& v) { return ir::load(t, v) * stages::f32(2); });
  p.map(y, {{"i", n}}, [&](const indices& v) { return ir::load(t, v) * stages::f32(3); });
  return p.finish();
}

inline bool reads(const schedule& s, block_rv b, const std::string& name) {
  for (const ir::buffer_region& r : s.get(b).block->reads)
    if (r.buffer->name == name) return true;
  return false;
}

}  // namespace caches
