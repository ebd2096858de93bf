#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include <tilewright/cost/loop_context.hpp>
#include <tilewright/impl/cost/store_walk.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::cost {
namespace detail {

inline loop_annotation annotation_of(const loop_info& l) {
  static constexpr std::pair<std::string_view, loop_annotation> tags[] = {
      {"blockIdx.x", loop_annotation::block_x},    {"blockIdx.y", loop_annotation::block_y},
      {"blockIdx.z", loop_annotation::block_z},    {"threadIdx.x", loop_annotation::thread_x},
      {"threadIdx.y", loop_annotation::thread_y},  {"threadIdx.z", loop_annotation::thread_z},
      {"vthread", loop_annotation::virtual_thread}};
  for (const auto& [tag, annotation] : tags)
    if (l.tag.starts_with(tag)) return annotation;
  switch (l.kind) {
    case ir::loop_kind::unrolled: return loop_annotation::unrolled;
    case ir::loop_kind::vectorized: return loop_annotation::vectorized;
    case ir::loop_kind::parallel: return loop_annotation::parallel;
    default: return loop_annotation::serial;
  }
}

/// Blocks run above threads, and these above everything else.
inline int parallel_level(loop_annotation a) {
  switch (a) {
    case loop_annotation::block_x:
    case loop_annotation::block_y:
    case loop_annotation::block_z: return 2;
    case loop_annotation::thread_x:
    case loop_annotation::thread_y:
    case loop_annotation::thread_z:
    case loop_annotation::parallel: return 1;
    default: return 0;
  }
}

/// Fills the loops of one program store by store.
class context_writer {
 public:
  explicit context_writer(const ir::function& f)
      : walk_(f), row_of_(walk_.loops(), -1), met_(walk_.buffers.size(), 0) {
    for (buffer_info& b : walk_.buffers) lay_out(b);
    for (const store_info& s : walk_.stores) add(s);
    hand_out();
  }

  std::vector<loop_context> take() { return std::move(out_); }

 private:
  static void lay_out(buffer_info& b) {
    for (double& extent : b.shape) extent = std::max(extent, 1.0);
    b.strides.assign(b.shape.size(), 1.0);
    for (std::size_t d = b.shape.size(); d-- > 1;) b.strides[d - 1] = b.strides[d] * b.shape[d];
  }

  /// The loops around a store that other stores see too: an initialization stands in front of the
  /// reduction loops, below copies that belong to nobody else.
  void add(const store_info& s) {
    std::vector<std::size_t> around, rows;
    for (std::size_t l = 0; l < s.loops.size() && s.loops[l].id >= 0; ++l) {
      around.push_back(l);
      rows.push_back(row(s, l, rows));
    }
    if (rows.empty()) return;
    loop_context& innermost = out_[rows.back()];
    for (std::size_t i = 0; i < 3; ++i) innermost.arithmetic[i] += s.operations[i + 1];
    for (const access& a : s.accesses) add(s, a, around, rows);
  }

  std::size_t row(const store_info& s, std::size_t l, const std::vector<std::size_t>& outer) {
    int& at = row_of_[static_cast<std::size_t>(s.loops[l].id)];
    if (at < 0) {
      at = static_cast<int>(out_.size());
      loop_context fresh;
      fresh.length = s.loops[l].extent;
      fresh.nest = static_cast<int>(outer.size()) + 1;
      fresh.parent = outer.empty() ? -1 : static_cast<int>(outer.back());
      fresh.topdown = fresh.length * (outer.empty() ? 1 : out_[outer.back()].topdown);
      fresh.annotation = annotation_of(s.loops[l]);
      out_.push_back(std::move(fresh));
    }
    return static_cast<std::size_t>(at);
  }

