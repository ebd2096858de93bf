// One loop over elements: the interpreter of iterations, that of blocks, and machine code agree.
#include <doctest/doctest.h>

#include <string>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <utility>
#include <vector>

#include <expr/sampled_kernels.hpp>

#include "patterns.hpp"
#include "random_schedule.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

constexpr auto sampled = sampled_kernels::sampled<compressed<"N">>;
constexpr auto product = kernel<"product">(
    [](in<"A", float, "M", compressed<"K">> A, in<"B", float, "K", "N"> B,
       out<"C", float, "M", "N"> C) { return C(i, j) = 2.0f * sum<k>(A(i, k) * B(k, j)) + 1.0f; });

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < out.size(); ++n)
    out[n] = static_cast<float>(static_cast<int>(n * 37 % 17) - 8) / 4;
  return out;
}

/// The program with all iterations over rows and their elements as one loop.
ir::sparse_function fused(ir::sparse_function f) {
  for (auto& part : f.body)
    if (auto* it = std::get_if<ir::sparse_iteration>(&part))
      if (it->iters.size() > 1 && it->iters[1].axis->parent == it->iters[0].axis)
        it->iters[0].fused = true;
  return f;
}

void check(const ir::sparse_function& plain, patterns::csr_matrix<>& a,
           std::vector<std::vector<float>> operands, std::size_t results) {
  const ir::sparse_function f = fused(plain);
  ir::verify(f);
  const std::string text = ir::print(f);
  CAPTURE(text);
  CHECK(text.find("T.fuse(A_rows, A_columns)") != std::string::npos);
  CHECK(ir::print(ir::parse_sparse(text)) == text);
  const auto run = [&](const auto& program, auto engine) {
    std::vector<float> result(results, 99);
    std::vector<void*> data{a.offsets.data(), a.indices.data(), a.values.data()};
    for (std::vector<float>& one : operands) data.push_back(one.data());
    data.push_back(result.data());
    engine(program, data);
    return result;
  };
  const auto oracle = [](const ir::sparse_function& program, const std::vector<void*>& data) {
    std::vector<ir::tensor_view> views;
    for (void* d : data) views.push_back({d, {}});
    ir::interpret(program, views);
  };
  const std::vector<float> expected = run(plain, oracle);
  CHECK(run(f, oracle) == expected);
  const ir::function g = sparse::with_iterations(f);
  ir::verify(g);
  CHECK(run(g, random_schedule::run_interpreted) == expected);
  const target::cpu host = target::host();
  if (backend::compiler_available())
    CHECK(run(g, [&](const ir::function& h, const std::vector<void*>& data) {
            random_schedule::run_compiled(h, host, data);
          }) == expected);
  std::vector<const void*> inputs{a.offsets.data(), a.indices.data(), a.values.data()};
  for (const std::vector<float>& one : operands) inputs.push_back(one.data());
  if (backend::compiler_available())
    for (const std::uint64_t seed : {1U, 2U})
      random_schedule::check(g, seed, seed, inputs, expected);
}

/// Multiples of 1/4, so that sums are exact in any order.
void quarter(patterns::csr_matrix<>& a) { a.values = numbers(a.nonzeros()); }

}  // namespace

TEST_CASE("a sampled product in one loop over elements") {
  for (patterns::csr_matrix<>& a : patterns::many()) {
    CAPTURE(a.name);
    quarter(a);
    for (const std::int64_t depth : {1, 16}) {
      const ir::sparse_function f =
          sparse::with_storage(reify(sampled, {{"M", a.rows}, {"N", a.columns}, {"K", depth}}),
                               {{"A", a.nonzeros(), dtype::i32}, {"S", 0, dtype::i32, 1, 0, "A"}});
      check(f, a, {numbers(a.rows * depth), numbers(a.columns * depth)}, a.indices.size());
    }
  }
}

TEST_CASE("a sum over rows in one loop over elements") {
  for (patterns::csr_matrix<>& a : patterns::many()) {
    CAPTURE(a.name);
    quarter(a);
    for (const std::int64_t wide : {1, 5}) {
      const ir::sparse_function f =
          sparse::with_storage(reify(product, {{"M", a.rows}, {"K", a.columns}, {"N", wide}}),
                               {{"A", a.nonzeros(), dtype::i32}});
      check(f, a, {numbers(a.columns * wide)}, static_cast<std::size_t>(a.rows * wide));
    }
  }
}

