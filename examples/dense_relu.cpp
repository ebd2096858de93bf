// Figures 2 and 3 of the MetaSchedule paper: Dense-ReLU, and the space of its schedules as a
// probabilistic program of seven lines. Each run of it draws one schedule. The program is written
// twice, as a function on a schedule and as an expression, and both draw the same.
#include <tilewright/tilewright.hpp>

#include <cmath>
#include <iostream>

using namespace tw;

namespace {

constexpr auto dense_relu = kernel<"dense_relu">(
    [](in<"X", float, "M", "K"> X, in<"W", float, "K", "N"> W, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j, axes::k;
      temp<"dense", float, "M", "N"> dense;
      return blocks(dense(i, j) = sum<k>(X(i, k) * W(k, j)), Y(i, j) = max(dense(i, j), 0.0f));
    });

void dense_relu_space(schedule& s) {
  const block_rv dense = s.get_block("dense"), relu = s.get_block("Y");
  const auto [i, j] = s.loops<2>(relu);
  const auto ti = s.split(i, s.sample_perfect_tile(i, 2));
  const auto tj = s.split(j, s.sample_perfect_tile(j, 2));
  s.reorder(ti[0], tj[0], ti[1], tj[1]);
  s.vectorize(tj[1]);
  s.compute_at(dense, s.sample_compute_location(dense));
}

/// The same as an expression: what steps make has names, which the compiler checks.
namespace expression {

using namespace tw::space;
constexpr variable<"dense"> dense;
constexpr variable<"relu"> relu;
constexpr variable<"i"> i;
constexpr variable<"j"> j;
constexpr variable<"rows"> rows;
constexpr variable<"columns"> columns;
constexpr variable<"ti"> ti;
constexpr variable<"tj"> tj;
constexpr variable<"place"> place;

const design_space dense_relu_space =
    steps(let<dense> = get_block<"dense">, let<relu> = get_block<"Y">, let<i, j> = get_loops<relu>,
          let<rows> = sample_perfect_tile<i, 2>, let<ti> = split<i, rows>,
          let<columns> = sample_perfect_tile<j, 2>, let<tj> = split<j, columns>,
          reorder<ti[0], tj[0], ti[1], tj[1]>, vectorize<tj[1]>,
          let<place> = sample_compute_location<dense>, compute_at<dense, place>);

}  // namespace expression
}  // namespace

int main() {
  const ir::function e0 = reify(dense_relu, {{"M", 128}, {"N", 128}, {"K", 128}});
  std::cout << "--- e0, the program as written\n" << schedule(e0).show();
  for (const std::uint64_t run : {1, 2}) {
    schedule s(e0, run);
    dense_relu_space(s);
    const double p = std::exp(s.trace().log_probability(schedule(e0)));
    std::cout << "\n--- run " << run << ", drawn with probability " << p << "\n" << s.show();
    const auto drawn = expression::dense_relu_space.sketches(e0, {&target::host(), 1}, run);
    if (drawn.at(0).trace().without_decisions() != s.trace().without_decisions()) {
      std::cout << "\nthe expression does something else:\n" << drawn[0].trace().print();
      return 1;
    }
  }
}
