#include <tilewright/expr/reify.hpp>

#include <doctest/doctest.h>

#include <expr/kernels.hpp>

using namespace test_kernels;

TEST_CASE("matmul_relu: the inline sum becomes a block of its own") {
  const ir::function f = reify(matmul_relu<float>, {{"M", 5}, {"K", 7}, {"N", 3}});
  CHECK(f.name == "matmul_relu");
  REQUIRE(f.params.size() == 3);
  CHECK(f.params[0].buffer->name == "A");
  CHECK(ir::is_int(f.params[0].buffer->shape[1], 7));
  CHECK(block_names(f) == std::vector<std::string>{"C", "C_epilogue"});
  const ir::block sum = blocks_of(f)[0];
  REQUIRE(sum->iters.size() == 3);
  CHECK(sum->iters[0].var->name == "vi");
  CHECK(sum->iters[2].var->name == "vk");
  CHECK(sum->iters[2].kind == ir::iter_kind::reduce);
  REQUIRE(sum->init);
  REQUIRE(sum->reads.size() == 2);
  CHECK(sum->reads[0].buffer->name == "A");
  CHECK(sum->reads[0].box[0].min.same(sum->iters[0].var));
  REQUIRE(sum->writes.size() == 1);
  // the accumulator is the left operand
  const ir::store_node* store = ir::as_store(sum->body);
  REQUIRE(store);
  CHECK(store->value->args[0]->op == ir::op::load);
  CHECK(store->value->args[0]->buffer == store->buffer);

  const std::vector<float> a = numbers(35, 1), b = numbers(21, 2);
  std::vector<float> c(15, -1);
  run(matmul_relu<float>, {{"M", 5}, {"K", 7}, {"N", 3}}, {a.data(), b.data(), c.data()});
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      float want = 0;
      for (std::size_t k = 0; k < 7; ++k) want += a[i * 7 + k] * b[k * 3 + j];
      CHECK(c[i * 3 + j] == std::max(want, 0.0f));
    }
}

TEST_CASE("matmul_relu of int8 computes in float") {
  const std::vector<std::int8_t> a = numbers<std::int8_t>(6, 3), b = numbers<std::int8_t>(6, 4);
  std::vector<float> c(4);
  run(matmul_relu<std::int8_t>, {{"M", 2}, {"K", 3}, {"N", 2}}, {a.data(), b.data(), c.data()});
  float want = 0;
  for (std::size_t k = 0; k < 3; ++k)
    want += static_cast<float>(a[k]) * static_cast<float>(b[k * 2]);
  CHECK(c[0] == std::max(want, 0.0f));
}

TEST_CASE("conv2d reads through a padding block that is as large as what is read") {
  const dim_values dims{{"N", 2}, {"H", 9}, {"W", 8}, {"C", 3}, {"R", 3},
                        {"S", 3}, {"K", 4}, {"P", 5}, {"Q", 4}};
  const ir::function f = reify(conv2d<2, 1>, dims);
  CHECK(block_names(f) == std::vector<std::string>{"X_pad", "Y"});
  const ir::buffer pad = ir::root_block(f)->alloc_buffers.at(0);
  CHECK(pad->name == "X_pad");
  CHECK(ir::is_int(pad->shape[1], 11));  // rows -1 .. 9
  CHECK(ir::is_int(pad->shape[2], 9));   // columns -1 .. 7
  const ir::block y = blocks_of(f)[1];
  CHECK(y->iters.size() == 7);
  REQUIRE(y->init);

  const std::vector<float> x = numbers(2 * 9 * 8 * 3, 5), w = numbers(3 * 3 * 3 * 4, 6);
  std::vector<float> out(2 * 5 * 4 * 4);
  run(conv2d<2, 1>, dims, {x.data(), w.data(), out.data()});
  const auto at = [&](int n, int h, int v, int c) {
    return h < 0 || h >= 9 || v < 0 || v >= 8
               ? 0.0f
               : x[static_cast<std::size_t>(((n * 9 + h) * 8 + v) * 3 + c)];
  };
  for (int n = 0; n < 2; ++n)
    for (int p = 0; p < 5; ++p)
      for (int q = 0; q < 4; ++q)
        for (int k = 0; k < 4; ++k) {
          float want = 0;
          for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 3; ++s)
              for (int c = 0; c < 3; ++c)
                want += at(n, p * 2 + r - 1, q * 2 + s - 1, c) *
                        w[static_cast<std::size_t>(((r * 3 + s) * 3 + c) * 4 + k)];
          CHECK(out[static_cast<std::size_t>(((n * 5 + p) * 4 + q) * 4 + k)] == want);
        }
}

