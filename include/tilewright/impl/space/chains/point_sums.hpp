// Sums over points of what is computed for each of them, as the normal equations of Jacobians: a strip of points at a time, so that no
// more than a strip of it exists, in rows along the points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/tiles/arranged_dimension.hpp>
#include <tilewright/impl/space/tiles/moving_dimension.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// A block and the position of its variable that runs over the points.
struct of_points {
  std::string name;
  std::size_t variable = 0;
};

/// Sums over the same points, and the blocks that compute for each point what the sums alone read.
struct point_sums {
  std::vector<of_points> values, sums;  // each in the order of the program

  bool has(const std::string& name) const {
    const auto named = [&](const of_points& b) { return b.name == name; };
    return support::any(values, named) || support::any(sums, named);
  }
};

/// The variable of a sum over points: the only one that it reduces; few results lie along the others.
inline std::optional<std::size_t> summed_points(const schedule& s, const std::string& name) {
  constexpr std::int64_t most_results = 64;
  const std::optional<block_profile> p = profile(s, name);
  if (!p || !p->reduction || p->in_order || p->terms() < 1 ||
      p->instances() / p->terms() > most_results)
    return std::nullopt;
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < p->kind.size(); ++i) {
    if (p->kind[i] != ir::iter_kind::reduce) continue;
    if (out) return std::nullopt;
    out = i;
  }
  return out;
}

/// The variable of `value` along which it computes what `reader` reads along the variable `points`: each element at the same
/// number, few elements for each point.
inline std::optional<std::size_t> value_points(const schedule& s, const std::string& value,
                                               const std::string& reader, std::size_t points) {
  constexpr std::int64_t most_elements = 16;
  const std::optional<block_profile> p = profile(s, value);
  if (!p || p->in_order || is_output(s, value)) return std::nullopt;
  const ir::block_node& b = *named_block(s, value).block;
  const ir::block_node& r = *named_block(s, reader).block;
  const std::optional<moving_dimension> read =
      moving_along(r, p->write.buffer, r.iters[points].var);
  if (!read || read->step != 1) return std::nullopt;
  for (std::size_t i = 0; i < p->kind.size(); ++i)
    if (p->kind[i] == ir::iter_kind::spatial && output_dimension(b, i) == read->dim)
      return p->extent[i] == ir::as_int(r.iters[points].dom.extent) &&
                     p->instances() <= most_elements * p->extent[i]
                 ? std::optional(i)
                 : std::nullopt;
  return std::nullopt;
}

/// Elements that the block computes for a point.
inline std::int64_t elements_of_point(const schedule& s, const of_points& value) {
  const std::optional<block_profile> p = profile(s, value.name);
  return p->instances() / p->terms() / p->extent[value.variable];
}

/// The sum of that name with all others that read the same values; nothing where something else reads them, or no value has several
/// elements for a point: vectors along the points are loaded of the others as they lie.
inline std::optional<point_sums> sums_with(const schedule& s, const std::string& name) {
  const std::optional<std::size_t> points = summed_points(s, name);
  if (!points) return std::nullopt;
  std::vector<of_points> all{{name, *points}}, values;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const of_points reader = all[i];
    for (const std::string& value : producer_names(s, reader.name)) {
      const std::optional<std::size_t> v = value_points(s, value, reader.name, reader.variable);
      const auto same = [&](const of_points& known) { return known.name == value; };
      if (!v || support::any(all, same)) continue;
      all.push_back({value, *v});
      values.push_back({value, *v});
      for (const std::string& other : consumer_names(s, value)) {
        const auto known = [&](const of_points& b) { return b.name == other; };
        if (support::any(all, known)) continue;
        const std::optional<std::size_t> also = summed_points(s, other);
        if (!also) return std::nullopt;
        all.push_back({other, *also});
      }
    }
  }
  point_sums out;
  bool records = false;
  for (const std::string& block : root_block_names(s)) {
    const auto named = [&](const of_points& b) { return b.name == block; };
    if (const auto at = support::find(all, named); at != all.end())
      (support::any(values, named) ? out.values : out.sums).push_back(*at);
  }
  for (const of_points& v : out.values) records = records || elements_of_point(s, v) > 1;
  // each sum over these points alone
  const auto length = [&](const of_points& b) {
    return ir::as_int(named_block(s, b.name).block->iters[b.variable].dom.extent);
  };
  const auto as_long = [&](const of_points& b) { return length(b) == length(all.front()); };
  return records && support::all(all, as_long) ? std::optional(std::move(out)) : std::nullopt;
}

/// A strip of points has so many vectors at most.
inline constexpr std::int64_t most_strip_vectors = 16;

/// Whether the sum is over several strips of points.
inline bool fills_strips(const block_profile& sum, const context& where) {
  constexpr std::int64_t least_strips = 4;
  return sum.terms() >=
         least_strips * most_strip_vectors * where.cpu->lanes(sum.write.buffer->type);
}

/// Whether sums over points read each element that the block computes often: cheap as it may be, computed for each result it takes longer than
/// the sums. What is only read from elsewhere is no such value.
inline bool is_value_of_points(const schedule& s, const std::string& name, const context& where) {
  constexpr std::int64_t many = 4;  // elements, each of which meets all of them
  return arithmetic_of(*named_block(s, name).block) > 0 &&
         support::any(consumer_names(s, name), [&](const std::string& reader) {
           const std::optional<point_sums> all = sums_with(s, reader);
           return all && fills_strips(*profile(s, reader), where) &&
                  support::any(all->values, [&](const of_points& v) {
                    return v.name == name && elements_of_point(s, v) >= many;
                  });
         });
}

