// A choice among formats begins with what the database has for compressed rows alone.
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <memory>
#include <string>
#include <vector>

#include "sparse_frames.hpp"

using namespace tw;
using namespace sparse_frames;
using axes::i, axes::k;

TEST_CASE("what was found for compressed rows is measured before what a choice finds itself") {
  constexpr auto row_sums =
      kernel<"row_sums">([](in<"A", float, "M", compressed<"K">> A, in<"x", float, "K"> x,
                            out<"y", float, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
  const sparse_rows a = random_rows(600, 80, 4, 3);
  const Eigen::VectorXf x = Eigen::VectorXf::Random(a.cols());
  Eigen::VectorXf y(a.rows());
  tuned_options o = short_tuning(mode::now);
  o.seconds = 60;  // the trials are the budget
  o.own_database = std::make_shared<search::database>(":memory:");
  tuned_options rows = o;
  rows.space = space::design_space([](schedule& s, const space::context&) {
    s.split(s.get_loops(s.get_block("y_o"))[0], {infer, 7});
  });
  tuned(row_sums, rows)(a, x, y);

  o.calls = 1e9;
  o.matrices_change = false;
  std::vector<std::string> measured;
  o.callbacks.after_run = [&](const search::candidate& c, const search::built&,
                              const search::measurement&) {
    measured.push_back(c.scheduled.trace().print());
    return search::verdict::go_on;
  };
  const tuned choice(row_sums, o);
  const std::string text = choice.report(a, x, y);
  CAPTURE(text);
  REQUIRE(measured.size() > 1);
  CAPTURE(measured.front());
  CHECK(measured.front().find("factors=[None, 7]") != std::string::npos);
  CHECK(search::algorithm_of(trace::parse(measured[1])).find("_in_sell") != std::string::npos);
  choice(a, x, y);
  CHECK(y.isApprox(a * x, 1e-4f));
}
