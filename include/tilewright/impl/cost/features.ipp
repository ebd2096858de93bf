#pragma once

#include <algorithm>
#include <cmath>

#include <tilewright/cost/features.hpp>
#include <tilewright/impl/cost/store_walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::cost {
namespace detail {

inline float slog(double x) { return static_cast<float>(std::log2(std::abs(x) + 1)); }

/// Fills the rows of one program.
class feature_writer {
 public:
  feature_writer(const ir::function& f, const feature_options& options)
      : options_(options), walk_(f), first_touch_(walk_.loops(), 0) {
    for (const store_info& s : walk_.stores) note_depths(s);
    for (buffer_info& b : walk_.buffers) lay_out(b, widest(b));
  }

  std::vector<feature_row> rows() {
    std::vector<feature_row> out(walk_.stores.size());
    for (std::size_t i = 0; i < out.size(); ++i) write(walk_.stores[i], out[i]);
    return out;
  }

 private:
  /// What one store does to one buffer.
  struct use {
    const access* at = nullptr;
    const ir::buffer_node* buffer = nullptr;
    double item = 4;  // bytes of an element
    double bytes = 0, unique_bytes = 0, lines = 1, unique_lines = 1;
    int reuse = 2;  // 0 a loop that does not move it, 1 several stores, 2 none
    double distance = 0, distance_bytes = 0, count = 0, stride = 0;
  };

  /// What the stores so far touch of a buffer below a loop.
  struct touch {
    std::size_t buffer;
    double least;          // elements
    double bytes;          // of all touches
    double number;         // of touches
    std::size_t next = 0;  // position + 1 of the next one of that loop; 0: none
  };

  static std::vector<int> ids(const store_info& s) {
    std::vector<int> out;
    for (const loop_info& l : s.loops) {
      if (l.id < 0) break;
      out.push_back(l.id);
    }
    return out;
  }

  void note_depths(const store_info& s) {
    const std::vector<int> loops = ids(s);
    for (const access& a : s.accesses) {
      buffer_info& b = walk_.buffers[a.buffer];
      if (!b.seen) {
        b.seen = true;
        b.common = loops;
        continue;
      }
      std::size_t same = 0;
      while (same < b.common.size() && same < loops.size() && b.common[same] == loops[same]) ++same;
      b.common.resize(same);
    }
  }

  /// Shape to which the allocation of `b` shrinks.
  std::vector<double> widest(const buffer_info& b) const {
    std::vector<double> out(b.shape.size(), 0.0);
    const auto id = static_cast<std::size_t>(&b - walk_.buffers.data());
    for (const store_info& s : walk_.stores)
      for (const access& a : s.accesses)
        if (a.buffer == id)
          for (std::size_t d = 0; d < out.size(); ++d)
            out[d] = std::max(out[d], width(a, d, b.common.size(), 0));
    return out;
  }

  static void lay_out(buffer_info& b, const std::vector<double>& widest) {
    for (std::size_t d = 0; d < b.shape.size(); ++d) {
      double& extent = b.shape[d];
      if (extent == 0)  // unknown
        extent = std::max(1.0, widest[d]);
      else if (!b.parameter && b.seen)
        extent = std::max(1.0, std::min(extent, widest[d]));
    }
    b.strides.assign(b.shape.size(), 1.0);
    for (std::size_t d = b.shape.size(); d-- > 1;) b.strides[d - 1] = b.strides[d] * b.shape[d];
    const std::vector<ir::expr>& given = b.node->strides;
    for (std::size_t d = 0; d < given.size() && d < b.strides.size(); ++d)
      if (ir::is_int(given[d])) b.strides[d] = static_cast<double>(ir::as_int(given[d]));
  }

  /// Elements of dimension d that the loops from `level` on meet; at most `most` unless that is 0.
  double width(const access& a, std::size_t d, std::size_t level, double most) const {
    const std::size_t rank = walk_.buffers[a.buffer].shape.size();
    double low = 0, high = 0;
    bool known = true;
    for (std::size_t i = d; i < a.dims.size(); i += rank) {
      const spread& s = a.dims[i];
      known = known && s.known;
      const double from = s.base, to = s.base + s.extent(level);
      low = i == d ? from : std::min(low, from);
      high = i == d ? to : std::max(high, to);
    }
    if (!known && most > 0) return most;
    const double out = std::max(1.0, high - low);
    return most > 0 ? std::min(out, most) : out;
  }

