// Rows of a second matrix, numbered by the columns of a first one: walked below them.
#include <doctest/doctest.h>

#include <string>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <vector>

#include "patterns.hpp"
#include "random_schedule.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k, axes::d;

namespace {

/// Neighbours of neighbours: what hypergraphs, and products of three factors, ask for.
constexpr auto two_steps = kernel<"two_steps">(
    [](in<"A", float, "M", compressed<"E">> A, in<"B", float, "E", compressed<"N">> B,
       in<"X", float, "N", "D"> X,
       out<"Y", float, "M", "D"> Y) { return Y(i, d) = sum<j, k>(A(i, j) * B(j, k) * X(k, d)); });

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < out.size(); ++n)
    out[n] = static_cast<float>(static_cast<int>(n * 37 % 9) - 4) / 4;
  return out;
}

ir::sparse_function program_of(const patterns::csr_matrix<>& a, const patterns::csr_matrix<>& b,
                               std::int64_t wide) {
  return sparse::with_storage(
      reify(two_steps, {{"M", a.rows}, {"E", a.columns}, {"N", b.columns}, {"D", wide}}),
      {{"A", a.nonzeros(), dtype::i32}, {"B", b.nonzeros(), dtype::i32}});
}

}  // namespace

TEST_CASE("a sum over columns of A and of rows of B that these number attaches B's columns") {
  const patterns::csr_matrix<> a = patterns::random_matrix(4, 6, 0.4, 1),
                               b = patterns::random_matrix(6, 5, 0.4, 2);
  const std::string text = ir::print(program_of(a, b, 3));
  CAPTURE(text);
  CHECK(text.find("T.sp_iter([A_rows, A_columns, T.attach(B_columns, A_columns), ") !=
        std::string::npos);
  const std::string blocks = ir::print(sparse::lower(program_of(a, b, 3)));
  CAPTURE(blocks);
  CHECK(blocks.find("while") == std::string::npos);  // nothing is searched for
}

TEST_CASE("the oracle, blocks, machine code and schedules agree where rows are attached") {
  const std::vector<patterns::csr_matrix<>> all{
      patterns::random_matrix(7, 9, 0.3, 1), patterns::random_matrix(9, 4, 0.5, 2),
      patterns::random_matrix(1, 9, 1, 3),   patterns::random_matrix(9, 9, 0.2, 4, 5),
      patterns::random_matrix(9, 1, 0.5, 5), patterns::random_matrix(9, 9, 0.05, 6)};
  for (patterns::csr_matrix<> a : all)
    for (patterns::csr_matrix<> b : all) {
      if (a.columns != b.rows) continue;
      CAPTURE(a.name);
      CAPTURE(b.name);
      a.values = numbers(a.nonzeros());
      b.values = numbers(b.nonzeros());
      const std::int64_t wide = 5;
      std::vector<float> x = numbers(b.columns * wide);
      const ir::sparse_function f = program_of(a, b, wide);
      ir::verify(f);
      CHECK(ir::print(ir::parse_sparse(ir::print(f))) == ir::print(f));
      const std::vector<void*> inputs{a.offsets.data(), a.indices.data(), a.values.data(),
                                      b.offsets.data(), b.indices.data(), b.values.data(),
                                      x.data()};
      std::vector<float> expected, got(static_cast<std::size_t>(a.rows * wide), 99);
      const std::vector<double> first = a.dense(), second = b.dense();
      for (std::int64_t r = 0; r < a.rows; ++r)
        for (std::int64_t c = 0; c < wide; ++c) {
          double sum = 0;
          for (std::int64_t e = 0; e < a.columns; ++e)
            for (std::int64_t n = 0; n < b.columns; ++n)
              sum += first[static_cast<std::size_t>(r * a.columns + e)] *
                     second[static_cast<std::size_t>(e * b.columns + n)] *
                     static_cast<double>(x[static_cast<std::size_t>(n * wide + c)]);
          expected.push_back(static_cast<float>(sum));
        }
      std::vector<ir::tensor_view> views;
      for (void* one : inputs) views.push_back({one, {}});
      views.push_back({got.data(), {}});
      ir::interpret(f, views);
      CHECK(got == expected);
      const ir::function g = sparse::lower(f);
      std::vector<void*> data = inputs;
      data.push_back(got.data());
      std::fill(got.begin(), got.end(), 99.0f);
      random_schedule::run_interpreted(g, data);
      CHECK(got == expected);
      if (!backend::compiler_available()) continue;
      const std::vector<const void*> given(inputs.begin(), inputs.end());
      for (const std::uint64_t seed : {1U, 2U, 3U})
        random_schedule::check(g, seed, seed, given, expected);
    }
}

TEST_CASE("patterns that meet beside attached rows are refused") {
  const std::string text =
      "@T.prim_func\n"
      "def f(p: T.Buffer((4,), \"int32\"), q: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), "
      "\"float32\"), y: T.Buffer((3,), \"float32\")):\n"
      "    I = T.dense_fixed(3)\n"
      "    K = T.sparse_variable(I, (3, 5), (p, q))\n"
      "    J = T.dense_fixed(3)\n"
      "    L = T.sparse_variable(J, (3, 5), (p, q))\n"
      "    a_1 = T.match_sparse_buffer(a, (I, K))\n"
      "    with T.sp_iter([I, K, T.attach(L, K)], \"SRR\", \"y\") as [i, k, l]:\n"
      "        y[i] = y[i] + a_1[i, 0] * T.Cast(\"float32\", l)\n";
  CHECK_THROWS_WITH_AS(
      sparse::lower(ir::parse_sparse(text)),
      "lower: iteration \"y\" fuses or attaches axes where patterns meet (requirement 4)",
      argument_error);
}
