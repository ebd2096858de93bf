// A space of tiles whose fastest program is known, for tests of strategies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include <tilewright/cost/model.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/enumeration.hpp>
#include <tilewright/search/strategy.hpp>

namespace landscape {

using namespace tilewright;

/// Tiles of three levels on two loops of 64 and a list of five values: 28 * 28 * 5 members.
inline search::search_task tiles() {
  search::search_task out;
  out.function = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
    for i, j in T.grid(64, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
)");
  out.sketches.push_back(trace::parse(R"(b0 = sch.get_block(name="B", func_name="main")
l1, l2 = sch.get_loops(block=b0)
v3, v4, v5 = sch.sample_perfect_tile(loop=l1, n=3, max_innermost_factor=64)
l6, l7, l8 = sch.split(loop=l1, factors=[v3, v4, v5])
v9, v10, v11 = sch.sample_perfect_tile(loop=l2, n=3, max_innermost_factor=64)
l12, l13, l14 = sch.split(loop=l2, factors=[v9, v10, v11])
v15 = sch.sample_categorical(candidates=[0, 16, 64, 512, 1024], probs=[0.2, 0.2, 0.2, 0.2, 0.2])
sch.annotate(block_or_loop=b0, ann_key="pragma_auto_unroll_max_step", ann_val=v15)
)"));
  return out;
}

/// Doubles with every factor of two by which a tile misses [_, 8, 4] or [_, 2, 16], and grows with
/// the distance from the fourth value. The fastest program takes a millisecond.
inline double seconds(const search::candidate& c) {
  const std::int64_t wanted[2][2] = {{8, 4}, {2, 16}};
  const trace& t = c.scheduled.trace();
  double away = 0;
  std::size_t tile = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const decision& d = t[i].choice;
    if (d.size() == 1) away += 0.5 * std::abs(static_cast<double>(d[0]) - 3);
    if (d.size() != 3) continue;
    for (std::size_t k = 0; k < 2; ++k)
      away += std::abs(std::log2(static_cast<double>(d[k + 1])) -
                       std::log2(static_cast<double>(wanted[tile][k])));
    ++tile;
  }
  return 1e-3 * std::exp2(away);
}
inline constexpr double fastest = 1e-3;

/// The best times after each trial of a search in batches of eight.
inline std::vector<double> curve(search::strategy& s, std::size_t trials) {
  std::vector<double> out;
  double best = std::numeric_limits<double>::infinity();
  while (out.size() < trials) {
    const std::vector<search::candidate> batch =
        s.propose(std::min<std::size_t>(8, trials - out.size()), {});
    if (batch.empty()) break;
    std::vector<double> times;
    for (const search::candidate& c : batch) {
      times.push_back(seconds(c));
      best = std::min(best, times.back());
      out.push_back(best);
    }
    s.learn(batch, times);
  }
  return out;
}

/// Trials until the fastest program was met; `most` where it was not.
inline std::size_t trials_to_fastest(search::strategy& s, std::uint64_t seed, std::size_t most) {
  s.start(tiles(), seed);
  const std::vector<double> times = curve(s, most);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] <= fastest * (1 + 1e-9)) return i + 1;
  return most;
}

/// A model that knows the landscape.
struct knowing_model final : cost::model {
  std::vector<double> predict(std::span<const cost::sample> programs) override {
    std::vector<double> out;
    for (const cost::sample& s : programs) {
      const auto at = known.find(s.key);
      out.push_back(at == known.end() ? -10 : -std::log2(at->second));
    }
    return out;
  }
  void update(std::span<const cost::sample>) override {}
  std::string save() const override { return {}; }
  void load(std::string_view) override {}

  std::unordered_map<support::hash128, double> known = [] {
    std::unordered_map<support::hash128, double> out;
    const search::search_task task = tiles();
    search::enumeration all(task.function, task.sketches);
    while (const auto c = all.next()) out[c->identity] = seconds(*c);
    return out;
  }();
};

}  // namespace landscape
