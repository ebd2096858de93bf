// The options of tuned_options::measuring, as a call sees them.
#include <tilewright/tuned.hpp>

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/search/session.hpp>

using namespace tilewright;

namespace {

constexpr auto add_scaled = kernel<"add_scaled">(
    [](in<"X", float, "M", "N"> X, in<"s", float> s, inout<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      return Y(i, j) = Y(i, j) + s * X(i, j);
    });

using matrix = Eigen::MatrixXf;

tuned_options quick() {
  tuned_options o;
  o.seconds = 30;
  o.trials = 3;
  o.database = ":memory:";
  return o;
}

/// The workload that a session sees when `op` is called.
template <class... Args>
search::workload seen_by_session(tuned_options o, Args&&... args) {
  search::workload out;
  o.measuring.runner = [&](const search::workload& w) -> search::measurer {
    out = w;
    return [](const search::built&, const search::measure_options&) {
      search::measurement m;
      m.seconds = {1};
      return m;
    };
  };
  tuned{add_scaled, o}(args...);
  return out;
}

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace

TEST_CASE("each state of the caches has records of its own") {
  for (const auto& [where, text] :
       {std::pair{search::caches::warm, "Y:d10,"}, std::pair{search::caches::cold, "Y:d10 cold,"},
        std::pair{search::caches::rotating, "Y:d10 rotating,"}}) {
    tuned_options o = quick();
    o.measuring.where = where;
    const tuned op{add_scaled, o};
    const matrix x = matrix::Constant(24, 40, 2);
    matrix y = matrix::Ones(24, 40);
    op(x, 3.0f, y);
    CHECK(y == matrix::Constant(24, 40, 7));
    const std::string report = op.report(x, 3.0f, y);
    CHECK(report.find("tuned by this process") != std::string::npos);
    CHECK(report.find(text) != std::string::npos);
  }
}

TEST_CASE("candidates compute with copies of the arguments where that is wanted") {
  matrix x(3, 2), y = matrix::Constant(3, 2, 5);
  x << 1, 2, 3, 4, 5, 6;
  CHECK(seen_by_session(quick(), x, 3.0f, y).given.empty());
  tuned_options o = quick();
  o.measuring.data = search::timing_data::copied;
  const search::workload dense = seen_by_session(o, x, 3.0f, y);
  REQUIRE(dense.given.size() == 3);
  // in the order of memory, as the function that is tuned sees a column-major argument
  CHECK(floats(dense.given[0]) == std::vector<float>{1, 3, 5, 2, 4, 6});
  CHECK(floats(dense.given[1]) == std::vector<float>{3});
  CHECK(floats(dense.given[2]).front() == 8);  // the call before has changed it

  matrix big(7, 5);
  big.setZero();
  big.block(1, 1, 3, 2) = x;
  const auto part = big.block(1, 1, 3, 2);
  const search::workload strided = seen_by_session(o, part, 3.0f, y);
  // by rows, and the layout says where they lie
  CHECK(floats(strided.given[0]) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(strided.layouts[0].strides == std::vector<std::int64_t>{1, 7});
}
