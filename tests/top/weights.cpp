#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Dense>
#include <tilewright/backend/compile.hpp>

#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace tw;

namespace {

constexpr auto dense =
    kernel<"dense">([](in<"X", float, "M", "K"> X, weight<"W", float, "K", "N"> W,
                       weight<"b", float, "N"> b, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j, axes::k;
      return Y(i, j) = max(sum<k>(X(i, k) * W(k, j)) + b(j), 0.0f);
    });

constexpr auto scale =
    kernel<"scale">([](weight<"a", float> a, in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
      using axes::i;
      return Y(i) = a * X(i);
    });

/// Rows of a fixed table, picked by indices that are a weight.
constexpr auto pick = kernel<"pick">(
    [](in<"X", float, "N"> X, weight<"I", std::int32_t, "M"> I, out<"Y", float, "M"> Y) {
      using axes::i;
      return Y(i) = X(I(i));
    });

using matrix = Eigen::MatrixXf;
using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

tuned_options quick(mode m = mode::now, std::string file = ":memory:") {
  tuned_options o;
  o.seconds = 0.5;
  o.trials = 6;
  o.database = std::move(file);
  o.mode = m;
  return o;
}

row_major expected(const row_major& x, const row_major& w, const Eigen::VectorXf& b) {
  return ((x * w).rowwise() + b.transpose()).cwiseMax(0.0f);
}

float distance(const row_major& a, const row_major& b) { return (a - b).cwiseAbs().maxCoeff(); }

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const argument_error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a bound weight is left out of calls, at every extent of the others") {
  for (const mode m : {mode::now, mode::off, mode::background}) {
    const tuned op{dense, quick(m)};
    const row_major w = row_major::Random(70, 43);
    const Eigen::VectorXf b = Eigen::VectorXf::Random(43);
    const auto half = op.with<"W">(w);
    const auto layer = half.with<"b">(b);
    for (const int rows : {1, 5, 64}) {
      const row_major x = row_major::Random(rows, 70);
      row_major y(rows, 43), z(rows, 43), t(rows, 43);
      layer(x, y);
      half(x, b, z);
      op(x, w, b, t);
      CHECK(distance(y, expected(x, w, b)) < 1e-4f);
      CHECK(distance(z, y) < 1e-4f);
      CHECK(distance(t, y) < 1e-4f);
      layer.wait();
      layer(x, y);
      CHECK(distance(y, expected(x, w, b)) < 1e-4f);
    }
  }
}

TEST_CASE("the op owns what it was given, in any layout") {
  const tuned op{dense, quick(mode::off)};
  const row_major w = row_major::Random(20, 33), x = row_major::Random(9, 20);
  const Eigen::VectorXf b = Eigen::VectorXf::Random(33);
  matrix big = matrix::Random(50, 60);
  big.block(3, 4, 20, 33) = w;
  auto columns = std::make_unique<matrix>(w);
  const auto from_columns = op.with<"W">(*columns).with<"b">(b);
  const auto from_block = op.with<"b">(b).with<"W">(big.block(3, 4, 20, 33));
  columns.reset();
  big.setZero();
  row_major y(9, 33), z(9, 33);
  from_columns(x, y);
  from_block(x, z);
  CHECK(distance(y, expected(x, w, b)) < 1e-4f);
  CHECK(distance(z, expected(x, w, b)) < 1e-4f);
  // two ops of one kernel do not see each other's weights
  const row_major other = row_major::Random(20, 33);
  const auto second = op.with<"W">(other).with<"b">(b);
  second(x, z);
  from_columns(x, y);
  CHECK(distance(z, expected(x, other, b)) < 1e-4f);
  CHECK(distance(y, expected(x, w, b)) < 1e-4f);
}

TEST_CASE("a default schedule packs a bound operand of a product once") {
  const tuned op{dense, quick(mode::off)};
  const row_major w = row_major::Random(64, 96), x = row_major::Random(24, 64);
  const Eigen::VectorXf b = Eigen::VectorXf::Random(96);
  const auto layer = op.with<"W">(w);
  row_major y(24, 96);
  layer(x, b, y);
  const std::string text = layer.report(x, b, y);
  if (backend::compiler_available()) CHECK(text.find("packed once, ") != std::string::npos);
  CHECK(text.find("W:bound") != std::string::npos);
  CHECK(op.report(x, w, b, y).find("packed once") == std::string::npos);
  CHECK(distance(y, expected(x, w, b)) < 1e-4f);
}

