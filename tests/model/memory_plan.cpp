// Plans never let two values share memory while both are alive.
#include <doctest/doctest.h>

#include <vector>

#include <tilewright/model/memory_plan.hpp>
#include <tilewright/support/random.hpp>

using namespace tilewright;
using network::lifetime;

TEST_CASE("memory_plan: values that follow each other share memory") {
  const std::vector<lifetime> chain{{1000, 0, 1}, {500, 1, 2}, {1000, 2, 3}, {64, 3, 4}};
  const network::memory_plan p = network::plan_memory(chain);
  CHECK(p.size == network::least_memory(chain));
  CHECK(p.size == 1024 + 512);
  CHECK(network::plan_memory({}).size == 0);
}

TEST_CASE("memory_plan: values that are alive together lie apart") {
  support::random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<lifetime> values;
    for (int k = 0; k < 30; ++k) {
      const int first = static_cast<int>(random.below(40));
      values.push_back({static_cast<std::int64_t>(random.below(5000)), first,
                        first + static_cast<int>(random.below(8))});
    }
    const network::memory_plan p = network::plan_memory(values);
    CHECK(p.size >= network::least_memory(values));
    for (std::size_t a = 0; a < values.size(); ++a) {
      CHECK(p.offsets[a] % 64 == 0);
      CHECK(p.offsets[a] + values[a].bytes <= p.size);
      for (std::size_t b = 0; b < a; ++b) {
        const bool together =
            values[a].first <= values[b].last && values[b].first <= values[a].last;
        const bool apart = p.offsets[a] + values[a].bytes <= p.offsets[b] ||
                           p.offsets[b] + values[b].bytes <= p.offsets[a];
        CHECK((!together || apart || values[a].bytes == 0 || values[b].bytes == 0));
      }
    }
  }
}

TEST_CASE("memory_plan: blocks of a network fit into what is alive at once") {
  // extents of a residual network whose inner convolutions are three kernels: a value is read by the next
  // kernel, and what goes around a block by its last one
  std::vector<lifetime> values;
  const auto add = [&](std::int64_t bytes, const std::vector<std::size_t>& inputs) {
    const int step = static_cast<int>(values.size());
    for (const std::size_t k : inputs) values[k].last = step;
    values.push_back({bytes, step, step});
    return values.size() - 1;
  };
  std::size_t x = add(802816, {});
  for (int block = 0; block < 3; ++block) {
    std::size_t y = add(802816, {x});
    y = add(1638400, {y});
    y = add(1638400, {y});
    y = add(802816, {y});
    if (block == 0) x = add(3211264, {x});
    x = add(3211264, {x, y});
  }
  CHECK(network::plan_memory(values).size == network::least_memory(values));
}
