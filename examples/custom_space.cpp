// A space of one's own: a plain function on a schedule. Each run may draw from the schedule's
// random variables; search replays the trace with other decisions and keeps the fastest.
#include <tilewright/tilewright.hpp>

#include <algorithm>
#include <iostream>
#include <vector>

namespace {

constexpr auto matmul =
    tw::kernel<"matmul">([](tw::in<"A", float, "M", "K"> A, tw::in<"B", float, "K", "N"> B,
                            tw::out<"C", float, "M", "N"> C) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return C(i, j) = tw::sum<k>(A(i, k) * B(k, j));
    });

/// Tiles of sampled sizes, vectors along the rows of C, and the rows of a tile unrolled.
void tiles_and_vectors(tw::schedule& s) {
  const tw::block_rv c = s.get_block("C");
  const auto [i, j, k] = s.loops<3>(c);
  const auto rows = s.sample_categorical({2, 4, 6, 8}, {1, 1, 1, 1});
  const auto columns = s.sample_categorical({8, 16, 32}, {1, 1, 1});
  const auto [i0, i1] = s.split(i, {tw::infer, rows});
  const auto [j0, j1] = s.split(j, {tw::infer, columns});
  s.reorder(i0, j0, k, i1, j1);
  s.unroll(i1);
  s.vectorize(j1);
  s.decompose_reduction(c, k);
}

using namespace tw::space;
using tw::axes::i, tw::axes::j, tw::axes::k;
/// The same as an expression of steps, with a second way to tile.
const tw::space::design_space tiles_or_levels = tw::space_for<matmul>(
    on<"C">(tile<i, 2> >> tile<j, 2> >> reorder<i[0], j[0], k[0], i[1], j[1]> >> vectorize<j[1]>) |
    on<"C">(tile<"SSRSRS">));

}  // namespace

int main() {
  constexpr std::size_t n = 192;
  std::vector<float> a(n * n, 0.5f), b(n * n, 2.0f), c(n * n);
  const auto square = [](auto& data) { return tw::view(data.data(), {n, n}); };

  tw::tuned op{matmul, {.seconds = 2, .space = tiles_and_vectors}};
  op(square(a), square(b), square(c));
  std::cout << "C[0, 0] = " << c[0] << ", expected " << n << "\n"
            << op.report(square(a), square(b), square(c)) << "\n";
  if (c[0] != static_cast<float>(n)) return 1;

  std::fill(c.begin(), c.end(), 0.0f);
  tw::tuned other{matmul, {.seconds = 2, .database = ":memory:", .space = tiles_or_levels}};
  other(square(a), square(b), square(c));
  std::cout << other.report(square(a), square(b), square(c)) << "\n";
  return c[0] == static_cast<float>(n) ? 0 : 1;
}