  /// Elements that the access touches in one iteration, `out[0]`, then below each of `loops_`.
  void measure_elements(const access& a, double* out) const {
    const std::vector<double>& shape = walk_.buffers[a.buffer].shape;
    // a loop deeper than `loops_[i - 1]` that does not count moves nothing
    const auto level = [&](std::size_t i) { return i == 0 ? deepest : loops_[i - 1]; };
    std::fill_n(out, loops_.size() + 1, 1.0);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool once = a.dims.size() == shape.size() && a.dims[d].known && shape[d] > 0;
      for (std::size_t i = 0; i <= loops_.size(); ++i) {
        if (!once) {
          out[i] *= width(a, d, level(i), shape[d]);
          continue;
        }
        const spread& s = a.dims[d];
        const double n = s.base + s.extent(level(i)) - s.base;
        out[i] *= std::min(std::max(1.0, n), shape[d]);
      }
    }
  }

  /// Elements by which loop `l` moves the access; 0 when it does not.
  double stride(const access& a, std::size_t l) const {
    const std::vector<double>& strides = walk_.buffers[a.buffer].strides;
    double least = 0;
    for (std::size_t i = 0; i < a.dims.size(); i += strides.size()) {
      double step = 0;
      for (std::size_t d = 0; d < strides.size() && i + d < a.dims.size(); ++d)
        step += a.dims[i + d].moved_by(l) * strides[d];
      step = std::abs(step);
      if (step != 0 && (least == 0 || step < least)) least = step;
    }
    return least;
  }

  void write(const store_info& s, feature_row& row) {
    row.fill(0);
    measure_loops(s);
    for (std::size_t i = 0; i < s.operations.size(); ++i)
      row[i] = slog(s.operations[i] * iterations_);
    write_loop_kinds(s, &row[16]);
    write_gpu(s, &row[49]);
    measure_footprints(s);
    write_buffers(s, &row[57]);
    write_intensity(s, &row[147]);
    write_allocation(s, &row[157]);
    row[161] = slog(iterations_);
    row[162] = slog(static_cast<double>(loops_.size()));
    row[163] = slog(s.unroll_step);
  }

  /// Loops that count, innermost first, and the iterations inside each.
  void measure_loops(const store_info& s) {
    loops_.clear();
    inside_.clear();
    iterations_ = 1;
    for (std::size_t l = s.loops.size(); l-- > 0;) {
      if (!s.loops[l].counts) continue;
      loops_.push_back(l);
      inside_.push_back(iterations_);
      iterations_ *= s.loops[l].extent;
    }
  }

  void write_loop_kinds(const store_info& s, float* to) const {
    const ir::loop_kind kinds[] = {ir::loop_kind::vectorized, ir::loop_kind::unrolled,
                                   ir::loop_kind::parallel};
    for (const ir::loop_kind kind : kinds) {
      double number = 0, product = 1, innermost = 0;
      for (const std::size_t l : loops_) {
        if (s.loops[l].kind != kind) continue;
        if (number == 0) innermost = s.loops[l].extent;
        ++number;
        product *= s.loops[l].extent;
      }
      to[0] = slog(number);
      to[1] = slog(number > 0 ? product : 0);
      to[2] = slog(innermost);
      to[3 + (number > 0 ? 7 : 0)] = 1;
      to += 11;
    }
  }

  void write_gpu(const store_info& s, float* to) const {
    static constexpr std::string_view tags[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                                "threadIdx.x", "threadIdx.y", "threadIdx.z",
                                                "vthread"};
    const bool bound = support::any(s.loops, [](const loop_info& l) { return !l.tag.empty(); });
    to[0] = options_.gpu || bound ? 1 : 0;
    if (to[0] == 0 && walk_.pattern()) return write_pattern(*walk_.pattern(), to + 1);
    for (std::size_t t = 0; t < std::size(tags); ++t) {
      double extent = 1;
      for (const loop_info& l : s.loops)
        if (!l.tag.empty() && l.tag.starts_with(tags[t])) {
          extent = l.extent;
          break;
        }
      to[1 + t] = slog(extent);
    }
  }

  /// What a format costs depends on the pattern: its numbers stand where loops bound to threads have theirs, which a
  /// program for a CPU has not. What is 0, or not known, is as if there were no pattern.
  static void write_pattern(const ir::pattern_note& p, float* to) {
    const double numbers[] = {p.mean_row, p.spread, p.longest, p.empty, p.gini, p.padding, p.fill};
    for (std::size_t n = 0; n < std::size(numbers); ++n) to[n] = slog(1 + numbers[n]);
  }

