// Tensors in compressed fibres, and ragged ones: stage I, lowered blocks and machine code against dense sums.
#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <random>
#include <tilewright/expr/formats/csf_tensor.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>

#include "random_schedule.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k, axes::d, axes::l, axes::b, axes::n;

namespace {

std::vector<float> small_numbers(std::int64_t count, int step) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t at = 0; at < out.size(); ++at)
    out[at] = static_cast<float>(static_cast<int>(at) * step % 17 - 8) / 4;
  return out;
}

/// Stage I, its blocks, machine code, and a schedule that is drawn: all give `expected`, bit for bit.
void check(const ir::sparse_function& f, const std::vector<const void*>& inputs,
           const std::vector<float>& expected, std::uint64_t seed) {
  ir::verify(f);
  const std::string text = ir::print(f);
  CAPTURE(text);
  CHECK(ir::print(ir::parse_sparse(text)) == text);
  std::vector<float> oracle(expected.size(), 99);
  std::vector<ir::tensor_view> views;
  for (const void* a : inputs) views.push_back({const_cast<void*>(a), {}});
  views.push_back({oracle.data(), {}});
  ir::interpret(f, views);
  CHECK(oracle == expected);
  for (std::uint64_t draw = 0; draw < 3; ++draw)
    random_schedule::check(sparse::lower(f), seed, draw, inputs, expected);
}

constexpr auto mttkrp = kernel<"mttkrp">([](in<"A", float, "I", compressed<"J">, compressed<"K">> A,
                                            in<"B", float, "J", "D"> B, in<"C", float, "K", "D"> C,
                                            out<"Y", float, "I", "D"> Y) {
  return Y(i, d) = sum<j, k>(A(i, j, k) * B(j, d) * C(k, d));
});
constexpr auto far_sums =
    kernel<"far_sums">([](in<"A", float, "I", compressed<"J">, compressed<"K">, compressed<"L">> A,
                          in<"x", float, "L"> x, out<"y", float, "I"> y) {
      return y(i) = 1.0f + sum<j, k, l>(A(i, j, k, l) * x(l));
    });

/// Coordinates of a tensor whose every third row is empty, in any order.
template <int Rank>
std::array<std::vector<int>, Rank> drawn_coordinates(const std::array<std::int64_t, Rank>& extents,
                                                     std::mt19937& random) {
  std::int64_t all = 1;
  for (const std::int64_t e : extents) all *= e;
  std::vector<std::int64_t> places;
  for (std::int64_t at = 0; at < all; ++at)
    if (at / (all / extents[0]) % 3 != 1 && random() % 4 == 0) places.push_back(at);
  std::shuffle(places.begin(), places.end(), random);
  std::array<std::vector<int>, Rank> out;
  for (const std::int64_t at : places) {
    std::int64_t rest = at;
    for (std::size_t dim = Rank; dim-- > 0; rest /= extents[dim])
      out[dim].push_back(static_cast<int>(rest % extents[dim]));
  }
  return out;
}

template <int Rank>
sparse::stored_parameter format_of(const csf_tensor<float, Rank>& a) {
  sparse::stored_parameter out{"A", a.nonzeros()};
  for (int level = 1; level + 1 < Rank; ++level)
    out.levels.push_back(static_cast<std::int64_t>(a.indices(level).size()));
  return out;
}

template <int Rank>
std::vector<const void*> arrays_of(const csf_tensor<float, Rank>& a) {
  std::vector<const void*> out;
  for (const dsl::argument& one : a.arguments()) out.push_back(one.data);
  return out;
}

// Rows of 2, 0, 3 and 1 elements.
const std::vector<std::int32_t> offsets{0, 2, 2, 5, 6};
constexpr std::int64_t rows = 4, longest = 3, places = 6;

ir::sparse_function ragged_program(const any_kernel& kernel, const dim_values& dims,
                                   const std::vector<std::string>& like = {}) {
  sparse::stored_parameter format{"X", places};
  format.counted = true;
  std::vector<sparse::stored_parameter> all{format};
  for (const std::string& name : like) {
    all.push_back({name});
    all.back().pattern = "X";
  }
  return sparse::with_storage(reify(kernel, dims), all);
}

}  // namespace

TEST_CASE("sums over fibres are those of the dense tensor, also where rows have none") {
  std::mt19937 random(1);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const std::array<std::int64_t, 3> extents{1 + static_cast<std::int64_t>(random() % 7), 5, 6};
    const auto at = drawn_coordinates<3>(extents, random);
    if (at[0].empty()) continue;
    const auto count = static_cast<std::int64_t>(at[0].size());
    const std::vector<float> given = small_numbers(count, 5);
    const csf_tensor<float, 3> a(extents, at, given);
    const std::int64_t wide = seed % 2 ? 1 : 9;
    const std::vector<float> u = small_numbers(5 * wide, 3), v = small_numbers(6 * wide, 7);
    std::vector<float> expected(static_cast<std::size_t>(extents[0] * wide), 0);
    for (std::size_t e = 0; e < given.size(); ++e)
      for (std::int64_t c = 0; c < wide; ++c)
        expected[static_cast<std::size_t>(at[0][e] * wide + c)] +=
            given[e] * u[static_cast<std::size_t>(at[1][e] * wide + c)] *
            v[static_cast<std::size_t>(at[2][e] * wide + c)];
    std::vector<const void*> inputs = arrays_of(a);
    inputs.insert(inputs.end(), {u.data(), v.data()});
    check(sparse::with_storage(reify(mttkrp, {{"I", extents[0]}, {"J", 5}, {"K", 6}, {"D", wide}}),
                               {format_of(a)}),
          inputs, expected, seed);
  }
}

