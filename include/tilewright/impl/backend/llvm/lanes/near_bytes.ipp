// Groups of bytes at known places near each other, four of them a lane, as factors of dot products: the
// bytes between the first and the last one are loaded and shuffled into groups together.
//
//   X[q * 3], X[q * 3 + 1], X[q * 3 + 2], X[q * 3 + 3]   ->   bytes 0 1 2 3  3 4 5 6  6 7 8 9 ... of X[0:64]
//
// Some may be 0 outside of a condition, and lanes may be off: only bytes that a group asks for are read then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/lanes/near_parts.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::backend::llvm {

/// The four arguments from `first` on; none where one is neither loaded nor 0 outside of conditions, or they
/// are of several buffers.
TILEWRIGHT_INLINE std::vector<emitter::byte_part> emitter::byte_parts(const ir::expr& e,
                                                                      std::size_t first) {
  std::vector<byte_part> out;
  for (std::size_t k = first; k < first + 4; ++k) {
    ir::expr x = e->args[k], condition;
    while (x->op == ir::op::if_then_else && ir::is_int(x->args[2], 0)) {
      condition = condition ? ir::logical_and(condition, x->args[0]) : x->args[0];
      x = x->args[1];
    }
    if (x->op != ir::op::load) return {};
    out.push_back({x.get(), condition});
    if (out.back().load->buffer != out.front().load->buffer) return {};
  }
  return out;
}

namespace detail::near_bytes {

/// By how much one index is larger than another one, where that is a constant.
inline std::optional<std::int64_t> distance(const ir::expr& from, const ir::expr& to) {
  const arith::linear x = arith::to_linear(from), y = arith::to_linear(to);
  if (x.terms.size() != y.terms.size()) return std::nullopt;
  for (const auto& each : x.terms) {
    const auto same = [&](const auto& other) {
      return other.second == each.second && equal(other.first, each.first);
    };
    if (support::none(y.terms, same)) return std::nullopt;
  }
  return y.constant - x.constant;
}

/// The same in elements of a buffer.
inline std::optional<std::int64_t> distance(const place& p, const ir::expr_node& from,
                                            const ir::expr_node& to) {
  std::int64_t out = 0;
  for (std::size_t d = 0; d < from.args.size(); ++d) {
    const std::optional<std::int64_t> apart = distance(from.args[d], to.args[d]);
    if (!apart || (*apart != 0 && !p.strides[d].fixed())) return std::nullopt;
    if (*apart != 0) out += *apart * p.strides[d].constant;
  }
  return out;
}

}  // namespace detail::near_bytes

/// Where the bytes of a dot product's factor lie: those of each lane in turn, counted from the first one in
/// memory.
struct emitter::byte_groups {
  std::vector<std::int64_t> distances;  // [lanes * 4]
  affine first;                         // the first one in memory
  bool inside = true;                   // all may be read, whatever lanes are on
};

/// Nothing where lanes lie apart, or at places that only the running code knows.
TILEWRIGHT_INLINE std::optional<emitter::byte_groups> emitter::find_byte_groups(
    const std::vector<byte_part>& parts, const place& p) {
  byte_groups out;
  const auto lanes = static_cast<std::size_t>(lane.lanes), count = parts.size();
  out.distances.resize(lanes * count);
  std::vector<std::int64_t> of_first;
  for (std::size_t k = 0; k < count; ++k) {
    const ir::buffer& buffer = parts[k].load->buffer;
    const std::optional<std::int64_t> behind =
        detail::near_bytes::distance(p, *parts[0].load, *parts[k].load);
    std::int64_t by = behind.value_or(0);
    std::vector<std::int64_t> apart = of_first;
    if (k == 0 || !behind) {
      const affine a = offset(p, buffer, parts[k].load->args);
      if (k == 0) out.first = a;
      apart = lane_distances(a);
      by = a.constant - out.first.constant;
      if (a.uniform() || a.scalars != out.first.scalars || apart.size() != lanes)
        return std::nullopt;
      if (k == 0) of_first = apart;
    }
    for (std::size_t i = 0; i < lanes; ++i) out.distances[i * count + k] = apart[i] + by;
    out.inside =
        out.inside && !parts[k].condition && (!lane.mask || in_bounds(buffer, parts[k].load->args));
  }
  const std::int64_t low = *std::min_element(out.distances.begin(), out.distances.end());
  for (std::int64_t& d : out.distances) d -= low;
  out.first.vectors.clear();
  out.first.lane_step = 0;
  out.first.constant += low;
  return out;
}

/// Whether the bytes of a whole vector from any of the parts on lie in the buffer.
TILEWRIGHT_INLINE bool emitter::has_bytes_behind(const std::vector<byte_part>& parts,
                                                 const place& p, std::int64_t count) {
  for (const byte_part& part : parts) {
    const ir::buffer& buffer = part.load->buffer;
    std::int64_t last = count - 1, size = 1;
    for (std::size_t d = 0; d < part.load->args.size(); ++d) {
      const interval index = bounds(part.load->args[d]), extent = bounds(buffer->shape[d]);
      if (!p.strides[d].fixed() || extent.lo != extent.hi || index.lo < 0 ||
          index.hi >= extent.lo || index.hi - index.lo >= extent.lo)
        return false;
      last += index.hi * p.strides[d].constant;
      size += (extent.lo - 1) * p.strides[d].constant;
    }
    if (buffer->elem_offset || last >= size) return false;
  }
  return true;
}

