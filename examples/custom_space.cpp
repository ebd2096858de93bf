// A space of one's own: a plain function on a schedule. Each run may draw from the schedule's random
// variables; search replays the trace with other decisions and keeps the fastest.
#include <tilewright/ops.hpp>
#include <tilewright/tilewright.hpp>

#include <iostream>
#include <vector>

namespace {

constexpr auto matmul = tw::kernel<"matmul">(
    [](tw::in<"A", float, "M", "K"> A, tw::in<"B", float, "K", "N"> B, tw::out<"C", float, "M", "N"> C) {
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

}  // namespace

int main() {
  constexpr std::size_t n = 192;
  std::vector<float> a(n * n, 0.5f), b(n * n, 2.0f), c(n * n);
  const auto square = [](auto& data) { return tw::view(data.data(), {n, n}); };

  tw::tuned op{matmul, {.seconds = 2, .space = tiles_and_vectors}};
  op(square(a), square(b), square(c));
  std::cout << "C[0, 0] = " << c[0] << ", expected " << n << "\n"
            << op.report(square(a), square(b), square(c)) << "\n";
  return c[0] == static_cast<float>(n) ? 0 : 1;
}
