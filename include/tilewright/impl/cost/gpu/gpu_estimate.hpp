// Seconds that a GPU may need for a scheduled program, from what is known of such devices: what ranks candidates for
// one of which nothing was measured. Trees that were trained on CPUs know nothing of blocks, warps and banks.
//
// Every launch is bounded by arithmetic, by shared memory, by what blocks ask of the second cache, by what that adds and to how
// few elements, by memory, and by how many warps are there to wait (gpu_launch.hpp). The program is looked at as it was scheduled, as features are (features.hpp); what
// lowering does later (registers of unrolled loops, fetches that all threads share) is foreseen in rough. Orders are
// meant to be right, and times within a factor of a few.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/cost/model.hpp>
#include <tilewright/impl/cost/gpu/gpu_launch.hpp>
#include <tilewright/impl/cost/gpu/lane_places.hpp>
#include <tilewright/impl/cost/store_walk.hpp>
#include <tilewright/impl/pass/vector/stride_wishes.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::cost::detail {

class gpu_walk {
 public:
  gpu_walk(const ir::function& f, const target::gpu& device)
      : device_(device), rates_(rates_of(device)), walk_(f) {
    const ir::block_realize_node* root = f.body ? ir::as_realize(f.body) : nullptr;
    warps_of_thread_ = root ? static_cast<double>(ir::warps_of_thread(*root->block)) : 0;
    if (root)
      if (const auto note = root->block->annotations.find(ir::horizontal_note);
          note != root->block->annotations.end())
        fused_ = !(note->second == ir::attr(0));
    shrink_buffers();
    collect_notes(f);
    for (const store_info& s : walk_.stores) add(s);
  }

  double seconds() const {
    const launch_seconds seconds_of(device_, rates_);
    gpu_launch all;
    for (const auto& [id, kernel] : kernels_) all.push_back(&kernel);
    double out = 0;
    if (fused_)
      for (const gpu_launch& parts : fused_launches(all, device_)) out += seconds_of(parts);
    else
      for (const kernel_work* kernel : all) out += seconds_of({kernel});
    return out;
  }

 private:
  static constexpr double most_unrolled = 2048;     // iterations that become statements
  static constexpr double cached_bytes = 64 << 10;  // of a block that its first cache holds