/// Which bytes are wanted, one bit each; null where all are.
TILEWRIGHT_INLINE value_ref emitter::wanted_bytes(const std::vector<byte_part>& parts) {
  const int lanes = lane.lanes, bits = lanes * static_cast<int>(parts.size());
  const auto is_shared = [&](const ir::expr& term) {
    return support::all(parts, [&](const byte_part& other) {
      return other.condition && support::any(ir::conjuncts(other.condition),
                                             [&](const ir::expr& t) { return equal(t, term); });
    });
  };
  value_ref everywhere = nullptr;
  std::vector<value_ref> of_parts;
  bool any = static_cast<bool>(lane.mask);
  const auto both = [&](value_ref x, value_ref y) { return x ? b.binary(opcode::and_, x, y) : y; };
  for (std::size_t k = 0; k < parts.size(); ++k) {
    value_ref on = lane.mask;
    for (const ir::expr& term :
         parts[k].condition ? ir::conjuncts(parts[k].condition) : std::vector<ir::expr>{}) {
      any = true;
      const value holds = emit(term);
      if (holds.vector || !is_shared(term))
        on = both(on, widen(holds, true));
      else if (k == 0)
        everywhere = both(everywhere, holds.v);
    }
    of_parts.push_back(on ? on : b.integer(b.i1, 1, lanes));
  }
  if (!any) return nullptr;
  const auto joined = [&](value_ref x, value_ref y, int each) {
    return b.c.BuildShuffleVector(b.b, x, y, b.ramp(b.i32, 0, 1, 2 * each), "");
  };
  const value_ref all = joined(joined(of_parts[0], of_parts[1], lanes),
                               joined(of_parts[2], of_parts[3], lanes), 2 * lanes);
  std::vector<std::int64_t> turn;
  for (int i = 0; i < bits; ++i) turn.push_back(i % 4 * lanes + i / 4);
  const value_ref out =
      b.c.BuildShuffleVector(b.b, all, b.c.GetPoison(b.c.TypeOf(all)), b.integers(b.i32, turn), "");
  if (!everywhere) return out;
  const type_ref word = b.c.IntTypeInContext(b.context, static_cast<unsigned>(bits));
  return b.convert(opcode::bitcast,
                   b.select(everywhere, b.convert(opcode::bitcast, out, word), b.c.ConstNull(word)),
                   b.vector(b.i1, bits));
}

/// The groups as numbers of 32 bits. Null where bytes lie otherwise, and where not all may be read and the
/// target has no masks of bytes.
TILEWRIGHT_INLINE value_ref emitter::load_near_bytes(const ir::expr& e, std::size_t first) {
  constexpr std::int64_t most_parts = 4;
  const std::vector<byte_part> parts = byte_parts(e, first);
  if (parts.empty() || lane.lanes < 4) return nullptr;
  const place& p = place_of(parts.front().load->buffer);
  if (bytes(p.type) != 1) return nullptr;
  const std::optional<byte_groups> groups = find_byte_groups(parts, p);
  if (!groups) return nullptr;
  const detail::near_parts::near_lanes near(groups->distances);
  const std::int64_t count = near.lanes();
  const type_ref all = b.stored(p.type, static_cast<int>(count));
  const bool whole = groups->inside && (near.span >= count || has_bytes_behind(parts, p, count));
  if (near.parts() > most_parts || (!whole && !b.cpu.has("avx512bw"))) return nullptr;
  const value_ref wanted = groups->inside ? nullptr : wanted_bytes(parts);
  const auto loaded = [&](std::int64_t part) {
    affine from = groups->first;
    from.constant += near.begin(part);
    if (whole) return b.load(all, pointer(p, from), 1);
    return b.intrinsic(
        "llvm.masked.load", {all, b.ptr},
        {pointer(p, from), b.integer(b.i32, 1),
         bytes_asked_for(groups->distances, near.begin(part), wanted), b.c.ConstNull(all)});
  };
  const auto shuffled = [&](value_ref x, value_ref y, std::int64_t part) {
    return b.c.BuildShuffleVector(b.b, x, y, b.integers(b.i32, near.taken(part)), "");
  };
  value_ref out = loaded(0);
  if (near.parts() == 1) out = shuffled(out, b.c.GetPoison(all), 0);
  for (std::int64_t part = 1; part < near.parts(); ++part) out = shuffled(out, loaded(part), part);
  // a byte that one group wants and another one does not is 0 in the latter
  if (wanted) out = b.select(wanted, out, b.c.ConstNull(all));
  return b.convert(opcode::bitcast, out, b.vector(b.i32, lane.lanes));
}

/// Of the bytes from `begin` on, as many as there are distances, those that some group wants.
TILEWRIGHT_INLINE value_ref emitter::bytes_asked_for(const std::vector<std::int64_t>& distances,
                                                     std::int64_t begin, value_ref wanted) {
  const auto count = static_cast<std::int64_t>(distances.size());
  std::vector<std::vector<std::int64_t>> readers(distances.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t byte = distances[static_cast<std::size_t>(i)] - begin;
    if (byte >= 0 && byte < count) readers[static_cast<std::size_t>(byte)].push_back(i);
  }
  std::vector<std::int64_t> read;
  std::size_t rounds = 1;
  for (const auto& r : readers) {
    read.push_back(!r.empty());
    rounds = std::max(rounds, r.size());
  }
  if (!wanted) return b.integers(b.i1, read);
  value_ref out = nullptr;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::int64_t> whose;
    for (const auto& r : readers) whose.push_back(round < r.size() ? r[round] : count);
    const value_ref here = b.c.BuildShuffleVector(b.b, wanted, b.c.ConstNull(b.c.TypeOf(wanted)),
                                                  b.integers(b.i32, whose), "");
    out = out ? b.binary(opcode::or_, out, here) : here;
  }
  return out;
}

}  // namespace tilewright::backend::llvm
