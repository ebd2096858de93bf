// Results along a short axis that share what each point sums over it: the whole chain runs once over the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/chains/moved_chain.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The variables of a block, but the one along which it is contiguous, for all values of which one result of the chain serves.
/// Nothing where there are none, or more values than are written out.
inline std::vector<std::size_t> short_axes(const schedule& s, const block_profile& p,
                                           const std::vector<std::string>& chain,
                                           std::size_t contiguous) {
  constexpr std::int64_t most = 32;
  std::int64_t values = 1;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < p.kind.size(); ++i) {
    const auto serves_all = [&](const access_profile& r) {
      return r.affine && r.stride[contiguous] == 1 && r.stride[i] == 0 &&
             support::any(chain, [&](const std::string& name) {
               return support::any(
                   named_block(s, name).block->writes,
                   [&](const ir::buffer_region& w) { return w.buffer == r.buffer; });
             });
    };
    if (i == contiguous || support::none(p.reads, serves_all)) continue;
    values = support::saturated_product(values, p.extent[i]);
    out.push_back(i);
  }
  return values >= 2 && values <= most ? out : std::vector<std::size_t>{};
}

/// The variable along the points of a block whose results are a few numbers of each point side by side, as quaternions are, of which
/// all share one result of the chain. Nothing where there is none.
inline std::optional<std::size_t> points_of_records(const schedule& s, const block_profile& p,
                                                    const std::vector<std::string>& chain,
                                                    std::size_t contiguous) {
  constexpr std::int64_t most =
      8;  // vectors of so many results are shuffled together when they are stored
  if (p.extent[contiguous] < 2 || p.extent[contiguous] > most) return std::nullopt;
  for (std::size_t i = 0; i < p.kind.size(); ++i) {
    const auto serves_point = [&](const access_profile& r) {
      return r.affine && r.stride[contiguous] == 0 && r.stride[i] == 1 &&
             support::any(chain, [&](const std::string& name) {
               return named_block(s, name).block->writes[0].buffer == r.buffer;
             });
    };
    if (i != contiguous && p.kind[i] == ir::iter_kind::spatial && p.write.affine &&
        p.write.stride[i] == p.extent[contiguous] && support::any(p.reads, serves_point))
      return i;
  }
  return std::nullopt;
}

/// ```
/// for y, x, q: R[y, x] += F[q, y, x]
/// for q, y, x: G[q, y, x] = F[q, y, x] / R[y, x]
///   ->
/// for y, x_0:
///   for q, lanes (vectorized): R[..] += F[q, ..]
///   for q (unrolled), lanes (vectorized): G[q, ..] = F[q, ..] / R[..]
/// ```
/// A structural choice, the first one: what the points of a few vectors sum stays in the first-level cache, and what their results
/// share, as quotients of the sums, is computed once. Density and velocity of 128 x 128 points in nine directions, and what they collide to, take
/// 18.6 us so, 24.3 us in columns of whole planes; the sums written out as well, 18.5 us. Results
/// that lie side by side, a record for each point, go along the points, too: 10,000 quaternions that are blended and normalized take
/// 4.9 us so, 7.5 us in three passes.
/// @returns whether the chain was put together so
inline bool walk_points(schedule& s, const std::vector<std::string>& chain,
                        const std::string& output, const context& where, chooser& choices) {
  const std::optional<block_profile> p = profile(s, output);
  const std::optional<std::size_t> along = p && !p->reduction ? p->contiguous() : std::nullopt;
  if (!along) return false;
  const std::int64_t lanes = where.cpu->lanes(p->write.buffer->type);
  const std::optional<std::size_t> records = points_of_records(s, *p, chain, *along);
  const std::size_t points = records.value_or(*along);
  const std::vector<std::size_t> own =
      records ? std::vector<std::size_t>{*along} : short_axes(s, *p, chain, *along);
  if (own.empty() || p->extent[points] < lanes) return false;
  schedule attempt = s;
  const std::vector<loop_rv> loops = attempt.get_loops(attempt.get_block(output));
  if (loops.size() != p->kind.size()) return false;
  const expr_rv width = choices.categorical(attempt, {lanes, 2 * lanes, 4 * lanes}, {1, 1.5, 0.5});
  const auto [strip, inside] = attempt.split(loops[points], {infer, width});
  std::vector<loop_rv> order;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (i != points && !support::contains(own, i)) order.push_back(loops[i]);
  order.push_back(strip);
  const std::size_t depth = order.size() - 1;
  for (const std::size_t i : own) order.push_back(loops[i]);
  order.push_back(inside);
  attempt.reorder(order);
  if (!move_all(attempt, chain, output, depth) || choices.pick(2) == 1) return false;
  for (const std::size_t i : own) attempt.unroll(loops[i]);
  attempt.vectorize(inside);
  s = std::move(attempt);
  return true;
}

}  // namespace tilewright::space::detail