/// Puts values into rows along the points, in strips.
/// @returns the loop over strips
inline loop_rv strips_of(schedule& s, const of_points& value, expr_rv strip, std::int64_t lanes) {
  const ir::block block = named_block(s, value.name).block;
  const std::size_t dim = *output_dimension(*block, value.variable);
  if (dim + 1 < block->writes[0].buffer->shape.size()) arrange(s, value.name, {dim, 1});
  const std::optional<block_profile> p = profile(s, value.name);
  const std::size_t points = *p->contiguous();
  const block_rv b = s.get_block(value.name);
  std::vector<loop_rv> loops = s.get_loops(b);
  const auto [outer, vectors, inside] = s.split(loops[points], {infer, strip, lanes});
  std::vector<loop_rv> order{outer, vectors}, terms;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (i != points) (p->kind[i] == ir::iter_kind::reduce ? terms : order).push_back(loops[i]);
  order.insert(order.end(), terms.begin(), terms.end());
  order.push_back(inside);
  s.reorder(order);
  s.vectorize(inside);
  for (std::size_t i = 2; i + 1 < order.size(); ++i) s.unroll(order[i]);
  if (!terms.empty()) s.decompose_reduction(b, terms.front());
  return outer;
}

/// Vectors of a strip that divide the points into whole strips.
inline std::vector<std::int64_t> whole_strips(std::int64_t points, std::int64_t lanes) {
  std::vector<std::int64_t> out;
  for (std::int64_t vectors = 2; vectors <= 8; ++vectors)
    if (points % (vectors * lanes) == 0) out.push_back(vectors);
  return out;
}

/// Four and five vectors are likeliest: fewer load sums more often, more leave registers.
inline std::vector<double> weights_of(const std::vector<std::int64_t>& vectors) {
  std::vector<double> out;
  for (const std::int64_t n : vectors)
    out.push_back(n == 4 || n == 5 ? 4 : n == 3 || n == 6 ? 2 : 1);
  return out;
}

/// Takes a sum apart into one for each lane.
/// @returns the block of these
inline block_rv sums_of_lanes(schedule& s, const of_points& sum, expr_rv vectors,
                              std::int64_t lanes) {
  const block_rv b = s.get_block(sum.name);
  const std::vector<loop_rv> loops = s.get_loops(b);
  const auto [strips, inside, lane] = s.split(loops[sum.variable], {infer, vectors, lanes});
  return s.rfactor(lane, static_cast<int>(loops.size()) - 1);
}

/// Sums of lanes below the loop over strips: what they add up for each result is loaded once a strip.
inline void vectorize_lanes(schedule& s, block_rv sums, loop_rv strip) {
  s.reverse_compute_at(sums, strip, true);
  const std::vector<loop_rv> loops = s.get_loops(sums);  // strips | lanes | results | two of points
  std::vector<loop_rv> order(loops.begin() + 2, loops.end());
  order.push_back(loops[1]);
  s.reorder(order);
  s.vectorize(loops[1]);
  s.unroll(loops[loops.size() - 1]);
  s.unroll(loops[loops.size() - 3]);
  s.decompose_reduction(sums, loops.front());
}

/// ```
/// for n, k: J[n, k] = F(P[n, ..], k)
/// for i, j, n: H[i, j] += J[n, i] * J[n, j]
///   ->
/// for n_0:
///   for n_1: for k (unrolled), lanes (vectorized): J[k, ..] = F(P[.., ..], k)
///   for i, j: for n_1: H[i, j] += J[i, n_1] * J[j, n_1]
/// ```
/// A structural choice, the first one for up to two threads: strips follow each other, since all add to the same results. Of 10,000
/// points with six elements each, 36 and six sums take 8.5 us so; results in the lanes of a vector, a point at a time, take 26 us. Where
/// strips of few vectors divide the points, each lane has sums of its own, which takes 6.8 us; that comes first then.
/// @returns the blocks of which nothing else is to be decided; none where it was not taken
inline std::vector<std::string> sum_strips(schedule& s, const std::string& name,
                                           const context& where, chooser& choices) {
  const std::optional<point_sums> all = sums_with(s, name);
  if (!all) return {};
  const std::optional<block_profile> p = profile(s, name);
  const std::int64_t lanes = where.cpu->lanes(p->write.buffer->type);
  if (!fills_strips(*p, where) || (choices.pick(2) == 0) != (where.threads <= 2)) return {};
  const std::vector<std::string> before = root_block_names(s);
  const std::vector<std::int64_t> whole = whole_strips(p->terms(), lanes);
  const bool by_lanes = !whole.empty() && choices.pick(2) == 0;
  schedule attempt = s;
  try {
    const expr_rv vectors =
        by_lanes
            ? choices.categorical(attempt, whole, weights_of(whole))
            : choices.categorical(attempt, {most_strip_vectors / 2, most_strip_vectors}, {1, 3});
    std::vector<block_rv> sums;
    for (const of_points& sum : all->sums)
      sums.push_back(by_lanes ? sums_of_lanes(attempt, sum, vectors, lanes)
                              : attempt.get_block(sum.name));
    std::vector<loop_rv> strips;
    for (const of_points& value : all->values)
      strips.push_back(strips_of(attempt, value, vectors, lanes));
    const loop_rv strip = strips.size() > 1 ? attempt.merge(strips) : strips.front();
    for (const block_rv& b : sums) {
      if (by_lanes) {
        vectorize_lanes(attempt, b, strip);
        continue;
      }
      attempt.reverse_compute_at(b, strip, true);
      attempt.decompose_reduction(b, attempt.get_loops(b).front());
    }
  } catch (const schedule_error&) {
    return {};
  }
  s = std::move(attempt);
  std::vector<std::string> out = root_block_names(s);
  for (const std::string& other : before)
    if (!all->has(other)) std::erase(out, other);
  return out;
}

}  // namespace tilewright::space::detail
