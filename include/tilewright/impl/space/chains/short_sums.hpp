// Short sums of short sums, such as x P z or x P Q z of a few numbers: the inner ones stay in registers, a result in each lane.
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

/// One of several sums, of which each but the first is read by one before it alone.
struct read_sum {
  std::string name;
  block_profile profile;
  std::size_t lane = 0;      // its variable that is the lane of the first sum
  std::int64_t results = 1;  // for each lane
  bool read_once = true;     // each of them
  std::size_t reader = 0;    // its position
};

/// The sums that this one reads and nothing else does, of few terms and with results in the same lanes.
inline std::vector<read_sum> sums_of(const schedule& s, const read_sum& reader) {
  constexpr std::int64_t few = 16;
  std::vector<read_sum> out;
  for (const std::string& producer : producer_names(s, reader.name)) {
    const std::optional<block_profile> p = profile(s, producer);
    if (!p || !p->reduction || is_output(s, producer) || p->terms() > few ||
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

/// The block and the sums that it is made of, where all have few terms and results that fill vectors, and what is written out for a
/// vector of results stays short: of three sums, those of 6 x 6 terms take 106 us in lanes and 96 us where one has a nest of its own. Sums
/// that are read several times are computed once for each vector, so that all results have to lie in lanes.
inline std::vector<read_sum> short_sums(const schedule& s, const std::string& name,
                                        const context& where) {
  constexpr std::int64_t few = 16, most_of_two = 80, most = 60;
  const std::optional<block_profile> last = profile(s, name);
  if (!last || !last->reduction || last->in_order || last->terms() < 2 || last->terms() > few)
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
      if (support::saturated_sum(written_out, more) > (out.size() == 1 ? most_of_two : most) ||
          (!sum.read_once && rows > 1))
        continue;
      written_out += more;
      sum.reader = reader;
      out.push_back(std::move(sum));
    }
  return out.size() > 1 ? out : std::vector<read_sum>{};
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
/// A structural choice, the first one: 65,536 sums of 6 x 6 terms take 45 us so, 96 us as two nests, and as many of 4 x 4 x 4 terms 40 us,
/// 52 us where the innermost sums have a nest of their own.
/// @returns the blocks that were decided; none where it was not taken, or a primitive refuses
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
  // of what is read several times, all is there before the first term of what reads it
  const loop_rv first = order.back();
  order.insert(order.end(), terms.begin(), terms.end());
  order.push_back(lanes[1]);
  s.reorder(order);
  std::vector<block_rv> sums{y};
  std::vector<std::vector<loop_rv>> own{
      terms};  // loops of each but lanes, the last of which is a term
  for (std::size_t k = 1; k < all.size(); ++k) {
    const block_rv x = s.get_block(all[k].name);
    const loop_rv at = all[k].read_once ? own[all[k].reader].back() : first;
    s.compute_at(x, at, true);
    std::vector<loop_rv> inside = s.get_loops(x);
    inside.erase(inside.begin(),
                 inside.end() - static_cast<std::ptrdiff_t>(all[k].profile.kind.size()));
    const auto lane_loop = inside.begin() + static_cast<std::ptrdiff_t>(all[k].lane);
    std::rotate(lane_loop, lane_loop + 1, inside.end());
    if (inside.size() > 1) s.reorder(inside);
    s.vectorize(inside.back());
    inside.pop_back();
    sums.push_back(x);
    own.push_back(std::move(inside));
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