TEST_CASE(
    "records of bound and unbound calls are kept apart, and code comes back with its weights") {
  char name[] = "/tmp/tilewright-weights-XXXXXX";
  REQUIRE(mkdtemp(name) != nullptr);
  const std::string file = std::string(name) + "/t.db";
  const row_major w = row_major::Random(48, 64), x = row_major::Random(32, 48);
  const Eigen::VectorXf b = Eigen::VectorXf::Random(64);
  row_major y(32, 64);
  {
    const auto layer = tuned(dense, quick(mode::now, file)).with<"W">(w);
    layer(x, b, y);
    CHECK(distance(y, expected(x, w, b)) < 1e-4f);
  }
  if (backend::compiler_available()) {
    const tuned op{dense, quick(mode::miss_error, file)};
    CHECK(message_of([&] { op(x, w, b, y); }).find("bound") != std::string::npos);
    const row_major other = row_major::Random(48, 64);
    const auto layer = op.with<"W">(other);
    y.setZero();
    layer(x, b, y);
    CHECK(distance(y, expected(x, other, b)) < 1e-4f);
    CHECK(layer.report(x, b, y).find("stored code") != std::string::npos);
  }
  std::error_code ignored;
  std::filesystem::remove_all(name, ignored);
}

TEST_CASE("scalars and indices may be weights") {
  const auto twice = tuned(scale, quick(mode::off)).with<"a">(2.0f);
  const std::vector<float> x{1, 2, 3, 4, 5};
  std::vector<float> y(5), z(3);
  twice(x, y);
  CHECK(y == std::vector<float>{2, 4, 6, 8, 10});
  const std::vector<std::int32_t> at{4, 0, 2}, outside{0, 5, 1};
  const auto some = tuned(pick, quick(mode::off)).with<"I">(at);
  some(x, z);
  CHECK(z == std::vector<float>{5, 1, 3});
  const auto wrong = tuned(pick, quick(mode::off)).with<"I">(outside);
  CHECK(message_of([&] { wrong(x, z); }).find("\"I\"[1] is 5") != std::string::npos);
}

TEST_CASE("mistakes name the weight") {
  const tuned op{dense, quick(mode::off)};
  const row_major w = row_major::Random(7, 5), x = row_major::Random(3, 6);
  const Eigen::VectorXf b = Eigen::VectorXf::Random(5);
  row_major y(3, 5);
  const auto layer = op.with<"W">(w);
  const std::string message = message_of([&] { layer(x, b, y); });
  CHECK(message.find("\"K\"") != std::string::npos);
  CHECK(message.find("\"W\"") != std::string::npos);
  const float* nothing = nullptr;
  CHECK(message_of([&] {
          op.with<"W">(view(nothing, {7, 5}));
        }).find("null pointer") != std::string::npos);
  CHECK(message_of([&] {
          op.with<"W">(view(w.data(), {-7, 5}));
        }).find("extent -7") != std::string::npos);
  // an empty weight makes empty sums
  const row_major no_w(0, 5), no_x(3, 0);
  op.with<"W">(no_w).with<"b">(b)(no_x, y);
  CHECK(distance(y, b.cwiseMax(0.0f).transpose().replicate(3, 1)) == 0.0f);
}

TEST_CASE("any number of threads may call a bound op") {
  const row_major w = row_major::Random(40, 52), x = row_major::Random(16, 40);
  const Eigen::VectorXf b = Eigen::VectorXf::Random(52);
  const auto layer = tuned(dense, quick(mode::background)).with<"W">(w).with<"b">(b);
  const row_major want = expected(x, w, b);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      row_major y(16, 52);
      for (int n = 0; n < 200; ++n) {
        y.setZero();
        layer(x, y);
        wrong += distance(y, want) >= 1e-4f;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("bind takes several weights by their names") {
  const row_major x = row_major::Random(6, 5), w = row_major::Random(5, 7);
  const Eigen::VectorXf b = Eigen::VectorXf::Random(7);
  tuned op{dense, quick(mode::off)};
  const auto layer = bind(op, name_of<"W"> = w, name_of<"b"> = b);
  row_major y(6, 7);
  layer(x, y);
  CHECK(distance(y, expected(x, w, b)) < 1e-5f);
  const auto with_bias = tw::bind(op, name_of<"b"> = view(b.data(), {7}));  // a temporary
  with_bias(x, w, y);
  CHECK(distance(y, expected(x, w, b)) < 1e-5f);
}
