#include <tilewright/expr/access.hpp>

#include <doctest/doctest.h>

#include <expr/kernels.hpp>

using namespace test_kernels;

namespace {

template <class F>
constexpr auto shifted_kernel(F) {
  return kernel<"shifted">([](in<"X", float, "N"> X, out<"Y", float, "P"> Y) {
    using axes::p;
    return Y(p) = F{}(X)(p * 2 - 5);
  });
}

/// Y[p] = X at map(2 p - 5), and 0 where map gives nothing.
template <class Map>
void check_border(const any_kernel& kernel, Map map) {
  const std::vector<float> x = numbers(7, 1);
  std::vector<float> y(9);
  run(kernel, {{"N", 7}, {"P", 9}}, {x.data(), y.data()});
  for (int p = 0; p < 9; ++p) {
    const int at = map(2 * p - 5);
    CHECK(y[static_cast<std::size_t>(p)] == (at < 0 ? 0.0f : x[static_cast<std::size_t>(at)]));
  }
}

}  // namespace

TEST_CASE("reads beyond the edge: zero, clamp, mirror") {
  check_border(shifted_kernel([](auto X) { return zero_outside(X); }),
               [](int at) { return at < 0 || at > 6 ? -1 : at; });
  check_border(shifted_kernel([](auto X) { return clamp_outside(X); }), [](int at) {
    return at < 0 ? 0 : at > 6 ? 6 : at;
  });
  check_border(shifted_kernel([](auto X) { return mirror_outside(X); }), [](int at) {
    while (at < 0 || at > 6) at = at < 0 ? -at : 12 - at;
    return at;
  });
}

TEST_CASE("reads that share tensor and border share one padding block") {
  constexpr auto k =
      kernel<"blur">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y, out<"Z", float, "N"> Z) {
        using axes::i;
        const auto x = zero_outside(X);
        return blocks(Y(i) = x(i - 1) + x(i + 1), Z(i) = x(i - 2) + clamp_outside(X)(i + 1));
      });
  const ir::function f = reify(k, {{"N", 6}});
  CHECK(block_names(f) == std::vector<std::string>{"X_pad", "Y", "X_pad_1", "Z"});
  CHECK(ir::is_int(ir::root_block(f)->alloc_buffers[0]->shape[0], 9));  // -2 .. 6
}

TEST_CASE("a tensor that changes is padded anew") {
  constexpr auto k = kernel<"steps">([](inout<"X", float, "N"> X, out<"Y", float, "N"> Y) {
    using axes::i;
    temp<"a", float, "N"> a;
    return blocks(a(i) = zero_outside(X)(i + 1), X(i) = a(i), Y(i) = zero_outside(X)(i + 1));
  });
  std::vector<float> x = numbers(6, 1), y(6);
  const std::vector<float> before = x;
  run(k, {{"N", 6}}, {x.data(), y.data()});
  for (std::size_t i = 0; i < 6; ++i) CHECK(y[i] == (i + 2 < 6 ? before[i + 2] : 0.0f));
}

TEST_CASE("gathers read through another tensor, guarded where asked for") {
  constexpr auto k =
      kernel<"gather">([](in<"A", float, "M", "N"> A, in<"idx", std::int32_t, "K"> idx,
                          out<"Y", float, "K", "N"> Y, out<"Z", float, "K", "N"> Z) {
        using axes::i, axes::j;
        return blocks(Y(i, j) = A(idx(i), j), Z(i, j) = zero_outside(A)(idx(i) + 2, j));
      });
  const dim_values dims{{"M", 4}, {"N", 3}, {"K", 5}};
  const ir::function f = reify(k, dims);
  CHECK(block_names(f) == std::vector<std::string>{"Y", "Z"});
  // the gathered dimension is read whole
  const ir::block y_block = blocks_of(f)[0];
  for (const ir::buffer_region& r : y_block->reads)
    if (r.buffer->name == "A") CHECK(ir::is_int(r.box[0].extent, 4));
  const std::vector<float> a = numbers(12, 1);
  const std::vector<std::int32_t> idx{3, 0, 2, 2, 1};
  std::vector<float> y(15), z(15);
  run(k, dims, {a.data(), idx.data(), y.data(), z.data()});
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const auto row = static_cast<std::size_t>(idx[i]);
      CHECK(y[i * 3 + j] == a[row * 3 + j]);
      CHECK(z[i * 3 + j] == (row + 2 < 4 ? a[(row + 2) * 3 + j] : 0.0f));
    }
}