  /// The places of one access: each tuple of indices is one, the last one the store's own.
  void add(const store_info& s, const access& a, const std::vector<std::size_t>& around,
           const std::vector<std::size_t>& rows) {
    const buffer_info& b = walk_.buffers[a.buffer];
    const std::size_t rank = std::max<std::size_t>(b.shape.size(), 1);
    const std::size_t places = std::max<std::size_t>(a.dims.size() / rank, 1);
    for (std::size_t p = 0; p < places; ++p) {
      const bool written = a.write && p == 0;
      // the store comes first, then the loads in their order
      const std::size_t tuple = !a.write ? p : p == 0 ? places - 1 : p - 1;
      add_place(s, a, tuple, written, around, rows);
    }
  }

  void add_place(const store_info& s, const access& a, std::size_t tuple, bool written,
                 const std::vector<std::size_t>& around, const std::vector<std::size_t>& rows) {
    const buffer_info& b = walk_.buffers[a.buffer];
    buffer_touch touch;
    places_.push_back(
        {std::string(b.node->name) + "_" + std::to_string(met_[a.buffer]++), seen_.size()});
    touch.buffer = a.buffer;
    touch.bytes = static_cast<double>(bytes(b.node->type));
    touch.written = written;
    std::vector<double> strides(around.size(), 0.0);
    for (std::size_t d = 0; d < b.shape.size() && tuple * b.shape.size() + d < a.dims.size(); ++d) {
      const spread& index = a.dims[tuple * b.shape.size() + d];
      touch.indirect = touch.indirect || !index.known;
      for (std::size_t i = 0; i < around.size(); ++i)
        strides[i] += index.moved_by(around[i]) * b.strides[d];
    }
    double count = 1, reuse = 1, base_count = 0, base_reuse = 0;
    int base_level = 0;  // of the parallel loops that the base is for
    for (std::size_t i = around.size(); i-- > 0;) {
      const double extent = s.loops[around[i]].extent;
      (strides[i] != 0 ? count : reuse) *= extent;
      touch.stride = std::abs(strides[i]);
      touch.count = count;
      touch.reuse = reuse;
      const int level = parallel_level(out_[rows[i]].annotation);
      const int inner = i + 1 < around.size() ? parallel_level(out_[rows[i + 1]].annotation) : -1;
      if (level > 0 && inner == level - 1) {  // what the level below met is the base of this one
        base_count = count / (strides[i] != 0 ? extent : 1);
        base_reuse = reuse / (strides[i] != 0 ? 1 : extent);
        base_level = level;
      }
      const bool counted = level > 0 && base_level == level;
      touch.thread_count = counted ? std::floor(count / base_count) : 0;
      touch.thread_reuse = counted ? std::floor(reuse / base_reuse) : 0;
      seen_.push_back({rows[i], touch});
    }
    note_roles(s, a, strides, rows);
  }

  /// A loop that moves what is stored is spatial; one that leaves it where it is, while it is
  /// loaded, too, sums into it. Of several stores below a loop one that it moves decides.
  void note_roles(const store_info& s, const access& a, const std::vector<double>& strides,
                  const std::vector<std::size_t>& rows) {
    if (!a.write || a.buffer != s.buffer) return;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      loop_role& role = out_[rows[i]].role;
      if (strides[i] != 0)
        role = loop_role::spatial;
      else if (a.read && role == loop_role::other)
        role = loop_role::reduce;
    }
  }

  /// Gives each loop its touches, by name. Names are sorted once, not in every loop, and what the loops
  /// around a place have seen gets its name here.
  void hand_out() {
    std::vector<std::size_t> counts(out_.size(), 0), order(places_.size());
    for (const seen_touch& t : seen_) ++counts[t.row];
    for (std::size_t r = 0; r < out_.size(); ++r) out_[r].touches.reserve(counts[r]);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return places_[a].name != places_[b].name ? places_[a].name < places_[b].name : a < b;
    });
    for (const std::size_t p : order) {
      const std::size_t end = p + 1 < places_.size() ? places_[p + 1].first : seen_.size();
      for (std::size_t i = places_[p].first; i < end; ++i) {
        loop_context& l = out_[seen_[i].row];
        l.bottomup = std::max(l.bottomup, seen_[i].touch.count * seen_[i].touch.reuse);
        seen_[i].touch.name = places_[p].name;
        l.touches.push_back(std::move(seen_[i].touch));
      }
    }
  }

  /// A place of the program; what the loops around it see of it begins at `first` of seen_.
  struct place {
    std::string name;
    std::size_t first;
  };
  struct seen_touch {
    std::size_t row;
    buffer_touch touch;
  };

  store_walk walk_;
  std::vector<int> row_of_;  // [loop of the walk]
  std::vector<int> met_;     // [buffers], places so far
  std::vector<place> places_;
  std::vector<seen_touch> seen_;
  std::vector<loop_context> out_;
};

