// Kernels of the tests, and a way to run one through the interpreter.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <expr/refusal.hpp>

#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace test_kernels {

using namespace tilewright;

template <class T>
constexpr auto matmul_relu = kernel<"matmul_relu">([](in<"A", T, "M", "K"> A,
                                                      in<"B", T, "K", "N"> B,
                                                      out<"C", float, "M", "N"> C) {
  using axes::i, axes::j, axes::k;
  return C(i, j) = max(sum<k>(cast<float>(A(i, k)) * cast<float>(B(k, j))), 0.0f);
});

template <int stride, int border>
constexpr auto conv2d = kernel<"conv2d">([](in<"X", float, "N", "H", "W", "C"> X,
                                            in<"F", float, "R", "S", "C", "K"> F,
                                            out<"Y", float, "N", "P", "Q", "K"> Y) {
  using axes::n, axes::p, axes::q, axes::k, axes::r, axes::s, axes::c;
  auto padded = zero_outside(X);
  return Y(n, p, q, k) = sum<r, s, c>(
             padded(n, p * stride + r - border, q * stride + s - border, c) * F(r, s, c, k));
});

constexpr auto softmax =
    kernel<"softmax">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      temp<"peak", float, "M"> peak;
      temp<"e", float, "M", "N"> e;
      temp<"total", float, "M"> total;
      return blocks(peak(i) = max<j>(X(i, j)), e(i, j) = exp(X(i, j) - peak(i)),
                    total(i) = sum<j>(e(i, j)), Y(i, j) = e(i, j) / total(i));
    });

/// Runs the kernel on contiguous data, one pointer per parameter.
inline void run(const any_kernel& kernel, const dim_values& dims,
                std::initializer_list<const void*> data) {
  const ir::function f = reify(kernel, dims);
  ir::verify(f);
  const std::string text = ir::print(f);
  CHECK_MESSAGE(ir::equal(ir::parse(text), f), text);
  std::vector<ir::tensor_view> args;
  for (const void* p : data) args.push_back({const_cast<void*>(p), {}});
  ir::interpret(f, std::move(args));
}

/// Small whole numbers, so that sums are exact in any order.
template <class T = float>
std::vector<T> numbers(std::size_t count, int seed = 1) {
  std::vector<T> out(count);
  unsigned state = static_cast<unsigned>(seed) * 2654435761u + 12345u;
  for (T& v : out) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<T>(static_cast<int>((state >> 16) % 17u) - 8);
  }
  return out;
}

/// Blocks of a function by name, in program order, without the root.
inline std::vector<ir::block> blocks_of(const ir::function& f) {
  std::vector<ir::block> out;
  ir::for_each_stmt(ir::root_block(f)->body, [&](const ir::stmt& s) {
    if (const ir::block_realize_node* r = ir::as_realize(s)) out.push_back(r->block);
  });
  return out;
}

inline std::vector<std::string> block_names(const ir::function& f) {
  std::vector<std::string> out;
  for (const ir::block& b : blocks_of(f)) out.push_back(b->name);
  return out;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace test_kernels
