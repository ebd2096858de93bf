// A schedule by hand: every primitive's effect on the program, and the trace that reproduces it.
#include <tilewright/tilewright.hpp>

#include <iostream>

namespace {

constexpr auto matmul_relu =
    tw::kernel<"matmul_relu">([](tw::in<"A", float, "M", "K"> A, tw::in<"B", float, "K", "N"> B,
                                 tw::out<"C", float, "M", "N"> C) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      tw::temp<"product", float, "M", "N"> product;
      return tw::blocks(product(i, j) = tw::sum<k>(A(i, k) * B(k, j)),
                        C(i, j) = max(product(i, j), 0.0f));
    });

}  // namespace

int main() {
  tw::schedule s{tw::reify(matmul_relu, {{"M", 512}, {"N", 1024}, {"K", 256}})};
  std::cout << "--- as written\n" << s.show();

  const tw::block_rv product = s.get_block("product");
  const auto [i, j, k] = s.loops<3>(product);
  const auto [i0, i1] = s.split(i, {tw::infer, 8});
  const auto [j0, j1] = s.split(j, {tw::infer, 32});
  s.reorder(i0, j0, k, i1, j1);
  std::cout << "\n--- tiled 8 x 32\n" << s.show();

  const tw::block_rv relu = s.get_block("C");
  s.reverse_compute_at(relu, j0);
  const tw::block_rv panel = s.cache_read(product, 1, "global");
  s.compute_at(panel, j0);
  std::cout << "\n--- with the activation below the tile and a panel of B\n" << s.show();

  s.unroll(i1);
  s.vectorize(j1);
  s.decompose_reduction(product, k);
  std::cout << "\n--- vectorized, and the initialization on its own\n" << s.show();
  std::cout << "\n--- the trace\n" << s.trace().print();
  std::cout << "\n--- the trace as C++\n" << s.trace().print_cpp();

  try {
    s.fuse(i0, k);
  } catch (const tw::schedule_error& refused) {
    std::cout << "\n--- what an illegal step says\n" << refused.what() << "\n";
  }
}
