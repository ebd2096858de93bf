#include <tilewright/expr/kernel.hpp>

#include <doctest/doctest.h>

#include <expr/kernels.hpp>

using namespace test_kernels;

namespace {
constexpr auto one = kernel<"twins">([](in<"A", float, "N"> A, out<"B", float, "N"> B) {
  using axes::i;
  return B(i) = A(i) * 2.0f;
});
constexpr auto two = kernel<"twins">([](in<"A", float, "N"> A, out<"B", float, "N"> B) {
  using axes::j;
  return B(j) = A(j) * 3.0f;
});
}  // namespace

// No closure type takes part in the type of a kernel.
static_assert(std::is_same_v<decltype(one), decltype(two)>);
static_assert(std::is_trivially_copyable_v<std::remove_const_t<decltype(one)>>);
static_assert(dsl::is_kernel<std::remove_const_t<decltype(softmax)>>);

TEST_CASE("info describes the parameters") {
  const kernel_info info = conv2d<2, 1>.info();
  CHECK(info.name == "conv2d");
  REQUIRE(info.params.size() == 3);
  CHECK(info.params[2].name == "Y");
  CHECK(info.params[2].role == dsl::role::out);
  CHECK(info.params[2].written());
  CHECK(info.params[0].rank() == 4);
  CHECK(info.params[0].dims[1].name == "H");
  CHECK(info.dim_names == std::vector<std::string>{"N", "H", "W", "C", "R", "S", "K", "P", "Q"});
  const any_kernel erased = one;
  CHECK(erased.info().params[0].type == dtype::f32);
}

TEST_CASE("a lambda with captures carries their values") {
  const float factor = 2.5f;
  const auto k = kernel<"scaled">([factor](in<"A", float, "N"> A, out<"B", float, "N"> B) {
    using axes::i;
    return B(i) = A(i) * factor;
  });
  const std::vector<float> a = numbers(4, 1);
  std::vector<float> b(4);
  run(k, {{"N", 4}}, {a.data(), b.data()});
  for (std::size_t i = 0; i < 4; ++i) CHECK(b[i] == a[i] * factor);
}

TEST_CASE("mistakes in a lambda with captures are thrown, with the same names") {
  const int shift = 1;
  const std::string bounds = refusal([&] {
    kernel<"f">([shift](in<"A", float, 8> A, out<"B", float, 8> B) {
      using axes::i;
      return B(i) = A(i + shift);
    });
  });
  CHECK(contains(bounds, "kernel f: A(i + 1): index 0, i + 1 with i in [0, 8), runs over [1, 8]"));
  const std::string unbound = refusal([&] {
    kernel<"f">([shift](in<"A", float, "N"> A, out<"B", float, "N"> B) {
      using axes::i, axes::k;
      return B(i) = A(k) * shift;
    });
  });
  CHECK(contains(unbound, "axis k in the definition of B is neither on the left side nor reduced"));
}

TEST_CASE("static and named dimensions mix") {
  constexpr auto k = kernel<"mixed">([](in<"A", float, "N", 4> A, out<"B", float, 4, "N"> B) {
    using axes::i, axes::j;
    return B(j, i) = A(i, j);
  });
  const std::vector<float> a = numbers(12, 1);
  std::vector<float> b(12);
  run(k, {{"N", 3}}, {a.data(), b.data()});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) CHECK(b[j * 3 + i] == a[i * 4 + j]);
}
