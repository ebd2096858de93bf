// The sketches of a space, and which of them runs when nothing was measured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/cost/gpu/gpu_estimate.hpp>
#include <tilewright/impl/search/session/likely_algorithm.hpp>
#include <tilewright/impl/search/session/trace_algorithm.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/schedule/term_order.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search::detail {

/// The sketches of a space; the program alone where it has none, or fails, which is a remark.
inline std::vector<schedule> sketches_of(const space::design_space& space,
                                         const space::context& where, const ir::function& f,
                                         std::uint64_t seed, std::vector<std::string>& remarks) {
  std::vector<schedule> out;
  try {
    if (space) out = space.sketches(f, where, seed);
  } catch (const schedule_error& e) {
    remarks.push_back(std::string("the space failed: ") + e.what());
  }
  if (out.empty()) out.emplace_back(f, seed);
  return out;
}

/// The sketches in the order in which they are tried where nothing was measured: those of the algorithm that is expected
/// to be the fastest come first.
inline std::vector<const schedule*> by_expectation(const std::vector<schedule>& sketches,
                                                   const space::context& where,
                                                   const ir::function& f) {
  std::vector<const schedule*> out, others;
  const bool several = where.cpu && ir::has_alternatives(f);
  const std::string likely = several ? likely_algorithm(f, *where.cpu) : f.name;
  for (const schedule& s : sketches)
    (likely == f.name || chosen_algorithm(s.trace()).name == likely ? out : others).push_back(&s);
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

/// The sketch, post-processed; nothing where that refuses it.
inline std::optional<schedule> finished(const schedule& sketch, const space::design_space& space,
                                        const space::context& where, const ir::function& f) {
  try {
    schedule out = sketch;
    space.finish(out, where);
    check_term_order(out, f);
    return out;
  } catch (const schedule_error&) {
    return std::nullopt;
  }
}

/// Whether threads of the program are warps, as of products on tensor cores.
inline bool works_in_warps(const schedule& s) {
  return ir::warps_of_thread(*ir::root_block(s.function())) > 0;
}

/// Seconds in which a device reads what a function is given and writes what it returns.
inline double seconds_to_move(const ir::function& f, const target::gpu& device) {
  double moved = 0;
  for (const ir::param& p : f.params) {
    if (!p.buffer) continue;
    double size = bytes(p.buffer->type);
    for (const ir::expr& extent : p.buffer->shape)
      size *= ir::is_int(extent) ? static_cast<double>(extent->integer) : 1;
    moved += size;
  }
  const cost::detail::gpu_rates rates = cost::detail::rates_of(device);
  return moved / (rates.memory_bytes * device.multiprocessors * rates.clock);
}

/// `first`, or the first of the later sketches that an estimate of times for GPUs takes for much faster than all before it.
/// Orders of the space are for tiles that divide and rows that occupy the device; sketches for others stand behind.
inline schedule much_faster(schedule first, const std::vector<const schedule*>& later,
                            const space::design_space& space, const space::context& where,
                            const ir::function& f) {
  constexpr double much = 2, start = 2e-6;
  constexpr std::size_t most = 32;  // sketches
  double best = cost::detail::gpu_seconds(first.function(), *where.gpu);
  const double least = seconds_to_move(f, *where.gpu) + start;
  for (std::size_t i = 0; i < std::min(later.size(), most) && best > much * least; ++i) {
    std::optional<schedule> other = finished(*later[i], space, where, f);
    if (!other) continue;
    const double seconds = cost::detail::gpu_seconds(other->function(), *where.gpu);
    if (much * seconds > best) continue;
    best = seconds;
    first = std::move(*other);
  }
  return first;
}

/// The first of the sketches that post-processing accepts, post-processed, on GPUs unless another one is expected to be
/// much faster; else the program.
inline schedule first_of(const std::vector<schedule>& sketches, const space::design_space& space,
                         const space::context& where, const ir::function& f, std::uint64_t seed) {
  const std::vector<const schedule*> all = by_expectation(sketches, where, f);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::optional<schedule> out = finished(*all[i], space, where, f);
    if (!out) continue;
    if (!where.gpu || works_in_warps(*out)) return std::move(*out);
    return much_faster(std::move(*out),
                       {all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end()}, space, where,
                       f);
  }
  return schedule(f, seed);
}

}  // namespace tilewright::search::detail
