// Lanes at known places near each other, as elements a few steps apart, or channels of pixels that lie
// in groups: the vectors between the first and the last lane are loaded and shuffled together, where
// loading lane by lane would take two instructions each.
//
//   X[l // 3 * 6 + l % 3], l in vectorized(16)   ->   lanes 0 1 2 6 7 8 12 13 14 18 19 ... of two vectors
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/lanes/near_parts.hpp>
#include <tilewright/impl/backend/llvm/lanes/overlapping_vectors.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::backend::llvm {

/// How many elements behind `constant` and `scalars` each lane lies; empty where only the running code
/// knows.
TILEWRIGHT_INLINE std::vector<std::int64_t> emitter::lane_distances(const affine& a) const {
  if (!a.lane_steps.empty()) return {};
  std::vector<std::int64_t> out;
  for (int i = 0; i < lane.lanes; ++i) out.push_back(i * a.lane_step);
  for (const auto& [v, k] : a.vectors) {
    const auto known = lane_numbers_.find(v);
    if (known == lane_numbers_.end()) return {};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += k * known->second[i];
  }
  return out;
}

/// Numbers of lanes that rise by one step together: `l // 3 * 3 + l % 3` is l.
TILEWRIGHT_INLINE affine emitter::with_even_steps(affine a) const {
  if (a.vectors.empty()) return a;
  const std::vector<std::int64_t> distances = lane_distances(a);
  if (distances.size() < 2) return a;
  const std::int64_t step = distances[1] - distances[0];
  for (std::size_t i = 1; i < distances.size(); ++i)
    if (distances[i] - distances[i - 1] != step) return a;
  a.vectors.clear();
  a.constant += distances[0];
  a.lane_step = step;
  return a;
}

/// The last vector ends with the last element, so that nothing is read behind it. Where lanes may be off,
/// only the elements of the others are read, and so where all lie within one vector. Null where lanes lie
/// far apart or anywhere, and where lanes that may be off share elements.
TILEWRIGHT_INLINE value_ref emitter::load_near(const place& p, const affine& a, bool safe) {
  const std::vector<std::int64_t> distances = lane_distances(a);
  if (distances.size() < 2) return nullptr;
  detail::near_parts::near_lanes near(distances);
  const std::int64_t lanes = near.lanes();
  if (near.span > target::most_lane_step * (lanes - 1) + 1) return nullptr;
  if (!a.vectors.empty() && 2 * near.parts() > lanes) return nullptr;
  near.find_readers();
  if (!safe && near.shared) return nullptr;
  affine first = a;
  first.vectors.clear();
  first.lane_step = 0;
  first.constant += *std::min_element(distances.begin(), distances.end());
  const type_ref all = b.stored(p.type, lane.lanes);
  const auto loaded = [&](std::int64_t part) {
    affine from = first;
    from.constant += near.begin(part);
    const auto size = static_cast<unsigned>(bytes(p.type));
    if (safe && near.span >= lanes) return b.load(all, pointer(p, from), size);
    std::vector<std::int64_t> readers, wanted;
    for (std::int64_t i = 0; i < lanes; ++i) {
      readers.push_back(near.reader[static_cast<std::size_t>(near.begin(part) + i)]);
      wanted.push_back(readers.back() != lanes);
    }
    const value_ref on =
        safe ? b.integers(b.i1, wanted)
             : b.c.BuildShuffleVector(b.b, lane.mask, b.c.ConstNull(b.c.TypeOf(lane.mask)),
                                      b.integers(b.i32, readers), "");
    return b.intrinsic("llvm.masked.load", {all, b.ptr},
                       {pointer(p, from), b.integer(b.i32, size), on, b.c.ConstNull(all)});
  };
  const auto shuffled = [&](value_ref x, value_ref y, std::int64_t part) {
    return b.c.BuildShuffleVector(b.b, x, y, b.integers(b.i32, near.taken(part)), "");
  };
  value_ref out = loaded(0);
  if (near.parts() == 1) return shuffled(out, b.c.GetPoison(all), 0);
  for (std::int64_t part = 1; part < near.parts(); ++part) out = shuffled(out, loaded(part), part);
  return out;
}