inline float node_log(double x) {
  return x == 0 ? 0.0f : static_cast<float>(std::log2(std::abs(x) + 1));
}

/// A buffer below a loop: its touches together.
struct touched_buffer {
  std::size_t buffer = 0;
  double stride = 0, count = 0, reuse = 0, bytes = 0, lines = 0, threads = 0;
  bool written = false, indirect = false;
};

/// Touches by buffer; the largest first, and what is written before all.
inline std::vector<touched_buffer> touched_buffers(const loop_context& loop, double line) {
  std::vector<touched_buffer> out;
  out.reserve(8);
  for (const buffer_touch& t : loop.touches) {
    auto at = support::find(out, [&](const touched_buffer& b) { return b.buffer == t.buffer; });
    if (at == out.end()) at = out.insert(out.end(), touched_buffer{t.buffer});
    touched_buffer& b = *at;
    b.stride = std::max(b.stride, t.stride);
    b.count = std::max(b.count, t.count);
    b.reuse += t.reuse;
    b.bytes = std::max(b.bytes, t.count * t.bytes);
    b.lines = std::max(b.lines, t.count * std::min(1.0, std::max(t.stride, 1.0) * t.bytes / line));
    b.threads = std::max(b.threads, t.thread_count);
    b.written = b.written || t.written;
    b.indirect = b.indirect || t.indirect;
  }
  support::stable_sort(out, [](const touched_buffer& a, const touched_buffer& b) {
    return a.written != b.written ? a.written : a.bytes > b.bytes;
  });
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<loop_context> loop_contexts(const ir::function& f) {
  return detail::context_writer(f).take();
}

TILEWRIGHT_INLINE node_row loop_node(const loop_context& loop, const node_options& options) {
  using detail::node_log;
  node_row out{};
  out[0] = node_log(loop.length);
  out[1] = static_cast<float>(loop.nest);
  out[2] = node_log(loop.topdown);
  out[3] = node_log(loop.bottomup);
  out[4 + static_cast<std::size_t>(loop.annotation)] = 1;
  out[15 + static_cast<std::size_t>(loop.role)] = 1;
  for (std::size_t i = 0; i < 3; ++i) out[18 + i] = node_log(loop.arithmetic[i]);
  const auto buffers = detail::touched_buffers(loop, options.line_bytes);
  double footprint = 0, contiguous = 0, flops = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const detail::touched_buffer& b = buffers[i];
    float* const to = &out[21 + 7 * std::min<std::size_t>(i, 4)];
    to[0] += node_log(b.stride);
    to[1] += node_log(b.count);
    to[2] += node_log(b.reuse);
    to[3] += node_log(b.bytes);
    to[4] += node_log(b.lines);
    to[5] += b.indirect ? 1.0f : 0.0f;
    to[6] += node_log(b.threads);
    footprint += b.bytes;
    if (b.stride == 1) contiguous = std::max(contiguous, b.bytes);
  }
  for (const double a : loop.arithmetic) flops += a * loop.bottomup;
  for (std::size_t i = 0; i < 3; ++i) out[56 + i] = node_log(footprint / options.caches[i]);
  out[59] = node_log(contiguous / options.vector_bytes);
  out[60] = node_log(options.cores / loop.length);
  out[61] = node_log(footprint);
  out[62] = node_log(flops / std::max(footprint, 1.0));
  out[63] = flops > 0 ? 1.0f : 0.0f;
  return out;
}

}  // namespace tilewright::cost
