#include <tilewright/schedule/sampling.hpp>

#include <map>

#include <tilewright/schedule/primitive/query.hpp>

#include "check_schedule.hpp"
#include "programs.hpp"

using namespace tilewright;

namespace {

std::int64_t product(const decision& factors) {
  std::int64_t out = 1;
  for (const std::int64_t f : factors) out *= f;
  return out;
}

struct one_loop {
  explicit one_loop(const ir::expr& extent) : f(programs::elementwise({"i"}, {extent})) {
    loop = ir::as_loop(ir::root_block(f)->body)->var;
  }
  ir::function f;
  ir::var loop;
};

}  // namespace

TEST_CASE("sample_perfect_tile: exact products within the limit") {
  support::random r(1);
  for (const int extent : {1, 2, 12, 64, 257, 1470, 4096, 65537, 720720}) {
    const one_loop p(extent);
    for (int round = 0; round < 50; ++round)
      for (const int n : {1, 2, 4, 7}) {
        const decision d = primitive::sample_perfect_tile(r, p.f, p.loop, n, 16);
        REQUIRE(d.size() == static_cast<std::size_t>(n));
        CHECK(product(d) == extent);
        if (n > 1) CHECK(d.back() <= 16);
      }
  }
}

TEST_CASE("sample_perfect_tile: every factorization is as likely as any other") {
  const one_loop p(24);  // into 3 factors, the last at most 6: 26 ways
  std::map<decision, int> counts;
  support::random r(2);
  const int rounds = 26000;
  for (int i = 0; i < rounds; ++i) ++counts[primitive::sample_perfect_tile(r, p.f, p.loop, 3, 6)];
  int expected = 0;
  for (int c = 1; c <= 6; ++c)
    for (int b = 1; b <= 24; ++b) expected += 24 % c == 0 && 24 / c % b == 0;
  CHECK(static_cast<int>(counts.size()) == expected);
  for (const auto& [d, count] : counts) {
    CHECK(count > rounds / expected * 8 / 10);  // a standard deviation is 3 %
    CHECK(count < rounds / expected * 12 / 10);
  }
}

TEST_CASE("sample_perfect_tile: no limit, and a large prime") {
  support::random r(3);
  const one_loop p(1009);
  bool seen_whole = false;
  for (int i = 0; i < 50; ++i)
    seen_whole = seen_whole || primitive::sample_perfect_tile(r, p.f, p.loop, 2, -1).back() == 1009;
  CHECK(seen_whole);
  CHECK(primitive::sample_perfect_tile(r, p.f, p.loop, 2, 64) == decision{1009, 1});
}

TEST_CASE("sample_perfect_tile: a stale decision is repaired, never beyond the limit") {
  support::random r(4);
  const auto repaired = [&](int extent, int limit, const decision& d) {
    const one_loop p(extent);
    return primitive::sample_perfect_tile(r, p.f, p.loop, static_cast<int>(d.size()), limit, d);
  };
  CHECK(repaired(128, 16, {8, 16}) == decision{8, 16});
  CHECK(repaired(96, 16, {8, 16}) == decision{6, 16});
  CHECK(repaired(100, 16, {8, 16}) == decision{10, 10});
  CHECK(repaired(127, 16, {8, 16}) == decision{127, 1});
  CHECK(repaired(128, 8, {8, 16}) == decision{16, 8});
  CHECK(repaired(64, 16, {2, 5, 4}) == decision{1, 16, 4});
  CHECK(repaired(64, 16, {2, 0, -4}) == decision{1, 4, 16});
  CHECK(repaired(6, 16, {4, 4, 4}) == decision{1, 1, 6});
}

TEST_CASE("sample_perfect_tile: symbolic extent and wrong arguments") {
  support::random r(5);
  const one_loop p(ir::make_var("N"));
  CHECK(primitive::sample_perfect_tile(r, p.f, p.loop, 3, 16) == decision{-1, 1, 1});
  CHECK_THROWS_AS(primitive::sample_perfect_tile(r, p.f, p.loop, 0, 16), argument_error);
  CHECK_THROWS_AS(primitive::sample_perfect_tile(r, p.f, p.loop, 11, 16), argument_error);
  CHECK_THROWS_AS(primitive::sample_perfect_tile(r, p.f, p.loop, 2, 0), argument_error);
  CHECK_THROWS_AS(primitive::sample_perfect_tile(r, p.f, p.loop, 2, 16, {1, 2, 3}), argument_error);
  CHECK_THROWS_AS(primitive::sample_perfect_tile(r, p.f, ir::make_var("i"), 2, 16), schedule_error);
}