/// Elements anywhere with those behind them, as interpolation in a table reads: a pair is gathered as one number twice as wide, since
/// instructions that gather take as long as they have lanes. Null where lanes lie otherwise, or no load of the statement reads the element beside.
TILEWRIGHT_INLINE value_ref emitter::load_pair(const ir::expr& e, const place& p, const affine& a) {
  if (bytes(p.type) != 4 || a.vectors.empty() || !lane_distances(a).empty() ||
      !p.strides.back().fixed() || p.strides.back().constant != 1)
    return nullptr;
  if (!whole_.empty()) pairs_.found.emplace(std::exchange(whole_, {}));
  const auto seat = pairs_.found ? pairs_.found->of(e) : std::nullopt;
  if (!seat) return nullptr;
  const auto known = pairs_.values.find(seat->pair);
  if (known != pairs_.values.end() && known->second.in == b.here())
    return seat->behind ? known->second.behind : known->second.front;

  const auto [front, behind] = pairs_.found->both(seat->pair);
  const auto is_safe = [&](const ir::expr& load) { return in_bounds(load->buffer, load->args); };
  if (lane.mask && !(is_safe(front) && is_safe(behind))) return nullptr;
  affine at_front = a;
  if (seat->behind) at_front.constant -= 1;
  const int lanes = lane.lanes;
  const type_ref wide = b.vector(b.i64, lanes);
  value_ref pairs = b.c.GetPoison(wide);
  if (gathers(p, a))
    pairs = b.intrinsic("llvm.masked.gather", {wide, b.vector(b.ptr, lanes)},
                        {lane_pointers(p, at_front), b.integer(b.i32, bytes(p.type)),
                         b.integer(b.i1, 1, lanes), b.c.ConstNull(wide)});
  else
    for (int i = 0; i < lanes; ++i)
      pairs = b.c.BuildInsertElement(
          b.b, pairs,
          b.load(b.i64, lane_pointer(p, at_front, i), static_cast<unsigned>(bytes(p.type))),
          b.integer(b.i32, i), "");
  const value_ref elements = b.convert(opcode::bitcast, pairs, b.stored(p.type, 2 * lanes));
  const auto every_second = [&](std::int64_t first) {
    return b.c.BuildShuffleVector(b.b, elements, b.c.GetPoison(b.c.TypeOf(elements)),
                                  b.ramp(b.i32, first, 2, lanes), "");
  };
  const gathered_pairs::loaded now{b.here(), every_second(0), every_second(1)};
  pairs_.values[seat->pair] = now;
  return seat->behind ? now.behind : now.front;
}

/// What loads that lie side by side have in common: all but their constants.
TILEWRIGHT_INLINE emitter::column_key emitter::beside_key(const place& of, const affine& lanes) {
  return {nullptr, of.base, lanes.scalars, lanes.lane_steps, lanes.lane_step, 0, 0};
}

/// Finds the loads that lie side by side in the statement.
TILEWRIGHT_INLINE void emitter::find_neighbours() {
  std::map<column_key, std::vector<std::int64_t>> places;
  ir::for_each_expr(*std::exchange(beside_, nullptr), [&](const ir::expr& e) {
    if (e->op != ir::op::load) return;
    bool plain = true;  // so that nothing is loaded here for an index
    for (const ir::expr& index : e->args)
      ir::for_each_expr(index, [&](const ir::expr& term) {
        plain = plain &&
                (term->op == ir::op::var || term->op == ir::op::integer ||
                 term->op == ir::op::add || term->op == ir::op::sub || term->op == ir::op::mul);
      });
    if (!plain) return;
    const place& home = place_of(e->buffer);
    const affine lanes = offset(home, e->buffer, e->args);
    // whole vectors are read where a condition may leave them out
    if (lanes.vectors.empty() && (lanes.lane_step != 1 || in_bounds(e->buffer, e->args)))
      places[beside_key(home, lanes)].push_back(lanes.constant);
  });
  for (auto& [of, constants] : places) {
    std::sort(constants.begin(), constants.end());
    std::vector<interval>& groups = neighbours_[of];
    if (of.lane_step == 1) {
      groups = detail::overlapping_groups(std::move(constants), lane.lanes);
      continue;
    }
    for (const std::int64_t each : constants)
      if (groups.empty() || each >= groups.back().lo + of.lane_step)
        groups.push_back({each, each});
      else
        groups.back().hi = each;
  }
}

/// A whole vector out of the first and the last of those that it overlaps with in the statement. Loads of 64
/// bytes that do not begin with a line of the cache cost two accesses, a shuffle is one instruction: 25 points of a stencil, nine of
/// them in a row, take 97 us so and 121 us with a load each. Null where there are few, and where a shuffle takes several instructions.
TILEWRIGHT_INLINE value_ref emitter::load_overlapping(const place& p, const affine& a) {
  const std::int64_t lanes = lane.lanes, size = bytes(p.type);
  if (!b.cpu.has("avx512f") || size < 4 || lanes * size != 64) return nullptr;
  if (beside_) find_neighbours();
  const auto known = neighbours_.find(beside_key(p, a));
  if (known == neighbours_.end()) return nullptr;
  const auto group = support::find(known->second, [&](const interval& each) {
    return each.lo < a.constant && a.constant < each.hi;
  });
  if (group == known->second.end()) return nullptr;
  const auto loaded = [&](std::int64_t constant) {
    affine from = a;
    from.constant = constant;
    return b.load(b.stored(p.type, lane.lanes), pointer(p, from), alignment(p, from));
  };
  return b.c.BuildShuffleVector(
      b.b, loaded(group->lo), loaded(group->hi),
      b.integers(b.i32, detail::overlapping_lanes(*group, a.constant, lanes)), "");
}

}  // namespace tilewright::backend::llvm