TEST_CASE("a guarded read that stays inside needs no padding block") {
  const ir::function f = reify(
      conv2d<1, 0>,
      {{"N", 1}, {"H", 6}, {"W", 6}, {"C", 2}, {"R", 3}, {"S", 3}, {"K", 2}, {"P", 4}, {"Q", 4}});
  CHECK(block_names(f) == std::vector<std::string>{"Y"});
}

TEST_CASE("softmax: one block per definition, in program order") {
  const ir::function f = reify(softmax, {{"M", 4}, {"N", 6}});
  CHECK(block_names(f) == std::vector<std::string>{"peak", "e", "total", "Y"});
  const std::vector<float> x = numbers(24, 7);
  std::vector<float> y(24);
  run(softmax, {{"M", 4}, {"N", 6}}, {x.data(), y.data()});
  for (std::size_t i = 0; i < 4; ++i) {
    double peak = -1e30, total = 0;
    for (std::size_t j = 0; j < 6; ++j) peak = std::max<double>(peak, x[i * 6 + j]);
    for (std::size_t j = 0; j < 6; ++j) total += std::exp(x[i * 6 + j] - peak);
    for (std::size_t j = 0; j < 6; ++j)
      CHECK(y[i * 6 + j] == doctest::Approx(std::exp(x[i * 6 + j] - peak) / total).epsilon(1e-5));
  }
}

TEST_CASE("dimensions need values, known names and positive extents") {
  CHECK(contains(refusal([] {
                   reify(softmax, {{"M", 4}});
                 }),
                 "softmax: dimension N has no extent"));
  CHECK(contains(refusal([] {
                   reify(softmax, {{"M", 4}, {"N", 2}, {"Z", 1}});
                 }),
                 "no dimension Z"));
  CHECK(contains(refusal([] { reify(softmax, {{"M", 4}, {"N", 0}}); }), "positive"));
}

TEST_CASE("extents beyond 32 bits give 64 bit indices") {
  const ir::function small = reify(softmax, {{"M", 4}, {"N", 6}});
  const ir::function large = reify(softmax, {{"M", 1 << 16}, {"N", 1 << 16}});
  CHECK(small.params[0].buffer->shape[0].type() == dtype::i32);
  CHECK(large.params[0].buffer->shape[0].type() == dtype::i64);
  CHECK(blocks_of(large)[0]->iters[0].var.type() == dtype::i64);
}

namespace {
constexpr auto blur = kernel<"blur">([](in<"X", float, "N"> X, out<"Y", float, "P"> Y) {
  using axes::p;
  return Y(p) = X(p) + X(p + 1) + X(p + 2);
});
constexpr auto shifted = kernel<"shifted">([](in<"X", float, "N"> X, out<"Y", float, "P"> Y) {
  using axes::p;
  return Y(p) = X(p * 2 + 1);
});
}  // namespace

TEST_CASE("an unguarded read out of bounds names tensor, index and ranges") {
  const std::string text = refusal([] { reify(shifted, {{"N", 8}, {"P", 5}}); });
  CHECK(contains(
      text, "kernel shifted: X(p * 2 + 1): index 0, p * 2 + 1 with p in [0, 5), runs over [1, 9]"));
  CHECK(contains(text, "X has extent 8"));
  CHECK(contains(text, "zero_outside"));
  CHECK(refusal([] { reify(shifted, {{"N", 10}, {"P", 5}}); }).empty());
}

TEST_CASE("an axis over two dimensions needs one extent") {
  const std::string text = refusal([] { reify(blur, {{"N", 8}, {"P", 6}}); });
  CHECK(contains(text, "axis p runs over 6 in Y and over 8 in X"));
}

TEST_CASE("regions of reads that differ by constants are spans") {
  constexpr auto stencil = kernel<"stencil">([](in<"X", float, 8> X, out<"Y", float, 6> Y) {
    using axes::i;
    return Y(i) = X(i + 0) + X(i + 2) + X(i + 1);
  });
  const ir::function f = reify(stencil);
  const ir::block y = blocks_of(f)[0];
  REQUIRE(y->reads.size() == 1);
  CHECK(y->reads[0].box[0].min.same(y->iters[0].var));
  CHECK(ir::is_int(y->reads[0].box[0].extent, 3));
}
