// The axis of a block that runs over the lanes of vectors, and the loop that drives it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::space::detail {

/// Whether vectors along the variable are loaded as they lie in memory, or have one element in all lanes.
inline bool loads_vectors(const access_profile& read, std::size_t along) {
  return read.affine && (read.stride[along] == 0 || read.stride[along] == 1);
}

/// Whether vectors along the variable are loaded so, or can be loaded whole and shuffled together.
inline bool loads_spread(const access_profile& read, std::size_t along) {
  return read.affine && read.stride[along] >= 0 && read.stride[along] <= target::cheap_lane_step;
}

/// Sums are added up together by shuffles where their results fill the narrowest vector, bytes (impl/pass/vector/sums_together.hpp).
inline constexpr std::int64_t least_shuffled_bytes = 16;

/// Loads and operations of as much work as fills a vector along a variable of `values`; 0 values: nobody knows how many. An element
/// that all lanes have is half a load; whole vectors that are shuffled together are as many as elements lie from lane to lane, and a
/// quarter for each shuffle; else each lane loads its own.
/// @param arithmetic operations of an element beside its loads, as `arithmetic_of` counts them, where lanes without work cost these, too
inline double vector_load_cost(const std::vector<access_profile>& loads, std::size_t along,
                               std::int64_t values, std::int64_t lanes, double arithmetic = 0) {
  double out = arithmetic;
  for (const access_profile& read : loads) {
    const std::int64_t step = read.affine ? read.stride[along] : -1;
    const bool gathers = step < 0 || step > target::most_lane_step;
    out += gathers ? static_cast<double>(lanes)
                   : std::max(0.5, 1.25 * static_cast<double>(step) - 0.25);
  }
  const std::int64_t working = values > 0 ? std::min(values, lanes) : lanes;
  return out * static_cast<double>(lanes) / static_cast<double>(working);
}

/// Additions, multiplications and their like of an element of the block; indices are not among them.
inline double arithmetic_of(const ir::block_node& b) {
  double out = 0;
  const std::function<void(const ir::expr&)> count = [&](const ir::expr& e) {
    if (e->op == ir::op::load || e->args.empty()) return;
    out += e->op == ir::op::cast ? 0 : 1;
    for (const ir::expr& part : e->args) count(part);
  };
  ir::for_each_stmt(b.body, [&](const ir::stmt& s) {
    if (const ir::store_node* store = ir::as_store(s)) count(store->value);
  });
  return out;
}

/// The loads of a block with the buffers that the function allocates left out.
inline std::vector<access_profile> argument_loads(const schedule& s, const ir::block_node& b) {
  const std::vector<ir::buffer>& own = ir::root_block(s.function())->alloc_buffers;
  std::vector<access_profile> out;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op == ir::op::load && std::find(own.begin(), own.end(), e->buffer) == own.end())
      out.push_back(profile_access(b, e->buffer, e->args));
  });
  return out;
}

/// The element that a block stores, or that it stores in each of several buffers, as the position
/// and the value of a maximum; nothing when these differ.
inline std::optional<access_profile> stored_element(const ir::block_node& b) {
  if (const ir::store_node* store = ir::as_store(b.body)) {
    if (store->indices.empty()) return std::nullopt;
    return profile_access(b, store->buffer, store->indices);
  }
  if (!b.init || b.writes.size() < 2) return std::nullopt;
  const std::optional<std::vector<ir::expr>> indices = common_point(b);
  if (!indices || indices->empty()) return std::nullopt;
  return profile_access(b, b.writes[0].buffer, *indices);
}

/// Whether a block that reads the results of this one runs in vectors already.
inline bool is_read_in_vectors(const schedule& s, const ir::block_node& b) {
  const auto is_vectorized = [&](const ir::var& loop) {
    const ir::stmt at = primitive::find_loop(s.function(), loop).target();
    return ir::as_loop(at)->loop == ir::loop_kind::vectorized;
  };
  return support::any(consumer_names(s, b.name), [&](const std::string& reader) {
    return support::any(primitive::get_loops(s.function(), named_block(s, reader).block->id),
                        is_vectorized);
  });
}