  double item_bytes(std::size_t buffer) const { return bytes(walk_.buffers[buffer].node->type); }

  /// Bytes that the store touches in one iteration, then below each loop, innermost first.
  void measure_footprints(const store_info& s) {
    const std::size_t levels = loops_.size() + 1;
    footprint_.assign(levels, 0.0);
    elements_.resize(s.accesses.size() * levels);
    for (std::size_t a = 0; a < s.accesses.size(); ++a) {
      const double item = item_bytes(s.accesses[a].buffer);
      double* const n = &elements_[a * levels];
      measure_elements(s.accesses[a], n);
      for (std::size_t i = 0; i < levels; ++i) footprint_[i] += n[i] * item;
      for (std::size_t i = 1; i < levels; ++i)
        note_touch(s.loops[loops_[i - 1]].id, s.accesses[a].buffer, n[i], n[i] * item);
    }
  }

  void note_touch(int loop, std::size_t buffer, double n, double bytes) {
    if (loop < 0) return;
    std::size_t* at = &first_touch_[static_cast<std::size_t>(loop)];
    while (*at != 0) {
      touch& t = touched_[*at - 1];
      if (t.buffer == buffer) {
        t.least = std::min(t.least, n);
        t.bytes += bytes;
        ++t.number;
        return;
      }
      at = &t.next;
    }
    *at = touched_.size() + 1;
    touched_.push_back({buffer, n, bytes, 1});
  }