TEST_CASE("fibres of four dimensions, and an epilogue") {
  std::mt19937 random(2);
  const std::array<std::int64_t, 4> extents{5, 3, 2, 4};
  const auto at = drawn_coordinates<4>(extents, random);
  const std::vector<float> given = small_numbers(static_cast<std::int64_t>(at[0].size()), 5);
  const csf_tensor<float, 4> a(extents, at, given);
  const std::vector<float> x = small_numbers(4, 3);
  std::vector<float> expected(5, 1);
  for (std::size_t e = 0; e < given.size(); ++e)
    expected[static_cast<std::size_t>(at[0][e])] +=
        given[e] * x[static_cast<std::size_t>(at[3][e])];
  std::vector<const void*> inputs = arrays_of(a);
  inputs.push_back(x.data());
  const ir::sparse_function f = sparse::with_storage(
      reify(far_sums, {{"I", 5}, {"J", 3}, {"K", 2}, {"L", 4}}), {format_of(a)});
  const std::string text = ir::print(f), blocks = ir::print(sparse::lower(f));
  CAPTURE(blocks);
  CHECK(text.find("T.sparse_variable(A_level2, (4, ") != std::string::npos);
  CHECK(blocks.find("_o2\")") != std::string::npos);
  check(f, inputs, expected, 1);
}

TEST_CASE("sums and maxima over ragged rows") {
  constexpr auto sums =
      kernel<"sums">([](in<"X", float, "B", ragged<"L">, "D"> X, out<"Y", float, "B", "D"> Y) {
        return Y(b, d) = sum<l>(X(b, l, d));
      });
  constexpr auto largest =
      kernel<"largest">([](in<"X", float, "B", ragged<"L">> X, out<"y", float, "B"> y) {
        return y(b) = max<l>(where_stored(X)(b, l));
      });
  for (const std::int64_t wide : {1, 8, 19}) {
    const std::vector<float> x = small_numbers(places * wide, 5);
    std::vector<float> expected(static_cast<std::size_t>(rows * wide), 0);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t at = offsets[static_cast<std::size_t>(r)];
           at < offsets[static_cast<std::size_t>(r) + 1]; ++at)
        for (std::int64_t c = 0; c < wide; ++c)
          expected[static_cast<std::size_t>(r * wide + c)] +=
              x[static_cast<std::size_t>(at * wide + c)];
    check(ragged_program(sums, {{"B", rows}, {"L", longest}, {"D", wide}}),
          {offsets.data(), x.data()}, expected, 3);
  }
  const std::vector<float> x{-3, -2, 5, 7, 6, -1};
  check(ragged_program(largest, {{"B", rows}, {"L", longest}}), {offsets.data(), x.data()},
        {-2, -std::numeric_limits<float>::infinity(), 7, -1}, 3);
}

TEST_CASE("a ragged batched product, and one temporary on the pattern") {
  constexpr auto batched =
      kernel<"batched">([](in<"X", float, "B", ragged<"L">, "K"> X, in<"W", float, "B", "K", "N"> W,
                           out<"Y", float, "B", stored_like<"L", "X">, "N"> Y) {
        return Y(b, l, n) = max(sum<k>(X(b, l, k) * W(b, k, n)), 0.0f);
      });
  const std::int64_t depth = 5, wide = 8;
  const std::vector<float> x = small_numbers(places * depth, 5),
                           w = small_numbers(rows * depth * wide, 7);
  std::vector<float> expected;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t at = offsets[static_cast<std::size_t>(r)];
         at < offsets[static_cast<std::size_t>(r) + 1]; ++at)
      for (std::int64_t c = 0; c < wide; ++c) {
        float sum = 0;
        for (std::int64_t q = 0; q < depth; ++q)
          sum += x[static_cast<std::size_t>(at * depth + q)] *
                 w[static_cast<std::size_t>((r * depth + q) * wide + c)];
        expected.push_back(std::max(sum, 0.0f));
      }
  const ir::sparse_function f =
      ragged_program(batched, {{"B", rows}, {"L", longest}, {"K", depth}, {"N", wide}}, {"Y"});
  const std::string text = ir::print(f);
  CAPTURE(text);
  CHECK(text.find("X_places = T.dense_variable(X_rows, (3, 6), X_indptr)") != std::string::npos);
  check(f, {offsets.data(), x.data(), w.data()}, expected, 5);
}