TEST_CASE("assigning an access to an access is a definition, not a copy") {
  constexpr auto k =
      kernel<"copy">([](in<"A", float, "N"> A, out<"B", float, "N"> B, out<"C", float, "N"> C) {
        using axes::i;
        return blocks(B(i) = A(i), C(i) = B(i));
      });
  const std::vector<float> a = numbers(5, 1);
  std::vector<float> b(5), c(5);
  run(k, {{"N", 5}}, {a.data(), b.data(), c.data()});
  CHECK(b == a);
  CHECK(c == a);
}

TEST_CASE("in-place updates and +=") {
  constexpr auto k = kernel<"step">([](inout<"X", float, "N"> X, in<"dt", float> dt) {
    using axes::i;
    return blocks(X(i) = X(i) * 2.0f, X(i) += dt);
  });
  CHECK(block_names(reify(k, {{"N", 4}})) == std::vector<std::string>{"X", "X_1"});
  std::vector<float> x = numbers(4, 1);
  const std::vector<float> before = x;
  const float dt = 3;
  run(k, {{"N", 4}}, {x.data(), &dt});
  for (std::size_t i = 0; i < 4; ++i) CHECK(x[i] == before[i] * 2 + 3);
}

TEST_CASE("two definitions write parts of one output, and all of it") {
  constexpr auto k =
      kernel<"halves">([](in<"A", float, 3> A, in<"B", float, 5> B, out<"Y", float, "N"> Y) {
        using axes::i;
        return blocks(Y(i) = A(i), Y(i + 3) = B(i));
      });
  const std::vector<float> a = numbers(3, 1), b = numbers(5, 2);
  std::vector<float> y(8);
  run(k, {{"N", 8}}, {a.data(), b.data(), y.data()});
  for (std::size_t i = 0; i < 8; ++i) CHECK(y[i] == (i < 3 ? a[i] : b[i - 3]));
  CHECK(contains(refusal([&] {
                   reify(k, {{"N", 9}});
                 }),
                 "output Y has 9 elements, of which its definitions write 8"));
  CHECK(contains(refusal([&] { reify(k, {{"N", 7}}); }), "runs over [3, 7], but Y has extent 7"));
}

TEST_CASE("strided stores are fine as long as no element is stored twice") {
  constexpr auto k = kernel<"interleave">([](in<"A", float, "N", 2> A, out<"Y", float, "P"> Y) {
    using axes::i, axes::j;
    return Y(i * 2 + j) = A(i, j);
  });
  const std::vector<float> a = numbers(8, 1);
  std::vector<float> y(8);
  run(k, {{"N", 4}, {"P", 8}}, {a.data(), y.data()});
  CHECK(y == a);
  constexpr auto twice = kernel<"twice">([](in<"A", float, "N", 2> A, out<"Y", float, "P"> Y) {
    using axes::i, axes::j;
    return Y(i + j) = A(i, j);
  });
  CHECK(contains(refusal([&] {
                   reify(twice, {{"N", 4}, {"P", 5}});
                 }),
                 "may store an element twice"));
}

TEST_CASE("an axis with an extent of its own") {
  constexpr auto k = kernel<"windows">([](in<"X", float, "N"> X, out<"Y", float, "P"> Y) {
    using axes::p;
    constexpr axis<"r", 3> r;
    return Y(p) = max<r>(X(p * 2 + r));
  });
  const std::vector<float> x = numbers(9, 1);
  std::vector<float> y(4);
  run(k, {{"N", 9}, {"P", 4}}, {x.data(), y.data()});
  for (std::size_t p = 0; p < 4; ++p)
    CHECK(y[p] == std::max(std::max(x[2 * p], x[2 * p + 1]), x[2 * p + 2]));
}

TEST_CASE("tensors of rank 0 as results and stages") {
  constexpr auto k =
      kernel<"total">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y, out<"s", float> s) {
        using axes::i;
        temp<"t", float> t;
        return blocks(t() = sum<i>(X(i)), Y(i) = X(i) - t, s() = t * 2.0f);
      });
  const std::vector<float> x = numbers(5, 1);
  std::vector<float> y(5);
  float s = 0, total = 0;
  run(k, {{"N", 5}}, {x.data(), y.data(), &s});
  for (float v : x) total += v;
  CHECK(s == total * 2);
  CHECK(y[0] == x[0] - total);
}
