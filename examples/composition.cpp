// Figure 5 of the MetaSchedule paper: modules composed into a space. Each block meets each module,
// and what becomes of it is drawn; the draws stand in the trace, with their probabilities.
#include <tilewright/tilewright.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace tw;

namespace {

constexpr auto normalize =
    kernel<"normalize">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      temp<"square", float, "M", "N"> square;
      temp<"length", float, "M"> length;
      return blocks(square(i, j) = X(i, j) * X(i, j), length(i) = sum<j>(square(i, j)),
                    Y(i, j) = X(i, j) / sqrt(length(i)));
    });

void inline_block(schedule& s, block_rv b) { s.compute_inline(b); }

void compute_with_consumer(schedule& s, block_rv b) {
  const std::vector<block_rv> consumers = s.get_consumers(b);
  if (!consumers.empty()) s.compute_at(b, s.get_loops(consumers[0]).at(0));
}

void use_vectors(schedule& s, block_rv b) {
  const loop_rv inner = s.get_loops(b).back();
  s.vectorize(s.split(inner, {infer, s.sample_categorical({8, 16, 32}, {1, 1, 1})})[1]);
}

void use_threads(schedule& s, block_rv b) { s.parallel(s.get_loops(b).at(0)); }

using namespace tw::space;
const design_space composed = post_order(sample(weighted(2, attempt(module(inline_block))) |
                                                attempt(module(compute_with_consumer)) | skip)) >>
                              post_order(sometimes(0.75, attempt(module(use_vectors)))) >>
                              on<"Y">(attempt(module(use_threads)));

/// The same modules as expressions of primitives.
constexpr variable<"users"> users;
constexpr variable<"loops"> loops;
constexpr variable<"lanes"> lanes;
constexpr variable<"halves"> halves;

const auto computed_with_consumer = steps(
    let<users> = get_consumers<here>, let<loops> = get_loops<users[0]>, compute_at<here, loops[0]>);
const auto in_vectors =
    steps(let<loops> = get_loops<here>, let<lanes> = sample_categorical<8, 16, 32>,
          let<halves> = split<loops[-1], infer, lanes>, vectorize<halves[1]>);
const auto in_threads = steps(let<loops> = get_loops<here>, parallel<loops[0]>);

const design_space of_primitives =
    post_order(sample(weighted(2, attempt(compute_inline<here>)) | attempt(computed_with_consumer) |
                      skip)) >>
    post_order(sometimes(0.75, attempt(in_vectors))) >> on<"Y">(attempt(in_threads));

/// Whether both spaces have the same sketches; an attempt that fails leaves nothing in the trace of
/// an expression, a function may have looked around.
bool same(const std::vector<schedule>& a, const std::vector<schedule>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.trace().simplified() == y.trace().simplified();
  });
}

}  // namespace

int main() {
  const ir::function f = reify(normalize, {{"M", 64}, {"N", 96}});
  const auto sketches = composed.sketches(f, {&target::host(), 2}, 1);
  if (!same(sketches, of_primitives.sketches(f, {&target::host(), 2}, 1))) {
    std::printf("the expression of primitives makes other sketches\n");
    return 1;
  }
  std::printf("%zu sketches; the likeliest:\n%s\nits trace:\n%s\n", sketches.size(),
              sketches[0].show().c_str(), sketches[0].trace().print().c_str());
  for (std::size_t n = 0; n < sketches.size() && n < 8; ++n)
    std::printf("sketch %zu: %2zu instructions, P = %.4f\n", n, sketches[n].trace().size(),
                std::exp(sketches[n].trace().log_probability(schedule(f))));

  tuned op{normalize, {.seconds = 1, .trials = 24, .database = ":memory:", .space = composed}};
  std::vector<float> x(64 * 96, 2.0f), y(x.size());
  op(view(x.data(), {64, 96}), view(y.data(), {64, 96}));
  std::printf("\n%s", op.report(view(x.data(), {64, 96}), view(y.data(), {64, 96})).c_str());
  return std::abs(y[0] - 1 / std::sqrt(96.0f)) < 1e-5f ? 0 : 1;
}
