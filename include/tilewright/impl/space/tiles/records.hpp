// Reductions over an array of records, as the smallest and the largest coordinates of points: a result for each field.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The variables of a reduction of records.
struct record_axes {
  std::size_t field, record;
  std::size_t usual = 0;  // the position in `at_once` of what is mostly fastest
  std::vector<std::int64_t>
      at_once;  // records that fill whole vectors, and divide the number of records where some do
};

/// Of a block that has these two variables alone, and reads nothing but whole records, one behind the other, whose fields are
/// fewer than the lanes of a vector; nothing of others.
inline std::optional<record_axes> axes_of_records(const schedule& s, const std::string& name,
                                                  const context& where) {
  constexpr std::int64_t least_vectors = 32;
  constexpr std::int64_t usual_vectors = 8;  // of each result: more wait for memory no less
  constexpr std::int64_t least_groups = 40;  // beside which combining partial results is little
  constexpr std::size_t most_partial = 12;   // vectors of partial results, which stay in registers
  const std::optional<block_profile> p = reduction_profile(s, name);
  if (!p || !p->reduction || p->in_order || p->kind.size() != 2 || p->reads.empty() ||
      !p->contiguous())
    return std::nullopt;
  record_axes out{*p->contiguous(), 1 - *p->contiguous(), 0, {}};
  const std::int64_t fields = p->extent[out.field], records = p->extent[out.record];
  std::int64_t lanes = where.cpu->lanes(p->write.buffer->type);
  for (const access_profile& read : p->reads)
    lanes = std::min<std::int64_t>(lanes, where.cpu->lanes(read.buffer->type));
  const auto is_record = [&](const access_profile& read) {
    return read.affine && read.stride[out.field] == 1 && read.stride[out.record] == fields;
  };
  if (p->kind[out.record] != ir::iter_kind::reduce || lanes < 2 || fields < 2 || fields >= lanes ||
      !support::all(p->reads, is_record) || records * fields < least_vectors * lanes)
    return std::nullopt;
  const std::size_t results = named_block(s, name).block->writes.size();
  std::vector<std::int64_t> others;  // what these leave of the records is guarded, and runs once
  for (std::int64_t n = 2; n <= 8 * lanes; ++n)
    if (n * fields % lanes == 0 &&
        static_cast<std::size_t>(n * fields / lanes) * results <= most_partial)
      (records % n == 0 ? out.at_once : others).push_back(n);
  if (out.at_once.empty()) out.at_once = std::move(others);
  for (std::size_t k = 1; k < out.at_once.size(); ++k)
    if (out.at_once[k] * fields <= usual_vectors * lanes &&
        out.at_once[k] * least_groups <= records)
      out.usual = k;
  return out.at_once.empty() ? std::nullopt : std::optional(std::move(out));
}

/// Makes partial results of some records, in the order of memory, and then the results of these:
/// ```
/// i, n  ->  n0 | n1 and i (vectorized),  then  n1 | i
/// ```
/// so that vectors are loaded as they lie, where those along the records are shuffled out of several for each field: the
/// smallest and the largest of 100,000 points in space take 28 us so, and 9 us in partial results. A structural choice, the
/// first one for up to two threads, which partial results in parallel would not make up for.
/// @returns whether it was taken; then nothing else of the block is to be decided
inline bool reduce_records(schedule& s, const std::string& name, const context& where,
                           chooser& choices) {
  const std::optional<record_axes> axes = axes_of_records(s, name, where);
  if (!axes || (choices.pick(2) == 0) != (where.threads <= 2)) return false;
  schedule attempt = s;
  try {
    const std::vector<loop_rv> loops = attempt.get_loops(attempt.get_block(name));
    std::vector<double> weights(axes->at_once.size(), 1);
    weights[axes->usual] = 2;
    const expr_rv count = choices.categorical(attempt, axes->at_once, weights);
    const auto [groups, record] = attempt.split(loops[axes->record], {infer, count});
    attempt.reorder(groups, record, loops[axes->field]);
    const block_rv partial = attempt.rfactor(record, 0);
    const std::vector<loop_rv> inner = attempt.get_loops(partial);
    attempt.vectorize(attempt.fuse(inner[1], inner[2]));
  } catch (const schedule_error&) {
    return false;  // a reduction that cannot be done in parts
  }
  s = std::move(attempt);
  return true;
}

}  // namespace tilewright::space::detail
