// control
#include <tilewright/space/compose.hpp>
#include <tilewright/space_for.hpp>
using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;

constexpr auto scores = kernel<"scores">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      temp<"S", float, "M", "N"> S;
      return blocks(S(i, j) = sum<k>(zero_outside(A)(i, k - 1) * B(k, j)), C(i, j) = exp(S(i, j)));
    });

constexpr variable<"rows"> rows;
constexpr variable<"sizes"> sizes;
constexpr auto here_again = cache_read<here, 1, "local">;

void test() {
  space_for<scores>(
      on<"S">(tile<i, 2> >> tile<j, 2> >> tile<k, 2> >> reorder<i[0], j[0], k[0], i[1], j[1]>) >>
      on<"C">(vectorize<j[0]>));
  space_for<scores>(on<"A_pad">(unroll<axes::a[0]>) | on<"S_global">(tile<"SS">) |
                    weighted(2, on<"B_global">(parallel<j[0]>)));
  space_for<scores>(tile<i, 2> >> when([](const schedule&) { return true; }, unroll<i[1]>) >>
                    module([](schedule&) {}) >> on<"root">(module([](schedule&) {})));
  space_for<scores>(
      on<"S">(steps(let<rows> = split<i, infer, 4>, attempt(let<"last"> = fuse<rows>),
                    let<sizes> = sample_perfect_tile<k, 2>, split<k>(sizes[0], sizes[1]),
                    (let<"copy"> = cache_read<here, 0, "local">) | (let<"copy"> = here_again),
                    compute_at<variable<"copy">{}, rows[0]>)));
}
