#include <tilewright/sparse/lower.hpp>

#include <doctest/doctest.h>

#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/storage.hpp>

#include "compiled_run.hpp"
#include "patterns.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;
using compiled_run::run_compiled;
using patterns::random_values;

namespace {

constexpr auto spmm =
    kernel<"spmm">([](in<"A", float, "M", compressed<"K">> A, in<"B", float, "K", "N"> B,
                      out<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * B(k, j)); });
constexpr auto spmv = kernel<"spmv">(
    [](in<"A", float, "M", compressed<"K">> A, in<"x", float, "K"> x, out<"y", float, "M"> y) {
      return y(i) = 2.0f * sum<k>(A(i, k) * x(k)) - 1.0f;
    });

ir::sparse_function stage_one(const any_kernel& kernel, const patterns::csr_matrix<>& a,
                              dim_values dims) {
  dims["M"] = a.rows;
  dims["K"] = a.columns;
  return sparse::with_storage(reify(kernel, dims), {{"A", a.nonzeros(), dtype::i32}});
}

/// Arguments of a kernel of A, a dense operand and a result.
struct call_data {
  patterns::csr_matrix<> a;
  std::vector<float> operand, result;
  std::vector<ir::tensor_view> views() {
    return {{a.offsets.data(), {}},
            {a.indices.data(), {}},
            {a.values.data(), {}},
            {operand.data(), {}},
            {result.data(), {}}};
  }
};

call_data data_for(const patterns::csr_matrix<>& a, std::int64_t columns) {
  return {a, random_values(a.columns * columns, 9),
          std::vector<float>(static_cast<std::size_t>(a.rows * columns), 99.0f)};
}

