// Seconds that a device needs, with patience for kernels that do not end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/backend/cuda/device_graph.hpp>
#include <tilewright/support/error.hpp>

namespace gpu_time {

namespace cu = tilewright::backend::cuda;

/// A kernel that does not end.
struct hang : tilewright::build_error {
  using build_error::build_error;
};

/// Starts something on a stream.
using starter = std::function<void(cu::stream_ref)>;

/// The middle of one or more numbers.
double median(std::vector<double> x);

/// Times on one device. Nothing else may be started there meanwhile.
class device_clock {
 public:
  explicit device_clock(const cu::device& on) : device_(on) {}

  /// Waits for all that was started. @throws hang after `patience` seconds
  void settle(double patience = 20) const;
  /// Seconds of one start: the median of 7 rounds of as many as take 20 ms, after 50 ms of others.
  double seconds_of(const starter& start) const;
  /// About that, from three short rounds: what tells many candidates apart in little time.
  /// @param enough  seconds of a single start beyond which that is the answer; 0: however long it takes
  double glance_at(const starter& start, double enough = 0) const;
  /// How many starts in a row take that long, 1 to 1000.
  int worth(const starter& start, double seconds) const;

  /// As many starts in a row, recorded in a graph where they can be: then the host's share of a start is not
  /// in the time.
  class round {
   public:
    round(const device_clock& clock, starter start, int count);
    /// Seconds of one start.
    double seconds() const;
    bool in_graph() const noexcept { return graph_ != nullptr; }

   private:
    const device_clock& clock_;
    starter start_;
    int count_;
    std::unique_ptr<cu::device_graph> graph_;
  };

 private:
  double between(const std::function<void()>& starts) const;
  void wait_for(const cu::device_event& e, double patience) const;

  const cu::device& device_;
};

/// Two that are timed in turns, as 7 rounds each.
struct duel {
  double first = 0, second = 0;  // s, medians
  double ratio = 0;              // median of second / first, round by round
  bool in_graphs = false;        // both
};
duel in_turns(const device_clock& clock, const starter& first, const starter& second);
/// The second one in a process of its own, which says the seconds of a round.
duel in_turns(const device_clock& clock, const starter& first,
              const std::function<double()>& second_round);

/// Position of the one that is fastest in a short round; those that refuse to start are left out.
/// @throws build_error when all do
std::size_t fastest_of(const device_clock& clock, const std::vector<starter>& all);

}  // namespace gpu_time
