// Seconds that a launch on a GPU may take, of what its kernels do (gpu_estimate.hpp), and which kernels are one launch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include <tilewright/support/any.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::cost::detail {

/// What descriptions of devices leave out: rates of one multiprocessor, per cycle.
struct gpu_rates {
  double clock = 1.7e9;         // Hz
  double lanes = 128;           // multiply-adds of f32
  double tensor = 1024;         // multiply-adds of f16
  double memory_bytes = 18;     // of a share of the device's
  double cache_bytes = 32;      // of a share of the second cache's
  double latency_bytes = 14e3;  // that have to be on their way for all of `memory_bytes`
  double atomic_pieces = 0.5;   // of 32 bytes that a share of the second cache adds to
  double same_element = 1;      // cycles from one addition to an element to the next one
};

inline gpu_rates rates_of(const target::gpu& device) {
  gpu_rates out;
  if (device.compute_capability == 80) out = {1.4e9, 64, 1024, 13, 32, 10e3, 0.5, 1};
  if (device.compute_capability == 86) out = {1.7e9, 128, 512, 6.5, 20, 6e3, 0.3, 1};
  if (device.compute_capability == 89) out = {2.4e9, 128, 512, 3.5, 20, 4e3, 0.3, 1};
  return out;
}

/// What one kernel does, by block.
struct kernel_work {
  double blocks = 1, threads = 1;
  double issues = 0;                            // arithmetic instructions of warps
  double tensor = 0;                            // multiply-adds of tensor cores
  double shared_cycles = 0;                     // in which shared memory serves one warp
  double cache_cycles = 0;                      // in which the first cache serves one warp
  double requested = 0;                         // bytes asked of the second cache
  double added = 0;                             // pieces of 32 bytes that the second cache adds to
  double flight = 0;                            // bytes that one warp has on their way, at most
  double chains = 1;                            // independent results of a thread
  double heaviest = 0;                          // issues of the store that `chains` is of
  std::map<std::size_t, double> shared, local;  // bytes: of a block and of a thread, by buffer
  double memory_bytes = 0;                      // of all blocks
  std::map<std::size_t, double> terms;          // additions of all blocks to one element, by buffer
  std::set<std::size_t> reads, writes, adds;    // buffers that other kernels may see

  bool touches(std::size_t buffer) const {
    return reads.count(buffer) != 0 || writes.count(buffer) != 0 || adds.count(buffer) != 0;
  }
  /// Whether it stores to something that the other one touches.
  bool disturbs(const kernel_work& other) const {
    return support::any(writes, [&](std::size_t b) { return other.touches(b); }) ||
           support::any(adds, [&](std::size_t b) {
             return other.reads.count(b) != 0 || other.writes.count(b) != 0;
           });
  }
};

/// Kernels whose blocks stand side by side.
using gpu_launch = std::vector<const kernel_work*>;

/// As pass/gpu/fuse_kernels.hpp puts kernels together: each comes to the earliest launch behind all that it waits for, unless
/// it has barriers and fewer threads than others there. Kernels that share memory are taken for such with barriers.
inline std::vector<gpu_launch> fused_launches(const std::vector<const kernel_work*>& kernels,
                                              const target::gpu& device) {
  const auto fits = [&](const gpu_launch& all) {
    double threads = 1;
    for (const kernel_work* k : all) threads = std::max(threads, k->threads);
    return threads <= device.threads_per_block && support::all(all, [&](const kernel_work* k) {
             return k->threads == threads || k->shared.empty();
           });
  };
  std::vector<gpu_launch> out;
  for (const kernel_work* k : kernels) {
    gpu_launch* found = nullptr;
    for (auto l = out.rbegin(); l != out.rend(); ++l) {
      if (support::any(*l, [&](const kernel_work* other) {
            return k->disturbs(*other) || other->disturbs(*k);
          }))
        break;
      gpu_launch with = *l;
      with.push_back(k);
      if (fits(with)) found = &*l;
    }
    if (found)
      found->push_back(k);
    else
      out.push_back({k});
  }
  return out;
}

/// How long launches take on a device.
class launch_seconds {
 public:
  launch_seconds(const target::gpu& device, const gpu_rates& rates)
      : device_(device), rates_(rates) {}

