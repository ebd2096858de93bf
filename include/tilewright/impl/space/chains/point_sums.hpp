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

/// Whether the sum is over several strips of points, in each of several parts.
inline bool fills_strips(const block_profile& sum, const context& where, std::int64_t parts = 1) {
  constexpr std::int64_t least_strips = 4;
  return sum.terms() >=
         parts * least_strips * most_strip_vectors * where.cpu->lanes(sum.write.buffer->type);
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

/// The loops of points, taken apart into parts (where there are several), strips of these, and vectors.
struct point_loops {
  std::vector<loop_rv> outer;  // parts, strips
  loop_rv vectors, lanes;
};

inline point_loops split_points(schedule& s, loop_rv loop, std::int64_t parts, expr_rv strip,
                                std::int64_t lanes) {
  std::vector<factor> factors{infer, strip, lanes};
  if (parts > 1) factors.insert(factors.begin(), factor(parts));
  std::vector<loop_rv> made = s.split(loop, factors);
  point_loops out;
  out.lanes = made.back();
  out.vectors = made[made.size() - 2];
  out.outer.assign(made.begin(), made.end() - 2);
  return out;
}

/// A block and the loop in front of which its init goes, when the block has its place.
struct late_init {
  block_rv block;
  loop_rv loop;
};

/// Puts values into rows along the points, in strips.
/// @returns the loop over strips
inline loop_rv strips_of(schedule& s, const of_points& value, std::int64_t parts, expr_rv strip,
                         std::int64_t lanes, std::vector<late_init>& inits) {
  const ir::block block = named_block(s, value.name).block;
  const std::size_t dim = *output_dimension(*block, value.variable);
  if (dim + 1 < block->writes[0].buffer->shape.size()) arrange(s, value.name, {dim, 1});
  const std::optional<block_profile> p = profile(s, value.name);
  const std::size_t points = *p->contiguous();
  const block_rv b = s.get_block(value.name);
  std::vector<loop_rv> loops = s.get_loops(b);
  const point_loops made = split_points(s, loops[points], parts, strip, lanes);
  std::vector<loop_rv> order = made.outer, terms;
  order.push_back(made.vectors);
  const std::size_t first = order.size();
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (i != points) (p->kind[i] == ir::iter_kind::reduce ? terms : order).push_back(loops[i]);
  order.insert(order.end(), terms.begin(), terms.end());
  order.push_back(made.lanes);
  s.reorder(order);
  s.vectorize(made.lanes);
  for (std::size_t i = first; i + 1 < order.size(); ++i) s.unroll(order[i]);
  if (!terms.empty()) inits.push_back({b, terms.front()});
  return made.outer.back();
}

/// Vectors of a strip: such that divide the points into whole strips where there are some, so that nothing is guarded.
inline std::vector<std::int64_t> strip_vectors(std::int64_t points, std::int64_t parts,
                                               std::int64_t lanes) {
  std::vector<std::int64_t> all, whole;
  for (std::int64_t vectors = 2; vectors <= 8; ++vectors) {
    all.push_back(vectors);
    if (points % (parts * vectors * lanes) == 0) whole.push_back(vectors);
  }
  return whole.empty() ? all : whole;
}

/// Four and five vectors are likeliest: fewer load sums more often, more leave registers.
inline std::vector<double> weights_of(const std::vector<std::int64_t>& vectors) {
  std::vector<double> out;
  for (const std::int64_t n : vectors)
    out.push_back(n == 4 || n == 5 ? 4 : n == 3 || n == 6 ? 2 : 1);
  return out;
}

/// Takes a sum apart into one for each lane, and of several parts for each of these.
/// @returns the block of these
inline block_rv sums_of_lanes(schedule& s, const of_points& sum, std::int64_t parts,
                              expr_rv vectors, std::int64_t lanes) {
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(sum.name));
  const point_loops points = split_points(s, loops[sum.variable], parts, vectors, lanes);
  const block_rv of_lanes = s.rfactor(points.lanes, static_cast<int>(loops.size()) - 1);
  return parts == 1 ? of_lanes : s.rfactor(s.get_loops(of_lanes)[sum.variable], 0);
}