  use measure(const store_info& s, std::size_t a) const {
    use u;
    u.at = &s.accesses[a];
    u.buffer = walk_.buffers[u.at->buffer].node;
    u.item = item_bytes(u.at->buffer);
    u.bytes = u.item * iterations_;
    u.unique_bytes = elements_[a * footprint_.size() + loops_.size()] * u.item;
    if (loops_.empty()) {
      u.unique_bytes = 1;
      return u;
    }
    u.unique_lines = std::max(1.0, u.unique_bytes / run_bytes(*u.at, u.item));
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const double step = stride(*u.at, loops_[i]);
      if (step == 0) continue;
      if (i == 0) u.stride = step;
      const double share = std::min(1.0, step * u.item / options_.cache_line);
      u.lines = std::max(1.0, iterations_ / inside_[i] * share);
      break;
    }
    find_reuse(s, u);
    return u;
  }

  /// Bytes that lie next to each other, at most a cache line.
  double run_bytes(const access& a, double item) const {
    const std::vector<double>& shape = walk_.buffers[a.buffer].shape;
    double out = item;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const double w = width(a, d, 0, shape[d]);
      out *= w;
      if (w < shape[d]) break;
    }
    return std::min<double>(out, options_.cache_line);
  }

  static bool moves(const access& a, std::size_t loop) {
    for (const spread& s : a.dims)
      if (s.moved_by(loop) != 0) return true;
    return false;
  }

  void find_reuse(const store_info& s, use& u) const {
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const loop_info& loop = s.loops[loops_[i]];
      if (!moves(*u.at, loops_[i])) {
        u.reuse = 0;
        u.count = loop.extent;
        u.distance = inside_[i];
        u.distance_bytes = footprint_[i];
        return;
      }
      if (loop.id < 0) continue;
      double all = 0;
      const touch* own = nullptr;
      for (std::size_t t = first_touch_[static_cast<std::size_t>(loop.id)]; t != 0;
           t = touched_[t - 1].next) {
        all += touched_[t - 1].bytes;
        if (touched_[t - 1].buffer == u.at->buffer) own = &touched_[t - 1];
      }
      if (!own || own->number < 2) continue;
      u.reuse = 1;
      u.count = own->number - 1;
      u.distance = own->least / loop.extent;
      u.distance_bytes = all / loop.extent;
      return;
    }
  }

  void write_buffers(const store_info& s, float* to) {
    std::vector<use> uses;
    uses.reserve(s.accesses.size());
    for (std::size_t a = 0; a < s.accesses.size(); ++a) uses.push_back(measure(s, a));
    std::sort(uses.begin(), uses.end(), [](const use& a, const use& b) {
      if (a.lines != b.lines) return a.lines > b.lines;
      if (a.bytes != b.bytes) return a.bytes > b.bytes;
      return a.buffer->name < b.buffer->name;
    });
    for (std::size_t i = 5; i < uses.size(); ++i) {
      uses[4].bytes += uses[i].bytes;
      uses[4].unique_bytes += uses[i].unique_bytes;
      uses[4].lines += uses[i].lines;
      uses[4].unique_lines += uses[i].unique_lines;
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(5, uses.size()); ++i, to += 18)
      write_use(uses[i], to);
  }

  static void write_use(const use& u, float* to) {
    to[u.at->read && u.at->write ? 2 : u.at->write ? 1 : 0] = 1;
    const double sizes[] = {u.bytes, u.unique_bytes, u.lines, u.unique_lines};
    const double per = u.count > 0 ? u.count : 0.5;
    for (int i = 0; i < 4; ++i) {
      to[3 + i] = slog(sizes[i]);
      to[13 + i] = slog(sizes[i] / per);
    }
    to[7 + u.reuse] = 1;
    to[10] = slog(u.distance);
    to[11] = slog(u.distance_bytes);
    to[12] = slog(u.count);
    to[17] = slog(u.stride);
  }

  /// Operations per byte where the inner loops have done a tenth of the work, two tenths, ...
  void write_intensity(const store_info& s, float* to) const {
    double once = 0;
    for (int i = 0; i < 7; ++i) once += s.operations[static_cast<std::size_t>(i)];
    if (once == 0)
      for (int i = 7; i < 14; ++i) once += s.operations[static_cast<std::size_t>(i)];
    if (once == 0) return;
    std::size_t p = 0;
    for (int i = 1; i <= 10; ++i) {
      const double work = once * iterations_ * 0.1 * i;
      while (p + 1 < loops_.size() && work_below(s, p) * once < work) ++p;
      to[i - 1] = slog(intensity_at(s, once, p, work));
    }
  }

  /// Iterations of loop p of `loops_` and all inside it.
  double work_below(const store_info& s, std::size_t p) const {
    return loops_.empty() ? 1 : inside_[p] * s.loops[loops_[p]].extent;
  }

  double intensity_at(const store_info& s, double once, std::size_t p, double work) const {
    if (loops_.empty()) return once / std::max(1.0, footprint_[0]);
    const double high = work_below(s, p) * once;
    const double above = high / std::max(1.0, footprint_[p + 1]);
    if (p == 0) return above;
    const double low = work_below(s, p - 1) * once;
    const double below = low / std::max(1.0, footprint_[p]);
    const double part = high > low ? (work - low) / (high - low) : 1;
    return below + part * (above - below);
  }

  void write_allocation(const store_info& s, float* to) const {
    const buffer_info& b = walk_.buffers[s.buffer];
    double n = 1, outer = 1;
    for (const double extent : b.shape) n *= extent;
    if (!b.parameter)
      for (std::size_t l = 0; l < b.common.size() && l < s.loops.size(); ++l)
        if (s.loops[l].counts) outer *= s.loops[l].extent;
    to[0] = slog(n * item_bytes(s.buffer));
    to[1] = slog(n * outer);
    to[2] = slog(outer);
    to[3] = slog(iterations_ / outer);
  }

  feature_options options_;
  store_walk walk_;
  std::vector<touch> touched_;            // by the stores so far
  std::vector<std::size_t> first_touch_;  // [loop] position + 1 in `touched_`; 0: none
  // of the store at hand:
  std::vector<std::size_t> loops_;
  std::vector<double> inside_;
  std::vector<double> footprint_;
  std::vector<double> elements_;  // [access][loop + 1]
  double iterations_ = 1;
};

}  // namespace detail

TILEWRIGHT_INLINE std::vector<feature_row> store_features(const ir::function& f,
                                                          const feature_options& options) {
  return detail::feature_writer(f, options).rows();
}

TILEWRIGHT_INLINE feature_cache::rows feature_cache::of(const ir::function& f,
                                                        const support::hash128& key,
                                                        const feature_options& options) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  auto made = std::make_shared<const std::vector<feature_row>>(store_features(f, options));
  const std::lock_guard lock(mutex_);
  if (known_.size() >= limit_) known_.clear();
  return known_.try_emplace(key, std::move(made)).first->second;
}

TILEWRIGHT_INLINE std::size_t feature_cache::size() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

}  // namespace tilewright::cost