  double operator()(const gpu_launch& parts) const {
    const double sms = device_.multiprocessors;
    // all blocks have the threads, registers and shared memory of the largest part
    double warps = 1, registers = 0, shared = 0, blocks = 0;
    for (const kernel_work* k : parts) {
      warps = std::max(warps, warps_of(*k));
      registers = std::max(registers, registers_of(*k));
      double own = 1024;  // what every block has besides
      for (const auto& [buffer, bytes] : k->shared) own += bytes;
      shared = std::max(shared, own);
      blocks += k->blocks;
    }
    const double fit = resident_blocks(warps, registers, shared);
    // blocks of the fullest multiprocessor, and how many of them are there at a time
    const double rounds = std::ceil(blocks / (sms * fit));
    const double queue = rounds > 1 ? rounds * fit : std::ceil(blocks / sms);
    const double resident = std::min(fit, queue);
    double bytes = 0, requested = 0, added = 0, flight = 0;
    std::map<std::size_t, double> terms;
    std::vector<block_run> runs;
    for (const kernel_work* k : parts) {
      bytes += k->memory_bytes;
      requested += k->requested * k->blocks;
      added += k->added * k->blocks;
      for (const auto& [buffer, many] : k->terms) terms[buffer] += many;
      const double there = resident * warps_of(*k);
      flight += there * std::max(k->flight, 32.0) * (parts.size() > 1 ? k->blocks / blocks : 1);
      runs.push_back({k->blocks, cycles_of_block(*k, registers),
                      std::min(1.0, there * std::clamp(k->chains, 1.0, 8.0) / 24)});
    }
    const double computing = parts.size() == 1
                                 ? queue * runs[0].cycles / (runs[0].busy * rates_.clock)
                                 : cycles_side_by_side(runs, fit) / rates_.clock;
    const double used = std::min(1.0, blocks / sms);
    // what the second cache holds comes sooner
    const double far = bytes < 0.5 * static_cast<double>(device_.l2_bytes) ? 0.5 : 1;
    const double flying = std::min(1.0, flight / (far * rates_.latency_bytes));
    const double moving = bytes / (rates_.memory_bytes * sms * used * flying * rates_.clock);
    const double asking = requested / (rates_.cache_bytes * sms * used * rates_.clock);
    const double adding = added / (rates_.atomic_pieces * sms * used * rates_.clock);
    // those to one element are made one after the other, whoever makes them
    double contended = 0;
    for (const auto& [buffer, many] : terms)
      contended = std::max(contended, many * rates_.same_element / rates_.clock);
    constexpr double start = 1.5e-6;
    return std::max({computing, moving, asking, adding, contended}) + start;
  }

 private:
  /// Blocks of one part.
  struct block_run {
    double blocks, cycles;
    double busy;  // share of the cycles in which something is issued
  };

  double warps_of(const kernel_work& k) const { return std::ceil(k.threads / device_.warp_size); }

  static double registers_of(const kernel_work& k) {
    double local = 0;
    for (const auto& [buffer, bytes] : k.local) local += bytes;
    return std::min(32 + local / 4, 1024.0);
  }

  /// Of a multiprocessor at a time.
  double resident_blocks(double warps, double registers, double shared) const {
    const double threads = warps * device_.warp_size;
    double fit = std::min<double>(device_.blocks_per_multiprocessor,
                                  std::floor(device_.threads_per_multiprocessor / threads));
    fit =
        std::min(fit, std::floor(static_cast<double>(device_.shared_per_multiprocessor) / shared));
    fit = std::min(fit, std::floor(device_.registers_per_multiprocessor /
                                   (std::min(registers, 255.0) * warps * device_.warp_size)));
    return std::max(fit, 1.0);
  }

  double cycles_of_block(const kernel_work& k, double registers) const {
    const double spilled = registers > device_.registers_per_thread ? 4 : 1;
    const double parts[] = {k.issues / (rates_.lanes / device_.warp_size) * spilled,
                            k.tensor / rates_.tensor, k.shared_cycles, k.cache_cycles};
    double most = 0, sum = 0;
    for (const double part : parts) most = std::max(most, part), sum += part;
    return most + 0.25 * (sum - most);  // what does not hide behind the slowest
  }

  /// Parts begin one after the other, as many blocks at a time as fit on the device: such a wave takes as long as its
  /// longest part, or as all of its blocks do that are shared out evenly.
  double cycles_side_by_side(const std::vector<block_run>& runs, double fit) const {
    const double sms = device_.multiprocessors, capacity = sms * fit;
    double out = 0, longest = 0, even = 0, room = capacity;
    const auto end_wave = [&] {
      out += std::max(longest, even);
      longest = even = 0;
      room = capacity;
    };
    for (const block_run& r : runs) {
      const double cycles = r.cycles / r.busy;
      for (double left = r.blocks; left > 0;) {
        const double waves = room == capacity ? std::floor(left / capacity) : 0;
        if (waves > 0) {
          out += waves * fit * cycles;
          left -= waves * capacity;
          continue;
        }
        const double now = std::min(left, room);
        longest = std::max(longest, std::min(fit, std::ceil(now / sms)) * cycles);
        even += now * cycles / sms;
        left -= now;
        room -= now;
        if (room <= 0) end_wave();
      }
    }
    return out + std::max(longest, even);
  }

  const target::gpu& device_;
  const gpu_rates& rates_;
};

}  // namespace tilewright::cost::detail
