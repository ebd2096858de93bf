#include <tilewright/dispatch/tune_together.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/search/database/database.hpp>

#include "top/product.hpp"

using namespace tilewright;
using namespace products;
using dispatch::together_options;

namespace {

constexpr auto doubled = kernel<"doubled">([](in<"A", float, "M"> A, out<"B", float, "M"> B) {
  using axes::i;
  return B(i) = A(i) * 2.0f;
});

together_options few(int trials) {
  together_options out;
  out.seconds = 60;  // the trials end it, on a busy machine too
  out.trials = trials;
  return out;
}

std::string report_of(const auto& op, problem& p) { return op.report(p.a, p.b, p.c); }

constexpr auto halved = kernel<"halved">([](in<"A", float, 96> A, out<"B", float, 96> B) {
  using axes::i;
  return B(i) = A(i) * 0.5f;
});
constexpr auto sums = kernel<"sums">([](in<"A", float, 12, 40> A, out<"B", float, 12> B) {
  using axes::i, axes::k;
  return B(i) = sum<k>(A(i, k));
});

}  // namespace

TEST_CASE("tune together: each kernel is tuned, results come in the order of the requests") {
  problem small(32, 24, 16), large(96, 64, 80);
  const tuned one{product, quick()}, other{product, quick()};
  std::vector<std::string> told;
  together_options o = few(8);
  o.events = [&](const std::string& kernel, const search::tuning_result&) {
    told.push_back(kernel);
  };
  const auto results =
      tune_together({one.at(small.a, small.b, small.c), other.at(large.a, large.b, large.c)}, o);
  REQUIRE(results.size() == 2);
  int trials = 0, slices = 0;
  for (const search::task_result& r : results) {
    CHECK(r.trials > 0);
    CHECK(r.last.best > 0);
    CHECK(r.last.best <= r.last.baseline * 1.5);
    trials += r.trials;
    slices += r.slices;
  }
  CHECK(trials <= 8);
  CHECK(results[0].last.best < results[1].last.best);  // 40 times the work
  CHECK(static_cast<int>(told.size()) == slices);
  for (const std::string& name : told) CHECK(name == "product");
  CHECK(small.right(one));
  CHECK(large.right(other));
  CHECK(report_of(one, small).find("fallback") == std::string::npos);
}

TEST_CASE("tune together: an op that has run before runs what was found from then on") {
  problem p;
  const tuned op{product, quick(":memory:", mode::off)};
  CHECK(p.right(op));
  CHECK(report_of(op, p).find("fallback") != std::string::npos);
  tune_together({op.at(p.a, p.b, p.c)}, few(4));
  CHECK(p.right(op));
  CHECK(report_of(op, p).find("fallback") == std::string::npos);
}

TEST_CASE("tune together: extents need no data, and one op may come at several of them") {
  const folder f;
  const tuned op{product, quick(f.file())};
  const auto results = tune_together({op.at_extents({{"M", 24}, {"N", 16}, {"K", 8}}),
                                      op.at_extents({{"M", 40}, {"N", 16}, {"K", 8}})},
                                     few(6));
  CHECK(results.size() == 2);
  const tuned later{product, quick(f.file(), mode::miss_error)};  // another op, the same records
  using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (const int m : {24, 40}) {
    const row_major a = row_major::Random(m, 8), b = row_major::Random(8, 16);
    row_major c(m, 16);
    later(a, b, c);
    CHECK((c - a * b).cwiseAbs().maxCoeff() < 1e-4f);
  }
}

TEST_CASE("tune together: ops of static extents stand for themselves") {
  const tuned op1{halved, quick()};
  const tuned op2{sums, quick()};
  const auto results = tune_together({op1, op2}, {.seconds = 60, .trials = 6});
  REQUIRE(results.size() == 2);
  for (const search::task_result& r : results) {
    CHECK(r.slices >= 1);
    CHECK(r.last.best > 0);
  }
  CHECK(results[0].trials + results[1].trials > 0);
  const std::vector<float> a(12 * 40, 3.0f);
  std::vector<float> half(96), total(12);
  op1(view(a.data(), {96}), view(half.data(), {96}));
  op2(view(a.data(), {12, 40}), view(total.data(), {12}));
  CHECK(half[95] == 1.5f);
  CHECK(total[11] == 120.0f);
}

TEST_CASE("tune together: a kernel that runs more often gets more of the budget") {
  problem rare, often;
  const tuned one{product, quick()}, other{product, quick()};
  const auto results = tune_together(
      {one.at(rare.a, rare.b, rare.c), other.at(often.a, often.b, often.c).weighted(1000)},
      few(24));
  CHECK(results[1].trials > results[0].trials);
}

TEST_CASE("tune together: kernels of different kinds, by round robin") {
  problem p;
  const std::vector<float> a(1000, 3.0f);
  std::vector<float> b(1000);
  const tuned op{product, quick()};
  const tuned twice{doubled, quick()};
  together_options o = few(8);
  o.order = search::task_order::round_robin;
  const auto results = tune_together({op.at(p.a, p.b, p.c), twice.at(a, b)}, o);
  CHECK(results[0].slices >= 1);
  CHECK(results[1].slices >= 1);
  twice(a, b);
  CHECK(b[999] == 6.0f);
}

TEST_CASE("tune together: what is cancelled ends, and calls still run") {
  problem p;
  const tuned op{product, quick()};
  const std::atomic<bool> cancelled{true};
  together_options o = few(1000);
  o.cancelled = &cancelled;
  const auto results = tune_together({op.at(p.a, p.b, p.c)}, o);
  REQUIRE(results.size() == 1);
  CHECK(results[0].trials == 0);
  CHECK(p.right(op));
}

TEST_CASE("tune together: nothing to tune is no error") {
  CHECK(tune_together({}, few(4)).empty());
}

TEST_CASE("tune together: requests that make no sense are refused before anything is tuned") {
  problem p;
  const auto held = std::make_shared<search::database>(":memory:");
  tuned_options o = quick();
  o.own_database = held;
  const tuned op{product, o};
  const auto good = op.at(p.a, p.b, p.c);
  using std::numeric_limits;
  for (const double weight :
       {0.0, -1.0, numeric_limits<double>::quiet_NaN(), numeric_limits<double>::infinity()})
    CHECK_THROWS_WITH_AS(tune_together({good, good.weighted(weight)}, few(4)),
                         doctest::Contains("weights have to be"), argument_error);
  CHECK_THROWS_WITH_AS(tune_together({good, dispatch::tuning_request()}, few(4)),
                       doctest::Contains("a tuning_request needs a kernel: op.at(arguments)"),
                       argument_error);
  CHECK_THROWS_WITH_AS(tune_together({good, op.at_extents({{"M", 24}, {"N", 16}})}, few(4)),
                       doctest::Contains("K"), argument_error);
  CHECK(held->all().empty());
}
