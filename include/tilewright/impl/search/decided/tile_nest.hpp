// Loops of a block as a trace leaves them, and how much of its operands tiles hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/search/decided/decided_numbers.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>

namespace tilewright::search::detail::decided {

/// A loop that was made of loops of the function: which iteration variables of its block it moves,
/// and by how many steps each.
struct tile_loop {
  known_size extent;
  std::vector<std::pair<std::size_t, known_size>> steps;
  std::string thread;           // what it is bound to
  std::int64_t last_stage = 0;  // of its software pipeline
  bool background = false;      // which copies in the background
};

/// A block of the function, as long as all that happens to its loops is known.
struct block_nest {
  const ir::block_node* block = nullptr;
  std::vector<std::uint32_t> loops;  // variables of the trace, outermost first
  bool named = false;                // the loops have variables
  std::int64_t fewest_threads = 0;
};

/// A copy of an operand in shared memory, or of a result in registers.
struct operand_copy {
  std::uint32_t of = 0;  // the nest
  bool result = false;
  ir::buffer_region operand;
  known_size elements;  // of a tile, once it has its place
};

using loop_table = std::map<std::uint32_t, tile_loop>;  // by the variable of the trace

/// Elements of the operand that the loops inside of `at` touch, and the threads around; of a result the virtual
/// threads, which are one.
inline known_size elements_of_tile(const block_nest& n, const rv& at, const operand_copy& c,
                                   const loop_table& loops) {
  std::vector<std::int64_t> steps(n.block->iters.size(), 1);
  bool inside = false;
  for (const std::uint32_t variable : n.loops) {
    const tile_loop& l = loops.at(variable);
    const bool together =
        (l.thread.rfind("threadIdx", 0) == 0 && !c.result) || l.thread.rfind("vthread", 0) == 0;
    if (inside || together)
      for (const auto& [iter, count] : l.steps) {
        if (!count) return std::nullopt;
        steps[iter] *= *count;
      }
    inside = inside || variable == at.number;
  }
  if (!inside) return std::nullopt;
  std::int64_t out = 1;
  for (std::size_t d = 0; d < c.operand.box.size(); ++d) {
    const ir::range& side = c.operand.box[d];
    if (!ir::is_int(side.extent) || !ir::is_int(c.operand.buffer->shape[d])) return std::nullopt;
    const arith::linear sum = arith::to_linear(side.min);
    std::int64_t width = side.extent->integer;
    std::size_t found = 0;
    for (std::size_t i = 0; i < n.block->iters.size(); ++i) {
      const std::int64_t factor = sum.coefficient(n.block->iters[i].var);
      if (factor == 0) continue;
      ++found;
      const std::int64_t most = std::min(steps[i], ir::is_int(n.block->iters[i].dom.extent)
                                                       ? n.block->iters[i].dom.extent->integer
                                                       : steps[i]);
      width += std::abs(factor) * (most - 1);
    }
    if (found != sum.terms.size()) return std::nullopt;
    out *= std::min(width, c.operand.buffer->shape[d]->integer);
  }
  return out;
}

/// How many contents of a buffer are there at once.
inline std::int64_t versions(const block_nest& n, const loop_table& loops) {
  std::int64_t out = 1;
  for (const std::uint32_t variable : n.loops) {
    const tile_loop& l = loops.at(variable);
    if (l.background && l.extent) out = std::max(out, std::min(l.last_stage + 1, *l.extent));
  }
  return out;
}

}  // namespace tilewright::search::detail::decided