  /// What blocks ask of the strides of the buffers that they write, and buffers that all threads of a block fill jointly.
  void collect_notes(const ir::function& f) {
    pass::detail::stride_wishes all;
    ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
      const ir::block_realize_node* r = ir::as_realize(s);
      if (!r) return;
      pass::detail::collect_wishes(*r->block, all);
      const auto is_shared = [](const ir::buffer_region& x) {
        return ir::storage_rank(x.buffer->scope) <= 1;
      };
      if (ir::is_auto_copy(*r->block) && support::all(r->block->reads, is_shared) &&
          support::all(r->block->writes, is_shared))
        for (const ir::buffer_region& w : r->block->writes) joint_.insert(w.buffer.get());
    });
    for (std::size_t b = 0; b < walk_.buffers.size() && !all.empty(); ++b)
      for (const auto& [buffer, wishes] : all)
        if (buffer.get() == walk_.buffers[b].node) strides_.emplace(b, wishes);
  }

  /// Buffers of blocks and threads have as many elements as are met between the loops around all of their accesses:
  /// those of threads count as well where the threads of a block share them.
  void shrink_buffers() {
    std::map<std::size_t, std::vector<int>> around;  // loops, by buffer
    for (const store_info& s : walk_.stores)
      for (const access& a : s.accesses) {
        std::vector<int> loops;
        for (const loop_info& l : s.loops) {
          if (l.id < 0) break;
          loops.push_back(l.id);
        }
        const auto [at, fresh] = around.try_emplace(a.buffer, loops);
        if (fresh) continue;
        const auto same =
            std::mismatch(at->second.begin(), at->second.end(), loops.begin(), loops.end());
        at->second.erase(same.first, at->second.end());
      }
    std::map<std::size_t, std::vector<double>> widest;
    for (const store_info& s : walk_.stores)
      for (const access& a : s.accesses) {
        const buffer_info& b = walk_.buffers[a.buffer];
        if (b.node->scope == "global") continue;
        std::vector<double>& shape = widest[a.buffer];
        shape.resize(b.shape.size(), 1);
        for (std::size_t d = 0; d < shape.size() && d < a.dims.size(); ++d)
          shape[d] = std::max(shape[d], met(s, a.dims[d], around[a.buffer].size(),
                                            b.node->scope.starts_with("shared")));
      }
    for (const auto& [buffer, shape] : widest)
      for (std::size_t d = 0; d < shape.size(); ++d) {
        double& extent = walk_.buffers[buffer].shape[d];
        extent = extent > 0 ? std::min(extent, shape[d]) : shape[d];
      }
  }

  /// Elements that the loops from `level` on meet, and those over threads, where these count.
  static double met(const store_info& s, const spread& at, std::size_t level, bool by_threads) {
    if (!at.known) return 1e9;
    double out = at.extent(level);
    if (by_threads && at.linear)
      for (std::size_t l = 0; l < std::min(level, s.loops.size()); ++l)
        if (s.loops[l].tag.starts_with("threadIdx") || s.loops[l].tag.starts_with("vthread"))
          out += std::abs(at.moved_by(l)) * (s.loops[l].extent - 1);
    return std::max(out, 1.0);
  }

  double size(std::size_t buffer) const {
    double out = 1;
    for (const double extent : walk_.buffers[buffer].shape) out *= std::max(extent, 1.0);
    return out;
  }

  /// Loops of a store, as a block runs them.
  struct nest {
    std::vector<bool> counted;     // by the threads of a block, one after the other
    std::vector<bool> unrolled;    // and written out
    std::size_t inside_block = 0;  // the first loop behind those of the grid
    std::size_t lane = deepest;    // the loop over threadIdx.x; deepest: there is none
    double blocks = 1, threads = 1, lanes = 1;
    double iterations = 1;  // of a thread
    double chains = 1;      // of `unrolled`
  };

  nest nest_of(const store_info& s) const {
    nest out;
    out.counted.assign(s.loops.size(), false);
    out.unrolled.assign(s.loops.size(), false);
    std::vector<std::string_view> met;
    bool innermost = true;
    for (std::size_t l = s.loops.size(); l-- > 0;) {
      const loop_info& loop = s.loops[l];
      const bool of_block = loop.tag.starts_with("blockIdx"),
                 of_thread = loop.tag.starts_with("threadIdx");
      if (of_block) out.inside_block = std::max(out.inside_block, l + 1);
      if (of_block || of_thread) {
        // one that stands inside of another one on its axis spreads over the same threads
        if (support::contains(met, loop.tag)) continue;
        met.push_back(loop.tag);
        (of_block ? out.blocks : out.threads) *= loop.extent;
        if (loop.tag == "threadIdx.x" && l < deepest) out.lane = l, out.lanes = loop.extent;
      } else if (loop.counts) {
        out.counted[l] = true;
        out.iterations *= loop.extent;
        if (loop.tag.starts_with("vthread")) {  // stand innermost in the end, and are written out
          out.unrolled[l] = true;
          out.chains *= loop.extent;
          continue;
        }
        innermost = innermost && out.chains * loop.extent <= most_unrolled;
        if (innermost) out.unrolled[l] = true, out.chains *= loop.extent;
      }
    }
    out.lanes = std::min(out.lanes, static_cast<double>(device_.warp_size));
    return out;
  }

  static bool moves(const access& a, std::size_t loop) {
    return support::any(a.dims, [&](const spread& d) { return d.moved_by(loop) != 0; });
  }

  /// Elements of dimension `d` that loops from `level` on meet.
  double width(const access& a, std::size_t d, std::size_t level) const {
    const double shape = walk_.buffers[a.buffer].shape[d];
    const double w = a.dims[d].known ? a.dims[d].extent(level) : shape;
    return shape > 0 ? std::clamp(w, 1.0, shape) : std::max(w, 1.0);
  }
  double elements(const access& a, std::size_t level) const {
    double out = 1;
    const std::size_t rank = walk_.buffers[a.buffer].shape.size();
    for (std::size_t d = 0; d < rank && d < a.dims.size(); ++d) out *= width(a, d, level);
    return out;
  }

  /// Bytes of the pieces of 32 that loops from `level` on touch.
  double touched(const access& a, std::size_t level, double item) const {
    const std::size_t rank = walk_.buffers[a.buffer].shape.size();
    const double run = rank && rank <= a.dims.size() ? width(a, rank - 1, level) : 1;
    return elements(a, level) / run * std::max(run * item, 32.0);
  }

  /// Elements from one iteration of a loop to the next; 0: it does not move the access.
  double stride(const access& a, std::size_t loop) const {
    const std::vector<double>& shape = walk_.buffers[a.buffer].shape;
    double step = 1, out = 0;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const double by = d < a.dims.size() ? std::abs(a.dims[d].moved_by(loop)) : 0;
      if (by >= 1 && (out == 0 || by * step < out)) out = by * step;
      step *= std::max(shape[d], 1.0);
    }
    return out;
  }

  /// Places that the lanes of a warp read, of `lanes` many.
  double places(const access& a, const nest& n, double extent) const {
    if (n.lane == deepest) return 1;
    double out = 1;
    const std::size_t rank = walk_.buffers[a.buffer].shape.size();
    for (std::size_t d = 0; d < rank && d < a.dims.size(); ++d) {
      const spread& s = a.dims[d];
      const double by = std::abs(s.moved_by(n.lane));
      if (by == 0) continue;
      if (s.linear && by >= 1)
        out *= extent;
      else if (by < 1)  // a quotient
        out *= std::max(1.0, by * n.lanes);
      else
        out *= std::max(1.0, s.extent(n.lane) / s.extent(n.lane + 1));
    }
    return std::min(out, n.lanes);
  }

  void add(const store_info& s) {
    const int id = s.loops.empty() ? -1 : s.loops.front().id;
    kernel_work& k = kernels_[id];
    const nest n = nest_of(s);
    k.blocks = std::max(k.blocks, n.blocks);
    k.threads = std::max(k.threads, in_warps() ? n.threads * lanes() : n.threads);
    // what all threads copy is copied once
    const double sharing = joint_.count(walk_.buffers[s.buffer].node) ? n.threads : 1;
    const double warps =
        in_warps() ? n.threads * warps_of_thread_ : std::ceil(n.threads / device_.warp_size);
    const double each =
        (in_warps() ? 1.0 / lanes() : 1) / sharing;  // of what a thread of the schedule does
    const std::string_view to = walk_.buffers[s.buffer].node->scope;
    const bool in_groups = to == "wgmma.accumulator";
    if (to == "wmma.accumulator" || in_groups) {
      // products of warps come to two thirds of what those of warp groups do, and wait for none of each other
      constexpr double of_group = 0.65, products_of_warp = 8;
      const bool multiplies = s.operations[2] + s.operations[9] > 0;
      if (multiplies) {
        k.tensor += n.iterations * n.threads * (in_groups ? of_group : 1) * factor_bytes(s) / 2;
        k.chains = products_of_warp;
      }
      if (multiplies &&
          in_groups) {  // operands go from shared memory to tensor cores without instructions
        for (const access& a : s.accesses)
          if (a.buffer == s.buffer) add_access(s, n, a, warps * each, k);
        return;
      }
    } else {
      const double issues = n.iterations * each * warps *
                            instructions(s.operations, walk_.buffers[s.buffer].node->type);
      k.issues += issues;
      if (issues > k.heaviest) k.heaviest = issues, k.chains = results(s, n);
    }
    for (const access& a : s.accesses) add_access(s, n, a, warps * each, k);
  }

  /// Of what a product multiplies: tensor cores take half as many factors of twice the size.
  double factor_bytes(const store_info& s) const {
    double out = 4;
    for (const access& a : s.accesses)
      if (a.buffer != s.buffer)
        out = std::min<double>(out, bytes(walk_.buffers[a.buffer].node->type));
    return out;
  }

  bool in_warps() const { return warps_of_thread_ > 0; }
  double lanes() const { return warps_of_thread_ * device_.warp_size; }

  /// Of one iteration. What indices take is mostly moved out of loops, and counts as one where integers are stored.
  static double instructions(const operation_counts& o, dtype stored) {
    constexpr double long_ones = 8;  // quotients, calls
    return std::max(o[1], o[2]) + o[4] + long_ones * (o[3] + o[5] + o[6]) +
           (is_float(stored) ? 0 : 1);
  }

  /// Results that a thread has at a time.
  double results(const store_info& s, const nest& n) const {
    double out = 1;
    for (const access& a : s.accesses)
      if (a.write)
        for (std::size_t l = 0; l < s.loops.size(); ++l)
          if (n.unrolled[l] && moves(a, l)) out *= s.loops[l].extent;
    return out;
  }

  void add_access(const store_info& s, const nest& n, const access& a, double warps,
                  kernel_work& k) {
    const buffer_info& b = walk_.buffers[a.buffer];
    const double item = bytes(b.node->type);
    const std::string_view scope = b.node->scope;
    const bool shared = scope.starts_with("shared"), adds = s.adds && a.buffer == s.buffer;
    if (scope == "global") {
      if (adds) k.adds.insert(a.buffer);
      if (!adds && a.read) k.reads.insert(a.buffer);
      if (!adds && a.write) k.writes.insert(a.buffer);
    }
    if (adds) return add_additions(s, n, a, warps, k);
    if (!shared && scope != "global") {
      double own = 1;  // of virtual threads as well, each of which has elements of its own
      for (std::size_t l = 0; l < s.loops.size(); ++l)
        if (n.unrolled[l] && moves(a, l)) own *= s.loops[l].extent;
      double& most = k.local[a.buffer];
      most =
          std::max(most, std::max(size(a.buffer), own) * item * (in_warps() ? 1.0 / lanes() : 1));
      return;
    }
    // what loops that are written out do not move is loaded once for all of their iterations
    double loads = 1, together = 1;
    for (std::size_t l = s.loops.size(); l-- > 0;) {
      if (!n.counted[l] || (n.unrolled[l] && !moves(a, l))) continue;
      const bool vector = together == 1 && n.unrolled[l] && stride(a, l) == 1 &&
                          (shared || s.loops[l].kind == ir::loop_kind::vectorized);
      if (vector) together = std::min(s.loops[l].extent, std::max(1.0, 16 / item));
      loads *= s.loops[l].extent;
    }
    loads /= together;
    const double extent = n.lane < s.loops.size() ? std::min(s.loops[n.lane].extent, n.lanes) : 1;
    const double lanes = places(a, n, extent);
    const double step = n.lane == deepest ? 0 : stride(a, n.lane) * item, piece = together * item;
    const double times = loads * warps * (a.read && a.write ? 2 : 1);
    if (shared) {
      k.shared_cycles +=
          times * (in_warps() ? std::max(1.0, lanes * piece / 128)
                              : bank_cycles(places_of_lanes(a, item), static_cast<int>(extent),
                                            static_cast<std::int64_t>(piece), a.read));
      k.shared[a.buffer] = size(a.buffer) * item;
      return;
    }
    const bool placed =
        n.lane != deepest && support::all(a.dims, [](const spread& d) { return d.known; });
    const double sectors =
        placed ? sectors_of(places_of_lanes(a, item), static_cast<int>(extent),
                            static_cast<std::int64_t>(piece))
               : std::max(1.0, step <= 32 ? std::ceil(lanes * std::max(step, piece) / 32)
                                          : lanes * std::ceil(piece / 32));
    const double asked = times * sectors * 32, own = touched(a, n.inside_block, item);
    k.cache_cycles += times * std::max(1.0, sectors / 4);
    k.requested += own <= cached_bytes ? std::min(asked, std::max(own, 32.0)) : asked;
    // lanes that a joint copy is spread over later have a piece each
    const double pieces = joint_.count(walk_.buffers[s.buffer].node) ? device_.warp_size : lanes;
    k.flight = std::max(k.flight, pieces * piece * std::clamp(n.chains / together, 4.0, 32.0));
    double& whole = memory_[{&k, a.buffer}];
    const double now = elements(a, 0) * item * (a.read && a.write ? 2 : 1);
    k.memory_bytes += std::max(now - whole, 0.0);
    whole = std::max(whole, now);
  }

  /// Bytes from where the first lane of a warp accesses a buffer to where others do. They follow from the lanes that are
  /// powers of two: indices of threads are made of digits, which move apart.
  lane_bytes places_of_lanes(const access& a, double item) const {
    const std::vector<double>& shape = walk_.buffers[a.buffer].shape;
    const auto wishes = strides_.find(a.buffer);
    std::array<double, 6> at{};
    double step = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (wishes != strides_.end())
        for (const pass::detail::stride_wish& w : wishes->second)
          if (w.axis == static_cast<std::int64_t>(d)) {
            const auto factor = static_cast<double>(w.factor);
            const double rest = std::fmod(static_cast<double>(w.offset) - step, factor);
            step += rest < 0 ? rest + factor : rest;
          }
      if (d < a.dims.size())
        for (std::size_t i = 0; i < at.size(); ++i)
          at[i] += step * (a.dims[d].in_lane(i) - a.dims[d].in_lane(0));
      step *= std::max(shape[d], 1.0);
    }
    lane_bytes out{};
    for (std::size_t l = 0; l < out.size(); ++l)
      for (std::size_t bit = 0; bit < 5; ++bit)
        if (l >> bit & 1) out[l] += static_cast<std::int64_t>(at[bit + 1] * item);
    return out;
  }

  /// Additions that memory makes. A thread sums up first what goes to one element, and to one row after the other of a
  /// list (pass/gpu/gather_additions.hpp); the second cache does the rest, a piece of 32 bytes after the other.
  void add_additions(const store_info& s, const nest& n, const access& a, double warps,
                     kernel_work& k) {
    const double item = bytes(walk_.buffers[a.buffer].node->type);
    const bool listed = support::any(a.dims, [](const spread& d) { return !d.known; });
    const double row = listed && walk_.pattern() ? std::max(walk_.pattern()->mean_row, 1.0) : 1;
    double times = 1;  // of a thread
    for (std::size_t l = 0; l < s.loops.size(); ++l)
      if (n.counted[l] && moves(a, l)) times *= s.loops[l].extent;
    times = std::max(times / row, 1.0);
    const double extent = n.lane < s.loops.size() ? std::min(s.loops[n.lane].extent, n.lanes) : 1;
    const double lanes = places(a, n, extent);
    const double step = n.lane == deepest ? 0 : stride(a, n.lane) * item;
    const double pieces =
        std::max(1.0, step <= 32 ? std::ceil(lanes * std::max(step, item) / 32) : lanes);
    k.cache_cycles += times * warps * std::max(1.0, pieces / 4);
    k.added += times * warps * pieces;
    const double met = elements(a, 0);
    k.terms[a.buffer] += times * n.threads * n.blocks / met;
    k.memory_bytes += 2 * met * item;
  }

  const target::gpu& device_;
  gpu_rates rates_;
  store_walk walk_;
  double warps_of_thread_ = 0;  // what a thread of the schedule is; 0: a thread
  bool fused_ = false;          // kernels that do not wait for each other are one launch
  std::map<std::size_t, std::vector<pass::detail::stride_wish>> strides_;  // by buffer
  std::set<const ir::buffer_node*> joint_;
  std::map<int, kernel_work> kernels_;                                   // by their outermost loop
  std::map<std::pair<const kernel_work*, std::size_t>, double> memory_;  // bytes, by buffer
};