TEST_CASE("sample_perfect_tile of a symbolic loop can be split with") {
  const ir::function f = programs::elementwise({"i"}, {ir::make_var("N")});
  schedule s(f);
  const auto [i] = s.loops<1>(s.block("B"));
  const std::vector<expr_rv> t = s.sample_perfect_tile(i, 2);
  CHECK_THROWS_AS(s.get(t[0]), argument_error);
  CHECK(s.get(t[1]) == 1);
  CHECK_THROWS_AS(s.split(i, {t[0] * 2, t[1]}), argument_error);
  s.split(i, t);
  check_meaning(s, f, {{"N", 5}});
}

TEST_CASE("sample_tile: sizes cover the extent and leave no outer iteration empty") {
  support::random r(6);
  for (const int extent : {1, 5, 6, 127, 131, 512, 1000}) {
    const one_loop p(extent);
    bool seen_6 = false;
    for (int round = 0; round < 200; ++round)
      for (const int n : {2, 3, 4}) {
        const decision d = primitive::sample_tile(r, p.f, p.loop, n, {6, 8});
        REQUIRE(d.size() == static_cast<std::size_t>(n));
        const std::int64_t inner = product(d) / d[0];
        CHECK(product(d) >= extent);
        CHECK((d[0] - 1) * inner < extent);
        CHECK((d.back() == 6 || d.back() == 8 || d.back() == extent));
        seen_6 = seen_6 || d.back() == 6;
      }
    if (extent >= 6) CHECK(seen_6);
  }
}

TEST_CASE("sample_tile: a stale decision is clamped") {
  support::random r(7);
  const auto clamped = [&](int extent, const decision& d) {
    const one_loop p(extent);
    return primitive::sample_tile(r, p.f, p.loop, static_cast<int>(d.size()), {4, 8}, d);
  };
  CHECK(clamped(127, {8, 2, 8}) == decision{8, 2, 8});
  CHECK(clamped(64, {8, 2, 8}) == decision{4, 2, 8});
  CHECK(clamped(8, {8, 2, 8}) == decision{1, 1, 8});
  CHECK(clamped(5, {-1, 4, 8}) == decision{1, 1, 5});
  const one_loop symbolic(ir::make_var("N"));
  CHECK(primitive::sample_tile(r, symbolic.f, symbolic.loop, 3, {4, 8}) == decision{-1, 1, 4});
  CHECK_THROWS_AS(clamped(8, {1, 0, 4}), argument_error);
  CHECK_THROWS_AS(clamped(8, {8}), argument_error);
  const one_loop p(8);
  CHECK_THROWS_AS(primitive::sample_tile(r, p.f, p.loop, 2, {}), argument_error);
  CHECK_THROWS_AS(primitive::sample_tile(r, p.f, p.loop, 2, {4, 0}), argument_error);
}

TEST_CASE("sample_categorical: by weight, with checked arguments") {
  support::random r(8);
  std::map<std::int64_t, int> counts;
  for (int i = 0; i < 10000; ++i)
    ++counts[primitive::sample_categorical(r, {10, 20, 30}, {1, 0, 3})];
  CHECK(counts[1] == 0);
  CHECK(counts[0] > 2250);
  CHECK(counts[0] < 2750);
  CHECK(primitive::sample_categorical(r, {10, 20}, {1, 1}, {1}) == 1);
  CHECK_THROWS_AS(primitive::sample_categorical(r, {10, 20}, {1, 1}, {2}), argument_error);
  CHECK_THROWS_AS(primitive::sample_categorical(r, {10, 20}, {1, 1}, {-1}), argument_error);
  CHECK_THROWS_AS(primitive::sample_categorical(r, {10, 20}, {1}), argument_error);
  CHECK_THROWS_AS(primitive::sample_categorical(r, {}, {}), argument_error);
  CHECK_THROWS_AS(primitive::sample_categorical(r, {1}, {0}), argument_error);
  CHECK_THROWS_AS(primitive::sample_categorical(r, {1, 2}, {2, -1}), argument_error);
}

TEST_CASE("copies of a schedule draw different numbers; equal seeds draw equal ones") {
  const ir::function f = programs::elementwise({"i"}, {4096});
  schedule s(f, 3);
  const auto [i] = s.loops<1>(s.block("B"));
  schedule t = s.copy();
  int same = 0;
  for (int n = 0; n < 20; ++n)
    same += s.sample_perfect_tile(i, 4, 64) == t.sample_perfect_tile(i, 4, 64) &&
            s.trace().steps().back().choice == t.trace().steps().back().choice;
  CHECK(same < 5);
  schedule a(f, 9), b(f, 9);
  const loop_rv ia = a.get_loops(a.block("B"))[0];
  b.get_loops(b.block("B"));
  for (int n = 0; n < 20; ++n) {
    a.sample_perfect_tile(ia, 4, 64);
    b.sample_perfect_tile(ia, 4, 64);
  }
  CHECK(a.trace() == b.trace());
}

