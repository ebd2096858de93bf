// Short sums of short sums, such as x P z or x P Q z of a few numbers: the inner sums stay in registers, a result in each lane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The terms of one short sum are written out, up to so many.
inline constexpr std::int64_t most_terms = 16;

/// One of several sums. Each sum but the first is read by one other sum of the list, which stands before it, and by nothing else.
struct read_sum {
  std::string name;
  block_profile profile;
  std::size_t lane = 0;      // position of the variable that runs over the lanes of the first sum
  std::int64_t results = 1;  // of the sum, for each lane
  bool read_once = true;     // whether each result is read once
  std::size_t reader = 0;    // position of the reader in the list
};

/// The sums that `reader` alone reads, with few terms and with results in the lanes of `reader`.
inline std::vector<read_sum> sums_of(const schedule& s, const read_sum& reader) {
  std::vector<read_sum> out;
  for (const std::string& producer : producer_names(s, reader.name)) {
    const std::optional<block_profile> p = profile(s, producer);
    if (!p || !p->reduction || is_output(s, producer) || p->terms() > most_terms ||
        consumer_names(s, producer) != std::vector<std::string>{reader.name})
      continue;
    const auto same =
        std::find_if(reader.profile.reads.begin(), reader.profile.reads.end(),
                     [&](const access_profile& r) { return r.buffer == p->write.buffer; });
    if (same == reader.profile.reads.end() || !same->affine) continue;
    const std::int64_t lanes = reader.profile.extent[reader.lane],
                       results = p->instances() / std::max<std::int64_t>(p->terms(), 1);
    const bool read_once = results == reader.profile.instances();
    for (std::size_t i = 0; i < p->kind.size(); ++i)
      if (p->kind[i] == ir::iter_kind::spatial && p->extent[i] == lanes &&
          p->write.stride[i] == same->stride[reader.lane]) {
        out.push_back({producer, *p, i, results / lanes, read_once, 0});
        break;
      }
  }
  return out;
}

/// The block and the sums that it is made of, where all have few terms, their results fill vectors, and the terms that are written out for
/// a vector of results stay few: three sums of 6 x 6 terms take 106 us in lanes and 96 us where one of the sums has a nest of its own. A sum
/// whose results are read several times is computed once for each vector of the block, so that the block has to have no other results.
inline std::vector<read_sum> short_sums(const schedule& s, const std::string& name,
                                        const context& where) {
  constexpr std::int64_t most_of_two = 80, most_of_several = 60;  // terms that are written out
  const std::optional<block_profile> last = profile(s, name);
  if (!last || !last->reduction || last->in_order || last->terms() < 2 ||
      last->terms() > most_terms)
    return {};
  const std::optional<std::size_t> lane = last->contiguous();
  if (!lane || last->extent[*lane] < where.cpu->lanes(last->write.buffer->type)) return {};
  const std::int64_t rows = last->instances() / last->terms() / last->extent[*lane];
  if (rows == 0) return {};
  std::vector<read_sum> out{{name, *last, *lane, rows, true, 0}};
  std::int64_t written_out = last->terms();
  for (std::size_t reader = 0; reader < out.size(); ++reader)
    for (read_sum& sum : sums_of(s, out[reader])) {
      const std::int64_t more = support::saturated_product(sum.results, sum.profile.terms()) / rows;
      if (support::saturated_sum(written_out, more) >
              (out.size() == 1 ? most_of_two : most_of_several) ||
          (!sum.read_once && rows > 1))
        continue;
      written_out += more;
      sum.reader = reader;
      out.push_back(std::move(sum));
    }
  return out.size() > 1 ? out : std::vector<read_sum>{};
}

/// Moves a sum below the loop `at` of its reader, with a result in each lane.
/// @returns its loops there without the lanes
inline std::vector<loop_rv> put_in_lanes(schedule& s, block_rv x, const read_sum& sum, loop_rv at) {
  s.compute_at(x, at, true);
  std::vector<loop_rv> inside = s.get_loops(x);
  inside.erase(inside.begin(), inside.end() - static_cast<std::ptrdiff_t>(sum.profile.kind.size()));
  const auto lane_loop = inside.begin() + static_cast<std::ptrdiff_t>(sum.lane);
  std::rotate(lane_loop, lane_loop + 1, inside.end());
  if (inside.size() > 1) s.reorder(inside);
  s.vectorize(inside.back());
  inside.pop_back();
  return inside;
}

/// ```
/// for n, s, t: J[n, s] += Q[s, t] * Z[n, t]
/// for n, r, s: I[n, r] += P[r, s] * J[n, s]
/// for n, r: Y[n] += X[n, r] * I[n, r]
///   ->
/// for n (parallel):
///   for s, t (unrolled), lanes (vectorized): J[.., s] += Q[s, t] * Z[.., t]
///   for r (unrolled):
///     for s (unrolled), lanes (vectorized): I[..] += P[r, s] * J[.., s]
///     for lanes (vectorized): Y[..] += X[.., r] * I[..]
/// ```
/// A structural choice, the first one: 65,536 sums of 6 x 6 terms take 45 us in lanes and 96 us as two nests; as many of 4 x 4 x 4 terms take
/// 40 us in lanes and 52 us where the innermost sums have a nest of their own.
/// @returns the blocks whose loops are decided; none where there are no short sums, or the choice is nests
inline std::vector<std::string> sum_in_lanes(schedule& s, const std::string& name,
                                             const context& where, chooser& choices) {
  const std::vector<read_sum> all = short_sums(s, name, where);
  if (all.empty() || choices.pick(2) == 1) return {};
  const block_profile& last = all.front().profile;
  const std::size_t lane = all.front().lane;
  const block_rv y = s.get_block(name);
  const std::vector<loop_rv> loops = s.get_loops(y);
  const auto lanes = s.split(loops[lane], {infer, where.cpu->lanes(last.write.buffer->type)});
  std::vector<loop_rv> order, terms;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (last.kind[i] == ir::iter_kind::reduce)
      terms.push_back(loops[i]);
    else
      order.push_back(i == lane ? lanes[0] : loops[i]);
  // a sum whose results are read several times is complete before the first term of its reader
  const loop_rv before_terms = order.back();
  order.insert(order.end(), terms.begin(), terms.end());
  order.push_back(lanes[1]);
  s.reorder(order);
  std::vector<block_rv> sums{y};
  std::vector<std::vector<loop_rv>> own{terms};  // loops of each sum without the lanes, terms last
  for (std::size_t k = 1; k < all.size(); ++k) {
    const block_rv x = s.get_block(all[k].name);
    own.push_back(
        put_in_lanes(s, x, all[k], all[k].read_once ? own[all[k].reader].back() : before_terms));
    sums.push_back(x);
  }
  s.vectorize(lanes[1]);
  for (const std::vector<loop_rv>& some : own)
    for (const loop_rv& l : some) s.unroll(l);
  for (std::size_t k = all.size(); k-- > 0;)
    if (!own[k].empty()) s.decompose_reduction(sums[k], own[k].front());
  std::vector<std::string> out;
  for (const read_sum& sum : all) out.push_back(sum.name);
  return out;
}

}  // namespace tilewright::space::detail
