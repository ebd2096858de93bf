#include "device_clock.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace gpu_time {
namespace {

using clock = std::chrono::steady_clock;
constexpr double patience_of_a_round = 60;  // s

}  // namespace

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

void device_clock::wait_for(const cu::device_event& e, double patience) const {
  const auto begin = clock::now();
  while (!e.done()) {
    const std::chrono::duration<double> waited = clock::now() - begin;
    if (waited.count() > patience)
      throw hang("kernels did not end within " + std::to_string(static_cast<int>(patience)) + " s");
    if (waited.count() > 1e-3) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void device_clock::settle(double patience) const {
  cu::device_event end(device_);
  end.record();
  wait_for(end, patience);
}

double device_clock::between(const std::function<void()>& starts) const {
  cu::device_event begin(device_), end(device_);
  begin.record();
  starts();
  end.record();
  wait_for(end, patience_of_a_round);
  return end.seconds_since(begin);
}

int device_clock::worth(const starter& start, double seconds) const {
  const auto twice = [&] {
    start(nullptr);
    start(nullptr);
  };
  between(twice);
  const double one = std::max(between(twice) / 2, 1e-7);
  return std::clamp(static_cast<int>(seconds / one), 1, 1000);
}

double device_clock::seconds_of(const starter& start) const {
  const int count = worth(start, 0.02);
  const round some(*this, start, count);
  for (int warm = 0; warm < 3; ++warm) some.seconds();
  std::vector<double> rounds;
  for (int r = 0; r < 7; ++r) rounds.push_back(some.seconds());
  return median(rounds);
}

double device_clock::glance_at(const starter& start, double enough) const {
  const double first = between([&] { start(nullptr); });
  if (enough > 0 && first > enough) return first;
  const round some(*this, start, worth(start, 0.001));
  double least = some.seconds();
  for (int r = 0; r < 2; ++r) least = std::min(least, some.seconds());
  return least;
}

device_clock::round::round(const device_clock& clock, starter start, int count)
    : clock_(clock), start_(std::move(start)), count_(count) {
  try {
    graph_ = std::make_unique<cu::device_graph>(clock_.device_, [&](cu::stream_ref stream) {
      for (int i = 0; i < count_; ++i) start_(stream);
    });
  } catch (const tilewright::error&) {  // a library that waits or allocates
  }
  if (graph_) seconds();  // the first launch brings it to the device
}

double device_clock::round::seconds() const {
  const double all = clock_.between([&] {
    if (graph_) return graph_->start();
    for (int i = 0; i < count_; ++i) start_(nullptr);
  });
  return all / count_;
}

namespace {

duel in_rounds(const std::function<double()>& first, const std::function<double()>& second) {
  std::vector<double> a, b, ratios;
  for (int r = 0; r < 7; ++r) {
    a.push_back(first());
    b.push_back(second());
    ratios.push_back(b.back() / a.back());
  }
  return {median(a), median(b), median(ratios), false};
}

}  // namespace

duel in_turns(const device_clock& clock, const starter& first, const starter& second) {
  const device_clock::round one(clock, first, clock.worth(first, 0.02)),
      other(clock, second, clock.worth(second, 0.02));
  duel out = in_rounds([&] { return one.seconds(); }, [&] { return other.seconds(); });
  out.in_graphs = one.in_graph() && other.in_graph();
  return out;
}

duel in_turns(const device_clock& clock, const starter& first,
              const std::function<double()>& second_round) {
  const device_clock::round one(clock, first, clock.worth(first, 0.02));
  duel out = in_rounds([&] { return one.seconds(); }, second_round);
  out.in_graphs = one.in_graph();
  return out;
}

std::size_t fastest_of(const device_clock& clock, const std::vector<starter>& all) {
  std::size_t best = all.size();
  double least = 0;
  std::string refused = "there is nothing to start";
  for (std::size_t i = 0; i < all.size(); ++i) {
    try {
      const device_clock::round some(clock, all[i], clock.worth(all[i], 0.005));
      const double seconds = some.seconds();
      if (best < all.size() && seconds >= least) continue;
      best = i;
      least = seconds;
    } catch (const hang&) {
      throw;
    } catch (const tilewright::build_error& e) {
      refused = e.what();
    }
  }
  if (best == all.size()) throw tilewright::build_error(refused);
  return best;
}

}  // namespace gpu_time