/// Sums of lanes below the loop over strips: what they add up for each result is loaded once a strip.
inline void vectorize_lanes(schedule& s, block_rv sums, loop_rv strip, std::int64_t parts,
                            std::vector<late_init>& inits) {
  s.reverse_compute_at(sums, strip, true);
  const std::vector<loop_rv> loops = s.get_loops(sums);
  // strips | lanes | results | two of points; or parts, strips | one part | lanes | results | two of points
  const std::size_t lanes = parts > 1 ? 3 : 1;
  std::vector<loop_rv> order(loops.begin() + static_cast<std::ptrdiff_t>(lanes) + 1, loops.end());
  order.push_back(loops[lanes]);
  s.reorder(order);
  s.vectorize(loops[lanes]);
  s.unroll(loops[loops.size() - 1]);
  s.unroll(loops[loops.size() - 3]);
  inits.push_back({sums, loops[parts > 1 ? 1 : 0]});
}

/// ```
/// for n, k: J[n, k] = F(P[n, ..], k)
/// for i, j, n: H[i, j] += J[n, i] * J[n, j]
///   ->
/// for n_0:
///   for n_1: for k (unrolled), lanes (vectorized): J[k, ..] = F(P[.., ..], k)
///   for i, j: for n_1: H[i, j] += J[i, n_1] * J[j, n_1]
/// ```
/// A structural choice. Each lane has sums of its own in strips of few vectors, and on several threads each thread a part of the points,
/// with such sums for each of them; this comes first where each thread gets several strips. Of 10,000 points with six elements each, 36 and six
/// sums take 6.8 us so, 8.5 us where all strips add to the same results, and 26 us with results in the lanes of a vector, a point at
/// a time. Strips that add to the same results follow each other, so that they come first for up to two threads alone.
/// @returns the blocks of which nothing else is to be decided; none where it was not taken
inline std::vector<std::string> sum_strips(schedule& s, const std::string& name,
                                           const context& where, chooser& choices) {
  const std::optional<point_sums> all = sums_with(s, name);
  if (!all) return {};
  const std::optional<block_profile> p = profile(s, name);
  const std::int64_t lanes = where.cpu->lanes(p->write.buffer->type);
  if (!fills_strips(*p, where)) return {};
  const std::int64_t threads = fills_strips(*p, where, where.threads) ? where.threads : 1;
  if ((choices.pick(2) == 0) != (where.threads <= 2 || threads > 1)) return {};
  const std::vector<std::string> before = root_block_names(s);
  const bool by_lanes = choices.pick(2) == 0;
  const std::int64_t parts = by_lanes ? threads : 1;
  schedule attempt = s;
  try {
    const std::vector<std::int64_t> few = strip_vectors(p->terms(), parts, lanes);
    const expr_rv vectors =
        by_lanes
            ? choices.categorical(attempt, few, weights_of(few))
            : choices.categorical(attempt, {most_strip_vectors / 2, most_strip_vectors}, {1, 3});
    std::vector<block_rv> sums;
    std::vector<late_init> inits;
    for (const of_points& sum : all->sums)
      sums.push_back(by_lanes ? sums_of_lanes(attempt, sum, parts, vectors, lanes)
                              : attempt.get_block(sum.name));
    std::vector<loop_rv> strips;
    for (const of_points& value : all->values)
      strips.push_back(strips_of(attempt, value, parts, vectors, lanes, inits));
    const loop_rv strip = strips.size() > 1 ? attempt.merge(strips) : strips.front();
    for (const block_rv& b : sums) {
      if (by_lanes) {
        vectorize_lanes(attempt, b, strip, parts, inits);
        continue;
      }
      attempt.reverse_compute_at(b, strip, true);
      inits.push_back({b, attempt.get_loops(b).front()});
    }
    if (parts > 1) attempt.parallel(attempt.get_loops(sums.front()).front());
    for (const late_init& init : inits) attempt.decompose_reduction(init.block, init.loop);
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
