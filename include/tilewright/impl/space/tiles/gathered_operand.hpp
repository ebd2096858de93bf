// The dense operand of a sparse product, whose rows are read where the elements of the other operand say, and a
// copy of it that begins at a line of the cache.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// An argument of literal extents that is contiguous along one of the variables of a block, at rows that are read
/// from memory.
struct gathered_operand {
  ir::buffer buffer;
  std::int64_t bytes = 0;
  double uses = 0;  // of an element, on the average
};

/// How often a block runs that stands inside of another one, on the average over rows that are read from memory.
inline double runs_of(const schedule& s, const std::string& around, const std::string& inside) {
  double out = 1;
  for (const std::string& name : {around, inside})
    for (const ir::var& l : primitive::get_loops(s.function(), named_block(s, name).block->id))
      out *= ir::mean_extent(s.function(),
                             ir::as_loop(primitive::find_loop(s.function(), l).target())->extent);
  return out;
}

/// What `inside` gathers in vectors along its variable `along`.
inline std::optional<gathered_operand> operand_gathered(const schedule& s,
                                                        const std::string& around,
                                                        const std::string& inside,
                                                        const ir::var& along) {
  const auto is_argument = [&](const ir::buffer& b) {
    return support::any(s.function().params, [&](const ir::param& p) { return p.buffer == b; });
  };
  std::optional<gathered_operand> out;
  ir::for_each_expr(named_block(s, inside).block->body, [&](const ir::expr& e) {
    if (out || e->op != ir::op::load || e->args.size() < 2 || !is_argument(e->buffer)) return;
    const bool gathers =
        support::any(e->args, [](const ir::expr& i) { return ir::reads_memory(i); });
    const std::int64_t elements = ir::elements_of(e->buffer, 0);  // none where one is no literal
    if (!gathers || !e->args.back().same(along) || elements == 0) return;
    out = gathered_operand{e->buffer, ir::bytes_of(e->buffer),
                           runs_of(s, around, inside) / static_cast<double>(elements)};
  });
  return out;
}

/// Chooses whether a block reads its gathered operand from a copy, which costs two accesses of each element: arrays of
/// users begin anywhere, so that vectors of them lie in two lines each, and a copy begins at a line. Of what is read a
/// few times, or leaves the caches, there is none. A row of so many lines lies in one more where it does not begin at one, and
/// a copy costs about three uses: it is tried first where what it saves is more. Of a layer of 768 x 768 with 128 columns
/// whose array begins 16 bytes behind a line, 0.667 ms become 0.527 ms at 70 % zeros, with the copy, and 0.108 ms 0.082 ms
/// at 95 %, where an element is read 38 times; of a matrix of 62,500 rows of 16 elements anywhere, times 32 columns, 2.4 ms
/// become 1.7 ms.
/// @param around the block around `inside` in the root scope
/// @param along the variable of `inside` along which vectors run
inline void copy_gathered(schedule& s, const std::string& around, const std::string& inside,
                          const ir::var& along, const context& where, chooser& choices) {
  constexpr double fewest_uses = 4, cost = 3;  // uses
  constexpr std::int64_t line = 64;            // bytes
  const std::optional<gathered_operand> operand = operand_gathered(s, around, inside, along);
  if (!operand || operand->uses < fewest_uses) return;
  if (operand->bytes > std::max(where.cpu->l2_bytes, where.cpu->l3_bytes / 2)) return;
  const std::int64_t lanes = where.cpu->lanes(operand->buffer->type);
  if (ir::as_int(operand->buffer->shape.back()) % lanes != 0) return;  // rows would begin anywhere
  const std::int64_t row = ir::as_int(operand->buffer->shape.back()) * bytes(operand->buffer->type);
  const std::int64_t lines = (row + line - 1) / line;
  const bool first = operand->uses >= cost * static_cast<double>(lines + 1);
  if ((choices.pick(2) == 0) != first) return;
  const std::vector<ir::buffer_region>& reads = named_block(s, around).block->reads;
  const auto at = std::find_if(reads.begin(), reads.end(), [&](const ir::buffer_region& r) {
    return r.buffer == operand->buffer;
  });
  if (at == reads.end()) return;
  const block_rv copy =
      s.cache_read(s.get_block(around), static_cast<int>(at - reads.begin()), "global");
  const auto [vectors, lane] = s.split(s.get_loops(copy).back(), {infer, lanes});
  (void)vectors;
  s.vectorize(lane);
}

}  // namespace tilewright::space::detail
