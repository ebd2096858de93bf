// Lanes at known places near each other, as elements a few steps apart, or channels of pixels that lie
// in groups: the vectors between the first and the last lane are loaded and shuffled together, where
// loading lane by lane would take two instructions each.
//
//   X[l // 3 * 6 + l % 3], l in vectorized(16)   ->   lanes 0 1 2 6 7 8 12 13 14 18 19 ... of two vectors
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/lanes/near_parts.hpp>
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

}  // namespace tilewright::backend::llvm