TEST_CASE("a wrong decision changes nothing, the random stream included") {
  const ir::function f = programs::elementwise({"i"}, {64});
  schedule s(f);
  const schedule before = s;
  CHECK_THROWS_AS(s.sample_categorical({1, 2}, {1, 1}, 5), argument_error);
  CHECK(s.trace() == before.trace());
  CHECK(s.state().random == before.state().random);
  CHECK(s.state().symbols.empty());
}

namespace {

std::vector<std::int64_t> places(const schedule& s, const char* name) {
  std::vector<std::int64_t> out;
  const std::uint64_t id = primitive::get_block(s.function(), name);
  for (const auto& where : primitive::compute_locations(s.function(), id))
    out.push_back(where.index);
  return out;
}
using indices = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("compute_locations: inline, root, and the loops of the consumer") {
  const ir::function f = programs::two_stages(12);
  schedule s(f);
  CHECK(places(s, "B") == indices{-2, -1, 0});
  CHECK(places(s, "C") == indices{-1});  // an output block
  const auto [i] = s.loops<1>(s.block("C"));
  s.split(i, {infer, 1, 4});
  CHECK(places(s, "B") == indices{-2, -1, 0, 2});  // the unit loop is left out
  const ir::function g = programs::matmul_relu(4, 6, 8);
  CHECK(places(schedule(g), "C") == indices{-1, 0, 1});
}

TEST_CASE("sample_compute_location: drawn, and every place can be used") {
  const ir::function f = programs::two_stages(12);
  std::map<std::int64_t, int> counts;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    schedule s(f, seed);
    const block_rv b = s.block("B");
    const loop_rv where = s.sample_compute_location(b);
    s.compute_at(b, where, true);
    ++counts[s.trace()[1].choice.at(0)];
    check_meaning(s, f);
  }
  CHECK(counts.size() == 3);
}

TEST_CASE("sample_compute_location: a stale decision takes the largest legal place below it") {
  const ir::function f = programs::two_stages(12);
  const auto chosen = [&](std::int64_t given) {
    schedule s(f);
    s.sample_compute_location(s.block("B"), given);
    return s.trace()[1].choice.at(0);
  };
  CHECK(chosen(5) == 0);
  CHECK(chosen(0) == 0);
  CHECK(chosen(-1) == -1);
  CHECK(chosen(-2) == -2);
  schedule s(f);
  const block_rv c = s.block("C");
  const loop_rv root = s.sample_compute_location(c, -2);  // inlining an output is not legal
  CHECK(s.trace()[1].choice == decision{-1});
  CHECK_THROWS_AS(s.get(root), schedule_error);
  check_refusal(s, "split", 0, [&] { s.split(root, {infer, 2}); });
}

TEST_CASE("sample_partitioned_tile: uniform over the factorizations whose inner part fits") {
  const ir::function f = programs::elementwise({"i"}, {24});
  schedule s(f);
  const ir::var loop = s.get(s.get_loops(s.block("B"))[0]).var;
  support::random r(7);
  std::map<decision, int> counts;
  const int draws = 6000;
  for (int n = 0; n < draws; ++n) {
    const decision d = primitive::sample_partitioned_tile(r, f, loop, 3, 1, 4);
    CHECK(d[0] * d[1] * d[2] == 24);
    CHECK(d[1] * d[2] % 4 == 0);
    ++counts[d];
  }
  std::size_t expected = 0;
  for (std::int64_t a = 1; a <= 24; ++a)
    for (std::int64_t b = 1; b <= 24; ++b)
      if (24 % (a * b) == 0 && 24 / a % 4 == 0) ++expected;
  CHECK(counts.size() == expected);
  for (const auto& [d, count] : counts)
    CHECK(std::abs(count - draws / static_cast<int>(expected)) < draws / 20);
}

TEST_CASE("sample_partitioned_tile: repairs and what cannot be partitioned") {
  const ir::function f = programs::elementwise({"i"}, {24});
  schedule s(f);
  const ir::var loop = s.get(s.get_loops(s.block("B"))[0]).var;
  support::random r(7);
  const auto given = [&](int at, int factor, const decision& d) {
    return primitive::sample_partitioned_tile(r, f, loop, 3, at, factor, d);
  };
  CHECK(given(1, 4, {3, 4, 2}) == decision{3, 4, 2});
  CHECK(given(1, 4, {12, 2, 1}) == decision{6, 4, 1});
  CHECK(given(2, 4, {6, 2, 2}) == decision{6, 1, 4});
  CHECK(given(1, 5, {}) == decision{-1, 1, 1});
  CHECK(given(0, 4, {3, 5, 8}) == decision{1, 3, 8});
  CHECK_THROWS_AS(given(3, 2, {}), argument_error);
  CHECK_THROWS_AS(given(1, 0, {}), argument_error);
}
