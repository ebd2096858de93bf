// Reductions of other kinds than sums, with as many elements as vectors want.
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ops.hpp>

#include "engines.hpp"

using namespace tilewright;
using namespace test_kernels;

namespace {

using axes::i, axes::j;

template <class T>
constexpr auto online = kernel<"online">([](in<"X", T, "M", "N"> X, out<"peak", T, "M"> peak,
                                            out<"total", T, "M"> total) {
  return tie(peak(i), total(i)) = fold<j>(ops::detail::online_softmax<T>, X(i, j), 1);
});

template <class T>
constexpr auto online_columns = kernel<"online_columns">([](in<"X", T, "M", "N"> X,
                                                            out<"peak", T, "N"> peak,
                                                            out<"total", T, "N"> total) {
  return tie(peak(j), total(j)) = fold<i>(ops::detail::online_softmax<T>, X(i, j), 1);
});

/// Count, mean and sum of squares about it; the combination's text is not symmetric.
constexpr auto moments = reducer(std::tuple{0.0f, 0.0f, 0.0f}, [](auto a, auto b) {
  const auto [n, mean, square] = a;
  const auto [k, other, rest] = b;
  const auto all = n + k;
  const auto step = other - mean;
  const auto share = k / max(all, 1.0f);
  return std::make_tuple(all, mean + step * share, square + rest + step * step * n * share);
});
constexpr auto variance = kernel<"variance">(
    [](in<"X", float, "M", "N"> X, out<"mean", float, "M"> mean, out<"square", float, "M"> square) {
      temp<"count", float, "M"> count;
      return blocks(tie(count(i), mean(i), square(i)) = fold<j>(moments, 1.0f, X(i, j), 0.0f));
    });

/// One part: the probability that any of independent events happens.
constexpr auto either = reducer(0.0f, [](auto a, auto b) { return a + b - a * b; });
constexpr auto chance = kernel<"chance">([](in<"X", float, "M", "N"> X, out<"Y", float, "M"> Y) {
  return Y(i) = fold<j>(either, X(i, j) * X(i, j) * 0.01f);
});

constexpr auto any_above =
    kernel<"any_above">([](in<"X", float, "M", "N"> X, in<"limit", float> limit,
                           out<"Y", bool, "M"> Y) { return Y(i) = any<j>(X(i, j) > limit); });
constexpr auto all_below =
    kernel<"all_below">([](in<"X", float, "M", "N"> X, in<"limit", float> limit,
                           out<"Y", bool, "M"> Y) { return Y(i) = all<j>(X(i, j) < limit); });
constexpr auto any_of = kernel<"any_of">(
    [](in<"X", bool, "M", "N"> X, out<"Y", bool, "M"> Y) { return Y(i) = any<j>(X(i, j)); });

/// `kernel` on every processor whose code this machine runs, against the interpreter.
void check(const any_kernel& kernel, const dim_values& dims, std::vector<void*> data) {
  const ir::function f = reify(kernel, dims);
  const std::vector<bytes_of_param> before = snapshot(f, data);
  std::vector<ir::tensor_view> views;
  for (void* p : data) views.push_back({p, {}});
  ir::interpret(f, views, {});
  const std::vector<bytes_of_param> expected = snapshot(f, data);
  if (!backend::compiler_available()) return;
  std::vector<ir::function> versions{f};
  for (const schedule& s : space::default_cpu().sketches(f, {&target::host(), 2}, 1))
    if (versions.size() < 4) versions.push_back(s.function());
  for (const char* name : {"x86-64", "haswell", "skylake-avx512"}) {
    const target::cpu cpu = target::named(name);
    if (!target::runs_on(cpu, target::host())) continue;
    for (const ir::function& version : versions) {
      for (std::size_t k = 0; k < data.size(); ++k)
        std::memcpy(data[k], before[k].data(), before[k].size());
      run_compiled(version, data, cpu);
      CHECK_MESSAGE(agree(f, expected, snapshot(f, data)), name, "\n", ir::print(version));
    }
  }
}

const std::vector<std::int64_t> lengths{1, 7, 16, 37, 64, 131, 300};

template <class T>
void check_online() {
  for (const std::int64_t n : lengths) {
    std::vector<T> x = numbers<T>(static_cast<std::size_t>(5 * n), 3);
    // what masks leave: nothing to add, however often
    for (std::size_t k = 0; k < x.size(); k += 3) x[k] = -std::numeric_limits<T>::infinity();
    x[0] = T(2);
    std::vector<T> peak(static_cast<std::size_t>(std::max<std::int64_t>(5, n))), total(peak.size());
    check(online<T>, {{"M", 5}, {"N", n}}, {x.data(), peak.data(), total.data()});
    check(online_columns<T>, {{"M", 5}, {"N", n}}, {x.data(), peak.data(), total.data()});
  }
}

}  // namespace

