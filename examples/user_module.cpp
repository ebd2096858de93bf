// A module of one's own, in one file: unroll and jam. A few neighbouring rows of a reduction are
// computed together, so that what they share is loaded once; the library knows nothing of it.
#include <tilewright/tilewright.hpp>

#include <cmath>
#include <iostream>
#include <vector>

using namespace tw;

namespace {

constexpr auto pairwise = kernel<"pairwise">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"D", float, "M", "N"> D) {
      using axes::i, axes::j, axes::k;
      return D(i, j) = sum<k>((A(i, k) - B(k, j)) * (A(i, k) - B(k, j)));
    });

/// Applies to reductions over two spatial loops and one reduction loop; draws the number of rows.
void unroll_and_jam(schedule& s, block_rv block) {
  if (!s.get(block).block->init || s.get_loops(block).size() != 3) return;
  const auto [i, j, k] = s.loops<3>(block);
  const auto rows = s.sample_categorical({2, 4, 6, 8}, {1, 2, 2, 1});
  const auto lanes = s.sample_categorical({8, 16}, {1, 1});
  const auto [i0, i1] = s.split(i, {infer, rows});
  const auto [j0, j1] = s.split(j, {infer, lanes});
  s.reorder(i0, j0, k, i1, j1);
  s.unroll(i1);
  s.vectorize(j1);
  s.decompose_reduction(block, k);
}

using namespace tw::space;
const design_space mine = post_order(module(unroll_and_jam)) | default_cpu();

}  // namespace

int main() {
  constexpr std::size_t n = 96;
  std::vector<float> a(n * n, 1.5f), b(n * n, 1.0f), d(n * n);
  const auto square = [](auto& data) { return view(data.data(), {n, n}); };
  tuned op{pairwise, {.seconds = 1, .trials = 32, .database = ":memory:", .space = mine}};
  op(square(a), square(b), square(d));
  std::cout << "D[0, 0] = " << d[0] << "\n" << op.report(square(a), square(b), square(d));
  return std::abs(d[0] - 0.25f * n) < 1e-3f ? 0 : 1;
}
