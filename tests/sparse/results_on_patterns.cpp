// Results that are stored like an input: sampled products and what follows them.
#include <doctest/doctest.h>

#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>

#include <expr/sampled_kernels.hpp>

#include "compiled_run.hpp"
#include "patterns.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;
using compiled_run::run_compiled;
using patterns::random_values;

namespace {

constexpr auto sampled = sampled_kernels::sampled<compressed<"N">>;
constexpr auto attention = sampled_kernels::attention<compressed<"N">>;

/// The result of a program on a pattern by its stage I, by its blocks and by machine code: all equal to
/// `expected`, element by element.
void check(const ir::sparse_function& f, patterns::csr_matrix<>& a,
           std::vector<std::vector<float>> operands, const std::vector<double>& expected) {
  ir::verify(f);
  CHECK(ir::print(ir::parse_sparse(ir::print(f))) == ir::print(f));
  const ir::function g = sparse::lower(f);
  ir::verify(g);
  for (const int engine : {0, 1, 2}) {
    CAPTURE(engine);
    std::vector<float> result(expected.size(), 99.0f);
    std::vector<ir::tensor_view> views{
        {a.offsets.data(), {}}, {a.indices.data(), {}}, {a.values.data(), {}}};
    for (std::vector<float>& o : operands) views.push_back({o.data(), {}});
    views.push_back({result.data(), {}});
    if (engine == 0) ir::interpret(f, views);
    if (engine == 1) ir::interpret(g, views);
    if (engine == 2) run_compiled(g, views);
    for (std::size_t n = 0; n < expected.size(); ++n)
      CHECK(static_cast<double>(result[n]) == doctest::Approx(expected[n]).epsilon(1e-4));
  }
}

/// A(i, j) times the product of row i of x and row j of y, for each stored element of A.
std::vector<double> sampled_product(const patterns::csr_matrix<>& a, const std::vector<float>& x,
                                    const std::vector<float>& y, std::size_t depth) {
  std::vector<double> out;
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
    for (auto at = static_cast<std::size_t>(a.offsets[row]);
         at < static_cast<std::size_t>(a.offsets[row + 1]); ++at) {
      double sum = 0;
      for (std::size_t q = 0; q < depth; ++q)
        sum += static_cast<double>(x[row * depth + q]) *
               static_cast<double>(y[static_cast<std::size_t>(a.indices[at]) * depth + q]);
      out.push_back(sum * static_cast<double>(a.values[at]));
    }
  return out;
}

}  // namespace

TEST_CASE("a sampled product is computed where the pattern has elements, a row at a time") {
  patterns::csr_matrix<> a = patterns::random_matrix(4, 6, 0.4, 1);
  const ir::sparse_function f =
      sparse::with_storage(reify(sampled, {{"M", 4}, {"N", 6}, {"K", 8}}),
                           {{"A", a.nonzeros(), dtype::i32}, {"S", 0, dtype::i32, 1, 0, "A"}});
  const std::string stage_one = ir::print(f);
  CAPTURE(stage_one);
  CHECK(stage_one.find("= T.alloc_sparse_buffer((A_rows, A_columns), \"float32\")") !=
        std::string::npos);
  CHECK(stage_one.find("with T.sp_iter([A_rows, A_columns, S_vk], \"SSR\", \"S\")") !=
        std::string::npos);
  const std::string blocks = ir::print(sparse::lower(f));
  CAPTURE(blocks);
  CHECK(blocks.find("for i in range(4):\n        with T.block(\"S_o\"):") != std::string::npos);
  CHECK(blocks.find("S_sum = T.alloc_buffer((6,), \"float32\")") != std::string::npos);
  CHECK(blocks.find("S[A_indptr[vi] + vj] = A[A_indptr[vi] + vj] * S_sum[vj]") !=
        std::string::npos);
}

TEST_CASE("sampled products agree with the dense product at the elements of the pattern") {
  for (patterns::csr_matrix<>& a : patterns::many()) {
    if (a.nonzeros() == 0) continue;
    CAPTURE(a.name);
    for (const std::int64_t depth : {1, 5, 32}) {
      const ir::sparse_function f =
          sparse::with_storage(reify(sampled, {{"M", a.rows}, {"N", a.columns}, {"K", depth}}),
                               {{"A", a.nonzeros(), dtype::i32}, {"S", 0, dtype::i32, 1, 0, "A"}});
      const std::vector<float> x = random_values(a.rows * depth, 2),
                               y = random_values(a.columns * depth, 3);
      check(f, a, {x, y}, sampled_product(a, x, y, static_cast<std::size_t>(depth)));
    }
  }
}

TEST_CASE("a softmax over what is stored between two products is one walk of the rows") {
  for (patterns::csr_matrix<>& a : patterns::many()) {
    if (a.nonzeros() == 0) continue;
    CAPTURE(a.name);
    const std::int64_t depth = 8, wide = 4;
    const ir::sparse_function f = sparse::with_storage(
        reify(attention, {{"M", a.rows}, {"N", a.columns}, {"K", depth}, {"D", wide}}),
        {{"A", a.nonzeros(), dtype::i32},
         {"s", 0, dtype::i32, 1, 0, "A"},
         {"e", 0, dtype::i32, 1, 0, "A"}});
    const std::vector<float> x = random_values(a.rows * depth, 2),
                             y = random_values(a.columns * depth, 3),
                             v = random_values(a.columns * wide, 4);
    const std::vector<double> scores = sampled_product(a, x, y, static_cast<std::size_t>(depth));
    std::vector<double> expected;
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
      const auto begin = static_cast<std::size_t>(a.offsets[row]),
                 end = static_cast<std::size_t>(a.offsets[row + 1]);
      for (std::size_t c = 0; c < static_cast<std::size_t>(wide); ++c) {
        double total = 0, sum = 0;
        for (std::size_t at = begin; at < end; ++at) {
          total += std::exp(scores[at]);
          sum += std::exp(scores[at]) *
                 static_cast<double>(v[static_cast<std::size_t>(a.indices[at] * wide) + c]);
        }
        expected.push_back(begin == end ? 0 : sum / total);
      }
    }
    check(f, a, {x, y, v}, expected);
  }
}

TEST_CASE("temporaries that something else reads, too, are dense") {
  constexpr auto twice = kernel<"twice">([](in<"A", float, "M", compressed<"N">> A,
                                            in<"X", float, "M", "N"> X, out<"y", float, "M"> y,
                                            out<"S", float, "M", stored_like<"N", "A">> S) {
    temp<"t", float, "M", "N"> t;
    return blocks(t(i, j) = X(i, j) + 1.0f, y(i) = sum<j>(t(i, j)), S(i, j) = A(i, j) * t(i, j));
  });
  const patterns::csr_matrix<> a = patterns::random_matrix(4, 6, 0.4, 1);
  const ir::sparse_function f =
      sparse::with_storage(reify(twice, {{"M", 4}, {"N", 6}}),
                           {{"A", a.nonzeros(), dtype::i32}, {"S", 0, dtype::i32, 1, 0, "A"}});
  ir::verify(f);
  CHECK(ir::print(f).find("alloc_sparse_buffer") == std::string::npos);
}
