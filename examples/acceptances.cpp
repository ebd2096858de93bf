// Figure 7 of the MetaSchedule paper: search as a walk over traces. A step changes one decision,
// validates the result by replaying it, and is accepted as Metropolis and Hastings do, for the
// distribution P(trace) * exp(score / T).
#include <tilewright/search/database/transfer.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/tilewright.hpp>

#include <cmath>
#include <cstdio>

using namespace tw;

namespace {

constexpr auto matmul = kernel<"matmul">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

/// What the cost model that comes with the library makes of a schedule; larger is better.
double score(const search::candidate& c) { return search::estimated_scores({c}).front(); }

}  // namespace

int main() {
  const ir::function f = reify(matmul, {{"M", 128}, {"N", 128}, {"K", 128}});
  const auto sketches = space::default_cpu().sketches(f, {&target::host(), 1}, 1);
  support::random draws(7);
  search::candidate at = *search::replay(sketches.back().trace().without_decisions(), f, 1);
  double here = score(at), temperature = 0.5;
  std::printf("start              score %6.3f\n", here);
  int accepted = 0, invalid = 0;
  for (int step = 1; step <= 24; ++step, temperature *= 0.95) {
    const auto proposed = search::mutate_by(search::mutators(), at.scheduled.trace(), f, draws);
    const auto next = proposed ? search::replay(*proposed, f, draws.next()) : std::nullopt;
    if (!next) {
      ++invalid;
      std::printf("step %2d            a primitive refuses\n", step);
      continue;
    }
    const double there = score(*next);
    const double prior = next->log_prior - at.log_prior;
    const double p = std::min(1.0, std::exp((there - here) / temperature + prior));
    const bool moves = draws.unit() < p;
    std::printf("step %2d  p = %4.2f  score %6.3f -> %6.3f  %s\n", step, p, here, there,
                moves ? "accepted" : "rejected");
    if (!moves) continue;
    at = *next;
    here = there;
    ++accepted;
  }
  std::printf("%d accepted, %d invalid; where it ended:\n%s", accepted, invalid,
              at.scheduled.trace().print().c_str());
  return accepted > 0 ? 0 : 1;
}