inline double gpu_seconds(const ir::function& f, const target::gpu& device) {
  return gpu_walk(f, device).seconds();
}

}  // namespace tilewright::cost::detail

namespace tilewright::cost {

/// Scores a program by the logarithm of how often the time that a GPU is estimated to need for it fits into that for the
/// first program that was asked about. Learns nothing.
class gpu_estimate final : public model {
 public:
  explicit gpu_estimate(target::gpu device) : device_(std::move(device)) {}

  std::vector<double> predict(std::span<const sample> programs) override {
    constexpr std::size_t most_known = 1 << 14;
    if (known_.size() > most_known) known_.clear();
    std::vector<double> out;
    for (const sample& s : programs) {
      const auto [at, fresh] = known_.try_emplace(s.key, 0.0);
      if (fresh) at->second = -std::log(detail::gpu_seconds(*s.program, device_));
      if (!first_) first_ = at->second;
      out.push_back(at->second - *first_);
    }
    return out;
  }
  void update(std::span<const sample>) override {}
  std::string save() const override { return "gpu estimate 1\n"; }
  void load(std::string_view text) override {
    if (text != save()) throw argument_error("gpu_estimate: this is no saved estimate");
  }

 private:
  target::gpu device_;
  std::optional<double> first_;
  std::unordered_map<support::hash128, double> known_;
};

}  // namespace tilewright::cost