TEST_CASE("folds over pairs: maximum and sum of exponentials") {
  check_online<float>();
  check_online<double>();
}

TEST_CASE("folds over triples whose values are constants in part") {
  for (const std::int64_t n : lengths) {
    std::vector<float> x = numbers(static_cast<std::size_t>(3 * n), 4), mean(3), square(3);
    check(variance, {{"M", 3}, {"N", n}}, {x.data(), mean.data(), square.data()});
  }
}

TEST_CASE("long folds and positions are shared by threads in the default space") {
  constexpr auto peak_at =
      kernel<"peak_at">([](in<"X", double, "M", "N"> X, out<"Y", std::int64_t, "M"> Y) {
        return Y(i) = cast<std::int64_t>(argmax<j>(X(i, j)));
      });
  const std::int64_t n = 20000;
  std::vector<double> x = numbers<double>(static_cast<std::size_t>(n), 3), peak(1), total(1);
  std::vector<std::int64_t> at(1);
  const dim_values dims{{"M", 1}, {"N", n}};
  check(online<double>, dims, {x.data(), peak.data(), total.data()});
  check(peak_at, dims, {x.data(), at.data()});
  const auto shared = [&](const any_kernel& kernel) {
    bool found = false;
    for (const schedule& s :
         space::default_cpu().sketches(reify(kernel, dims), {&target::host(), 2}, 1))
      found = found || s.trace().print().find("rfactor") != std::string::npos;
    return found;
  };
  CHECK(shared(online<double>));
  CHECK(shared(peak_at));
}

TEST_CASE("folds of one value") {
  for (const std::int64_t n : lengths) {
    std::vector<float> x = numbers(static_cast<std::size_t>(3 * n), 5), y(3);
    check(chance, {{"M", 3}, {"N", n}}, {x.data(), y.data()});
  }
}

TEST_CASE("any and all, where one element alone decides") {
  for (const std::int64_t n : lengths)
    for (const std::int64_t at : {std::int64_t{-1}, std::int64_t{0}, n / 2, n - 1}) {
      std::vector<float> x(static_cast<std::size_t>(2 * n), 0.5f);
      std::vector<std::uint8_t> flags(x.size()), y(2);
      if (at >= 0) x[static_cast<std::size_t>(n + at)] = 2, flags[static_cast<std::size_t>(at)] = 1;
      float limit = 1;
      const dim_values dims{{"M", 2}, {"N", n}};
      check(any_above, dims, {x.data(), &limit, y.data()});
      check(all_below, dims, {x.data(), &limit, y.data()});
      check(any_of, dims, {flags.data(), y.data()});
    }
}

TEST_CASE("a fold's block keeps its reducer as text") {
  const ir::function f = reify(variance, {{"M", 3}, {"N", 8}});
  const auto& notes = blocks_of(f)[0]->annotations;
  REQUIRE(notes.count(ir::reducer_note));
  const auto r = ir::parse_reducer(std::get<std::string>(notes.at(ir::reducer_note).value));
  REQUIRE(r);
  CHECK(r->identity.size() == 3);
}