void check_close(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t n = 0; n < a.size(); ++n) CHECK(a[n] == doctest::Approx(b[n]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("spmm walks rows in blocks around columns") {
  const patterns::csr_matrix<> a = patterns::random_matrix(4, 6, 0.4, 1);
  const ir::sparse_function f = stage_one(spmm, a, {{"N", 8}});
  const std::string n = std::to_string(a.nonzeros());
  CHECK(ir::print(f) ==
        "# from tvm.script import tir as T\n\n@T.prim_func\n"
        "def spmm(A_indptr: T.Buffer((5,), \"int32\"), A_indices: T.Buffer((" +
            n + ",), \"int32\"), A: T.Buffer((" + n +
            ",), \"float32\"), B: T.Buffer((6, 8), \"float32\"), C: T.Buffer((4, 8), "
            "\"float32\")):\n"
            "    A_rows = T.dense_fixed(4)\n"
            "    A_columns = T.sparse_variable(A_rows, (6, " +
            n +
            "), (A_indptr, A_indices))\n"
            "    C_vj = T.dense_fixed(8)\n"
            "    A_1 = T.match_sparse_buffer(A, (A_rows, A_columns))\n"
            "    with T.sp_iter([A_rows, A_columns, C_vj], \"SRS\", \"C\") as [vi, vk, vj]:\n"
            "        with T.init():\n"
            "            C[vi, vj] = T.float32(0.0)\n"
            "        C[vi, vj] = C[vi, vj] + A_1[vi, vk] * B[vk, vj]\n");
  const ir::function g = sparse::lower(f);
  CHECK(ir::print(g).find("for i in range(4):\n        with T.block(\"C_o\"):\n            vi = "
                          "T.axis.spatial(4, i)\n") != std::string::npos);
  CHECK(ir::print(g).find("for k, j in T.grid(T.max(A_indptr[vi + 1] - A_indptr[vi], 1), 8):") !=
        std::string::npos);
  ir::verify(f);
  ir::verify(g);
}

TEST_CASE("stage I, lowered blocks and machine code agree, and with the dense product") {
  for (const patterns::csr_matrix<>& a : patterns::many()) {
    CAPTURE(a.name);
    for (const std::int64_t columns : {1, 5, 16}) {
      if (a.nonzeros() == 0) continue;
      const ir::sparse_function f = stage_one(spmm, a, {{"N", columns}});
      ir::verify(f);
      const ir::function g = sparse::lower(f);
      ir::verify(g);
      call_data oracle = data_for(a, columns), blocks = oracle, code = oracle;
      ir::interpret(f, oracle.views());
      ir::interpret(g, blocks.views());
      run_compiled(g, code.views());
      CHECK(oracle.result == blocks.result);
      ir::point_evaluator points(g, oracle.views());
      check_close(oracle.result, code.result);
      const std::vector<double> dense = a.dense();
      for (std::int64_t r = 0; r < a.rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
          double sum = 0;
          for (std::int64_t q = 0; q < a.columns; ++q)
            sum += dense[static_cast<std::size_t>(r * a.columns + q)] *
                   static_cast<double>(oracle.operand[static_cast<std::size_t>(q * columns + c)]);
          CHECK(static_cast<double>(oracle.result[static_cast<std::size_t>(r * columns + c)]) ==
                doctest::Approx(sum).epsilon(1e-4));
          const auto point = points.value(4, {r, c});
          REQUIRE(point);
          CHECK(point->value == doctest::Approx(sum).epsilon(1e-12));
          CHECK(point->decided);
        }
    }
  }
}

TEST_CASE("a reduction inside an expression is an iteration of its own") {
  for (const patterns::csr_matrix<>& a : patterns::many()) {
    if (a.nonzeros() == 0) continue;
    const ir::sparse_function f = stage_one(spmv, a, {});
    REQUIRE(f.body.size() == 2);
    CHECK(std::holds_alternative<ir::sparse_iteration>(f.body[0]));
    CHECK(std::holds_alternative<ir::stmt>(f.body[1]));
    call_data oracle = data_for(a, 1), code = oracle;
    ir::interpret(f, oracle.views());
    run_compiled(sparse::lower(f), code.views());
    check_close(oracle.result, code.result);
  }
}

TEST_CASE("what is not stored is not touched: no NaN comes from a column that no row has") {
  patterns::csr_matrix<> a;
  std::mt19937 random(1);
  a.columns = 3;
  a.add_row({0, 2}, random);
  a.add_row({}, random);
  a.add_row({2}, random);
  const ir::sparse_function f = stage_one(spmm, a, {{"N", 4}});
  call_data oracle = data_for(a, 4), code = oracle;
  for (std::size_t c = 0; c < 4; ++c)
    oracle.operand[4 + c] = code.operand[4 + c] = std::numeric_limits<float>::quiet_NaN();
  ir::interpret(f, oracle.views());
  run_compiled(sparse::lower(f), code.views());
  for (std::size_t n = 0; n < 12; ++n) {
    CHECK(code.result[n] == doctest::Approx(oracle.result[n]));
    CHECK_FALSE(std::isnan(code.result[n]));
    if (n / 4 == 1) CHECK(code.result[n] == 0.0f);
  }
}

TEST_CASE("coordinates that occur twice count twice") {
  patterns::csr_matrix<> a;
  std::mt19937 random(1);
  a.columns = 2;
  a.add_row({1, 1}, random);
  const ir::sparse_function f = stage_one(spmm, a, {{"N", 1}});
  call_data oracle = data_for(a, 1), code = oracle;
  ir::interpret(f, oracle.views());
  run_compiled(sparse::lower(f), code.views());
  CHECK(oracle.result[0] == doctest::Approx((a.values[0] + a.values[1]) * oracle.operand[1]));
  check_close(oracle.result, code.result);
}

TEST_CASE("programs that have no lowering are refused by iteration and requirement") {
  const auto refusal = [](const char* body, const char* more = "") {
    const std::string text =
        std::string(
            "@T.prim_func\n"
            "def f(p: T.Buffer((4,), \"int32\"), q: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), "
            "\"float32\"), y: T.Buffer((3,), \"float32\")):\n"
            "    I = T.dense_fixed(3)\n"
            "    K = T.sparse_variable(I, (3, 5), (p, q)") +
        more +
        ")\n"
        "    J = T.dense_fixed(3)\n"
        "    L = T.dense_fixed(3)\n"
        "    A = T.match_sparse_buffer(a, (I, K))\n" +
        body;
    try {
      sparse::lower(ir::parse_sparse(text));
      return std::string();
    } catch (const argument_error& e) {
      return std::string(e.what());
    }
  };
  CHECK(refusal("    with T.sp_iter([I, K], \"SR\", \"s\") as [i, k]:\n"
                "        with T.init():\n"
                "            y[i] = T.float32(0)\n"
                "        y[i] = y[i] + A[k, i]\n",
                ", sorted=False") ==
        "lower: iteration \"s\" reads \"a\" elsewhere than at the variables of its axes, which are "
        "no "
        "compressed rows (requirement 2)");
  CHECK(
      refusal("    with T.sp_iter([I, T.intersect(J), T.unite(L)], \"SRR\", \"s\") as [i, j, l]:\n"
              "        with T.init():\n"
              "            y[i] = T.float32(0)\n"
              "        y[i] = y[i] + A[i, j] * A[i, l]\n") ==
      "lower: iteration \"s\" merges two axes (requirement 4)");
  CHECK(refusal("    with T.sp_iter([I, T.intersect(J)], \"SR\", \"s\") as [i, j]:\n"
                "        with T.init():\n"
                "            y[i] = T.float32(0)\n"
                "        y[i] = y[i] + A[i, j] * A[j, j]\n") ==
        "lower: iteration \"s\" reads \"a\" in a row that changes along the axis (requirement 4)");
  CHECK(refusal("    with T.sp_iter([I, K], \"SS\", \"s\") as [i, k]:\n"
                "        A[k, i] = T.float32(0)\n") ==
        "lower: iteration \"s\" writes \"a\" elsewhere than at the variables of its axes "
        "(requirement 2)");
  CHECK(refusal("    with T.sp_iter([I, K], \"RR\", \"s\") as [i, k]:\n"
                "        with T.init():\n"
                "            y[0] = T.float32(0)\n"
                "        y[0] = y[0] + A[i, k]\n") ==
        "lower: iteration \"s\" does not begin with the parent of axis \"K\", as spatial "
        "(requirement 1)");
  CHECK(refusal("    with T.sp_iter([I, K], \"SR\", \"s\") as [i, k]:\n"
                "        with T.init():\n"
                "            y[i] = T.float32(0)\n"
                "        y[i] = A[i, k]\n") ==
        "lower: iteration \"s\" does not combine its result with one value (requirement 3)");
}