TEST_CASE("three levels of fibres in one loop, or two around a walk") {
  const std::string params =
      "# from tvm.script import tir as T\n\n@T.prim_func\n"
      "def f(p: T.Buffer((4,), \"int32\"), q: T.Buffer((3,), \"int32\"), r: T.Buffer((4,), "
      "\"int32\"), "
      "s: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), \"float32\"), b: T.Buffer((3,), "
      "\"float32\"), c: T.Buffer((5,), \"float32\")):\n"
      "    I = T.dense_fixed(3)\n"
      "    J = T.sparse_variable(I, (4, 3), (p, q))\n"
      "    K = T.sparse_variable(J, (6, 5), (r, s))\n"
      "    a_1 = T.match_sparse_buffer(a, (I, J, K))\n"
      "    c_1 = T.match_sparse_buffer(c, (I, J, K))\n";
  const auto iterations = [](const std::string& axes) {
    return "    with T.sp_iter([" + axes +
           "], \"SRR\", \"b\") as [i, j, k]:\n"
           "        with T.init():\n"
           "            b[i] = T.float32(0.0)\n"
           "        b[i] = b[i] + a_1[i, j, k] * T.Cast(\"float32\", i * 100 + j * 10 + k)\n"
           "    with T.sp_iter([" +
           axes +
           "], \"SSS\", \"c\") as [i, j, k]:\n"
           "        c_1[i, j, k] = a_1[i, j, k] + T.Cast(\"float32\", i * 100 + j * 10 + k)\n";
  };
  std::vector<std::int32_t> p{0, 2, 2, 3}, q{0, 3, 1}, r{0, 2, 3, 5}, s{1, 4, 0, 2, 5};
  std::vector<float> a{1, 2, 3, 4, 5};
  const auto results = [&](const auto& run) {
    std::vector<float> b(3, 99), c(5, 99);
    run({p.data(), q.data(), r.data(), s.data(), a.data(), b.data(), c.data()});
    b.insert(b.end(), c.begin(), c.end());
    return b;
  };
  const auto said = [&](const std::string& axes) {
    return ir::parse_sparse(params + iterations(axes));
  };
  const auto interpreted = [&](const ir::sparse_function& f) {
    return results([&](const std::vector<void*>& data) {
      std::vector<ir::tensor_view> views;
      for (void* d : data) views.push_back({d, {}});
      ir::interpret(f, views);
    });
  };
  const std::vector<float> expected = interpreted(said("I, J, K"));
  CHECK(expected == std::vector<float>{1 + 8 + 90, 0, 4 * 212 + 5 * 215, 2, 6, 33, 216, 220});
  for (const std::string axes : {"T.fuse(I, J, K)", "T.fuse(I, J), K"}) {
    CAPTURE(axes);
    const ir::sparse_function f = said(axes);
    ir::verify(f);
    CHECK(ir::print(f) == params + iterations(axes));
    CHECK(interpreted(f) == expected);
    const ir::function g = sparse::with_iterations(f);
    CAPTURE(ir::print(g));
    CHECK(results([&](const std::vector<void*>& d) { random_schedule::run_interpreted(g, d); }) ==
          expected);
    if (backend::compiler_available())
      CHECK(results([&](const std::vector<void*>& d) {
              random_schedule::run_compiled(g, target::host(), d);
            }) == expected);
  }
}

TEST_CASE("a function says which iterations it was lowered from, until it is changed") {
  patterns::csr_matrix<> a = patterns::random_matrix(4, 6, 0.4, 1);
  const ir::sparse_function f = sparse::with_storage(reify(product, {{"M", 4}, {"K", 6}, {"N", 3}}),
                                                     {{"A", a.nonzeros(), dtype::i32}});
  const ir::function g = sparse::with_iterations(f);
  const auto carried = sparse::iterations_of(g);
  REQUIRE(carried);
  CHECK(ir::print(*carried) == ir::print(f));
  CHECK_FALSE(sparse::iterations_of(sparse::lower(f)));
  schedule s(g);
  s.parallel(s.get_loops(s.get_block("C_o"))[0]);
  CHECK_FALSE(sparse::iterations_of(s.function()));
}