/// The spatial iteration variable for the lanes of vectors, for any binding: the one along which
/// the block's output is contiguous. An output that the function allocates is laid out to suit when
/// it is lowered, so there the arguments that the block reads decide, unless those who read it have.
inline std::optional<std::size_t> vector_iter(const schedule& s, const ir::block_node& b) {
  const std::optional<access_profile> stored = stored_element(b);
  if (!stored) return std::nullopt;
  const access_profile& write = *stored;
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < b.iters.size(); ++i)
    if (b.iters[i].kind == ir::iter_kind::spatial && write.stride[i] == 1) out = i;
  const std::vector<ir::buffer>& own = ir::root_block(s.function())->alloc_buffers;
  if (std::find(own.begin(), own.end(), write.buffer) == own.end()) return out;
  if (out && is_read_in_vectors(s, b)) return out;
  const std::vector<access_profile> loads = argument_loads(s, b);
  const auto contiguous_along = [&](std::size_t i) {
    return std::count_if(loads.begin(), loads.end(),
                         [&](const access_profile& a) { return a.affine && a.stride[i] == 1; });
  };
  constexpr std::int64_t few = 4;  // phases of a step, which make no vector
  const auto is_short = [&](std::size_t i) {
    const ir::expr& extent = b.iters[i].dom.extent;
    return ir::is_int(extent) && extent->integer <= few;
  };
  for (std::size_t i = 0; i < b.iters.size(); ++i)
    if (b.iters[i].kind == ir::iter_kind::spatial && write.stride[i] != 0 &&
        !(out && is_short(i) && !is_short(*out)) &&
        contiguous_along(i) > (out ? contiguous_along(*out) : 0))
      out = i;
  return out;
}

/// The other spatial variable along which an argument is contiguous that is strided along `lanes`:
/// the block transposes.
inline std::optional<std::size_t> transposed_iter(const schedule& s, const ir::block_node& b,
                                                  std::size_t lanes) {
  if (b.init) return std::nullopt;
  for (const access_profile& a : argument_loads(s, b)) {
    if (!a.affine || loads_vectors(a, lanes)) continue;
    for (std::size_t i = 0; i < b.iters.size(); ++i)
      if (i != lanes && b.iters[i].kind == ir::iter_kind::spatial && a.stride[i] == 1) return i;
  }
  return std::nullopt;
}

/// The variable of a consumer with this profile along which it reads `result` contiguously, where that
/// is another one than the one along which it writes so.
inline std::optional<std::size_t> across_result(const block_profile& consumer,
                                                const ir::buffer& result) {
  for (const access_profile& read : consumer.reads)
    if (read.buffer == result && read.affine)
      for (std::size_t i = 0; i < read.stride.size(); ++i)
        if (read.stride[i] == 1 && i != *consumer.contiguous()) return i;
  return std::nullopt;
}

/// The loop that alone drives the block's iteration variable, plus outer loops.
inline std::optional<std::size_t> loop_driving(const schedule& s,
                                               const ir::block_realize_node& realize,
                                               std::size_t iter) {
  const std::vector<ir::var> loops = primitive::get_loops(s.function(), realize.block->id);
  for (std::size_t l = loops.size(); l-- > 0;)
    if (ir::uses_var(realize.values[iter], loops[l])) {
      for (std::size_t other = 0; other < realize.values.size(); ++other)
        if (other != iter && ir::uses_var(realize.values[other], loops[l])) return std::nullopt;
      return l;
    }
  return std::nullopt;
}

/// Share of the elements of a padded extent that lie inside.
inline double fill(std::int64_t extent, std::int64_t tile) {
  const std::int64_t padded = (extent + tile - 1) / tile * tile;
  return static_cast<double>(extent) / static_cast<double>(padded);
}

/// A loop that nothing was said of.
inline bool plain(const ir::loop_node& loop) {
  return loop.loop == ir::loop_kind::serial && loop.annotations.empty();
}

}  // namespace tilewright::space::detail
