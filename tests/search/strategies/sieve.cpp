// Evolution whose changes a model of the trace alone sifts before they are replayed.
#include <tilewright/search/strategies/evolutionary.hpp>

#include <tilewright/schedule/instruction.hpp>
#include <tilewright/search/trace_tokens.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <vector>

#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// Knows the landscape by its tokens.
struct knowing_sieve final : cost::model {
  std::size_t before_replay = 0, after = 0, learned = 0, blind = 0;

  bool reads_traces() const override { return true; }
  void update(std::span<const cost::sample> measured) override {
    learned += measured.size();
    for (const cost::sample& s : measured) blind += s.trace ? 0 : 1;
  }
  std::string save() const override { return {}; }
  void load(std::string_view) override {}
  std::vector<double> predict(std::span<const cost::sample> programs) override {
    std::vector<double> out;
    for (const cost::sample& s : programs) {
      ++(s.program ? after : before_replay);
      out.push_back(s.trace ? -away(*s.trace) : 0);
      blind += s.trace ? 0 : 1;
    }
    return out;
  }

  static double away(const std::vector<cost::trace_token>& tokens) {
    const double wanted[2][2] = {{8, 4}, {2, 16}};
    double out = 0;
    std::size_t tile = 0;
    for (const cost::trace_token& t : tokens) {
      const std::string_view kind = instruction_kinds()[t.kind].name;
      const auto drawn = [&](std::size_t i) {
        return std::exp2(static_cast<double>(t.numbers[i])) - 1;
      };
      if (kind == "sample_categorical") out += std::abs(drawn(0) - 512) < 1 ? 0 : 1;
      if (kind != "sample_perfect_tile" || tile == 2) continue;
      for (std::size_t k = 0; k < 2; ++k)
        out += std::abs(std::log2(drawn(k + 1)) - std::log2(wanted[tile][k]));
      ++tile;
    }
    return out;
  }
};

std::unique_ptr<strategy> evolution(std::shared_ptr<cost::model> sieve, std::uint64_t seed,
                                    int threads = 1) {
  evolution_options o;
  o.threads = threads;
  o.population = 32;
  o.sieve = std::move(sieve);
  return evolutionary(std::make_shared<cost::random_model>(seed), o);
}

}  // namespace

TEST_CASE("a sieve that knows finds the fastest sooner than none, with as many replays") {
  std::size_t with = 0, without = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto sieve = std::make_shared<knowing_sieve>();
    with += landscape::trials_to_fastest(*evolution(sieve, seed), seed, 500);
    without += landscape::trials_to_fastest(*evolution(nullptr, seed), seed, 500);
    CHECK(sieve->before_replay > 0);
    CHECK(sieve->after == 0);
    CHECK(sieve->learned > 0);
    CHECK(sieve->blind == 0);
  }
  CHECK(with < without);
}

TEST_CASE("what a sieve lets through does not depend on threads") {
  std::vector<double> curves[2];
  for (const int threads : {1, 2}) {
    const auto s = evolution(std::make_shared<knowing_sieve>(), 4, threads);
    s->start(landscape::tiles(), 4);
    curves[threads - 1] = landscape::curve(*s, 40);
  }
  CHECK(curves[0] == curves[1]);
}
