// A cost model that looks at what you say: two numbers per program instead of the library's 164 per
// store, learned by its trees, in its evolutionary search.
#include <tilewright/tilewright.hpp>

#include <tilewright/cost/model.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>

#include <Eigen/Dense>

#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

using namespace tw;

namespace {

constexpr auto matmul_relu = kernel<"matmul_relu">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = max(sum<k>(A(i, k) * B(k, j)), 0.0f);
    });

/// Logarithms of the vectorized and of the unrolled iterations of a program: one row.
std::vector<float> vectors_and_unrolling(const ir::function& f) {
  double vectorized = 1, unrolled = 1;
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    const ir::loop_node* loop = ir::as_loop(s);
    if (!loop || !ir::is_int(loop->extent)) return;
    const auto extent = static_cast<double>(ir::as_int(loop->extent));
    if (loop->loop == ir::loop_kind::vectorized) vectorized *= extent;
    if (loop->loop == ir::loop_kind::unrolled) unrolled *= extent;
  });
  return {static_cast<float>(std::log2(vectorized)), static_cast<float>(std::log2(unrolled))};
}

std::unique_ptr<search::strategy> own_search(std::uint64_t seed) {
  cost::tree_model_options o;
  o.extractor = {2, vectors_and_unrolling};
  o.seed = seed;
  return search::evolutionary(std::make_shared<cost::tree_model>(o));
}

}  // namespace

int main() {
  const Eigen::MatrixXf a = Eigen::MatrixXf::Random(128, 64), b = Eigen::MatrixXf::Random(64, 96);
  Eigen::MatrixXf c(128, 96);
  tuned op{matmul_relu, {.seconds = 1, .trials = 64, .database = ":memory:", .method = own_search}};
  op(a, b, c);
  std::printf("%s", op.report(a, b, c).c_str());
  const float worst = (c - (a * b).cwiseMax(0.0f)).cwiseAbs().maxCoeff();
  return worst < 1e-4f ? 0 : 1;
}
