// Programs of SparseTIR's own tests (ASPLOS 23; tests/python/sparsetir), with results that are known: each is
// what it prints, and gives them by the interpreter, lowered and compiled.
#include <tilewright/sparse/lower.hpp>

#include <doctest/doctest.h>

#include <string>
#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>
#include <vector>

using namespace tilewright;

namespace {

const std::string head = "# from tvm.script import tir as T\n\n@T.prim_func\n";

// row 0: columns 1 and 3, row 1: nothing, row 2: columns 0, 2 and 3
std::vector<std::int32_t> offsets{0, 2, 2, 5}, indices{1, 3, 0, 2, 3};
std::vector<float> values{1, 2, 3, 4, 5};

const std::string csr_params =
    "p: T.Buffer((4,), \"int32\"), q: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), \"float32\"), ";
const std::string csr_axes =
    "    I = T.dense_fixed(3)\n"
    "    J = T.sparse_variable(I, (4, 5), (p, q))\n";
const std::string csr_a = "    a_1 = T.match_sparse_buffer(a, (I, J))\n";

/// Arrays of a program before its result.
struct arrays {
  std::vector<void*> data{offsets.data(), indices.data(), values.data()};
  template <class... V>
  arrays& with(V&... more) {
    (data.push_back(more.data()), ...);
    return *this;
  }
};

void check_close(const std::vector<float>& got, const std::vector<float>& golden) {
  for (std::size_t n = 0; n < golden.size(); ++n) CHECK(got[n] == doctest::Approx(golden[n]));
}

void check_text(const std::string& text) {
  CAPTURE(text);
  const ir::sparse_function f = ir::parse_sparse(text);
  CHECK(ir::print(f) == text);
  ir::verify(f);
}

/// @param before arrays of all parameters but the last one, which is the result
void check(const std::string& text, const arrays& before, const std::vector<float>& golden) {
  check_text(text);
  CAPTURE(text);
  const ir::sparse_function f = ir::parse_sparse(text);
  const ir::function lowered = sparse::lower(f);
  const target::cpu host = target::host();
  for (const int way : {0, 1, 2}) {
    CAPTURE(way);
    std::vector<float> result(golden.size(), 99);
    std::vector<void*> data = before.data;
    data.push_back(result.data());
    std::vector<ir::tensor_view> views;
    for (void* d : data) views.push_back({d, {}});
    if (way == 0) {
      ir::interpret(f, views);
    } else if (way == 1) {
      ir::interpret(lowered, views);
    } else if (backend::compiler_available()) {
      const auto code = backend::load(backend::compile(pass::lower(lowered, host), host));
      std::vector<std::byte> workspace(static_cast<std::size_t>(code->workspace_bytes()) + 64);
      auto* start = reinterpret_cast<std::byte*>(
          (reinterpret_cast<std::uintptr_t>(workspace.data()) + 63) / 64 * 64);
      const backend::call c{data.data(), nullptr, start, nullptr, nullptr, nullptr};
      CHECK(code->entry()(&c) == backend::call_done);
    } else {
      continue;
    }
    check_close(result, golden);
  }
}

/// What lowering refuses: it is what it prints, and the interpreter gives its results.
void check_refused(const std::string& text, const arrays& before, const std::vector<float>& golden,
                   const char* refusal) {
  check_text(text);
  CAPTURE(text);
  const ir::sparse_function f = ir::parse_sparse(text);
  std::vector<float> result(golden.size(), 0);
  std::vector<ir::tensor_view> views;
  for (void* d : before.data) views.push_back({d, {}});
  views.push_back({result.data(), {}});
  ir::interpret(f, views);
  check_close(result, golden);
  CHECK_THROWS_WITH_AS(sparse::lower(f), refusal, argument_error);
}

std::vector<float> dense{1, 2, 3, 4, 5, 6, 7, 8};  // 4 x 2

}  // namespace

TEST_CASE("SparseTIR's csr_reduce and segment_reduce") {
  check(head + "def csr_reduce(" + csr_params + "b: T.Buffer((3,), \"float32\")):\n" + csr_axes +
            csr_a +
            "    with T.sp_iter([I, J], \"SR\", \"csr_reduce\") as [i, j]:\n"
            "        with T.init():\n"
            "            b[i] = T.float32(0.0)\n"
            "        b[i] = b[i] + a_1[i, j]\n",
        arrays(), {3, 0, 12});
  arrays ragged;
  ragged.data = {offsets.data(), values.data()};
  check(head +
            "def segment_reduce(p: T.Buffer((4,), \"int32\"), a: T.Buffer((5,), \"float32\"), b: "
            "T.Buffer((3,), \"float32\")):\n"
            "    I = T.dense_fixed(3)\n"
            "    V = T.dense_variable(I, (3, 5), p)\n"
            "    a_1 = T.match_sparse_buffer(a, (I, V))\n"
            "    with T.sp_iter([I, V], \"SR\", \"segment_reduce\") as [i, v]:\n"
            "        with T.init():\n"
            "            b[i] = T.float32(0.0)\n"
            "        b[i] = b[i] + a_1[i, v]\n",
        ragged, {3, 0, 12});
}

TEST_CASE("SparseTIR's csrmm, over what is stored and over all columns with look-ups") {
  const std::string declared = csr_params +
                               "x: T.Buffer((4, 2), \"float32\"), y: T.Buffer((3, 2), "
                               "\"float32\")):\n" +
                               csr_axes + "    K = T.dense_fixed(2)\n";
  const std::string body =
      "        with T.init():\n"
      "            y[i, k] = T.float32(0.0)\n"
      "        y[i, k] = y[i, k] + a_1[i, j] * x[j, k]\n";
  const std::vector<float> golden{17, 20, 0, 0, 58, 70};
  check(head + "def csrmm(" + declared + csr_a +
            "    with T.sp_iter([I, J, K], \"SRS\", \"csrmm\") as [i, j, k]:\n" + body,
        arrays().with(dense), golden);
  check(head + "def csrmm_dense_iter(" + declared + "    J_detach = T.dense_fixed(4)\n" + csr_a +
            "    with T.sp_iter([I, J_detach, K], \"SRS\", \"csrmm\") as [i, j, k]:\n" + body,
        arrays().with(dense), golden);
}

TEST_CASE("SparseTIR's csr_element_wise, sddmm and rgcn_homo") {
  check(head + "def csr_element_wise(" + csr_params + "b: T.Buffer((5,), \"float32\")):\n" +
            csr_axes + csr_a +
            "    b_1 = T.match_sparse_buffer(b, (I, J))\n"
            "    with T.sp_iter([I, J], \"SS\", \"csr_element_wise\") as [i, j]:\n"
            "        b_1[i, j] = a_1[i, j] * T.float32(2.5)\n",
        arrays(), {2.5f, 5, 7.5f, 10, 12.5f});
  std::vector<float> x{1, 1, 1, 1, 2, 1}, y{1, 2, 3, 4, 1, 0, 1, 0};  // 3 x 2, 2 x 4
  check(head + "def sddmm(" + csr_params +
            "x: T.Buffer((3, 2), \"float32\"), y: T.Buffer((2, 4), \"float32\"), s: T.Buffer((5,), "
            "\"float32\")):\n" +
            csr_axes + "    K = T.dense_fixed(2)\n" + csr_a +
            "    s_1 = T.match_sparse_buffer(s, (I, J))\n"
            "    with T.sp_iter([I, J, K], \"SSR\", \"sddmm\") as [i, j, k]:\n"
            "        with T.init():\n"
            "            s_1[i, j] = T.float32(0.0)\n"
            "        s_1[i, j] = s_1[i, j] + a_1[i, j] * x[i, k] * y[k, j]\n",
        arrays().with(x, y), {2, 8, 9, 28, 40});
  std::vector<std::int32_t> kinds{0, 1, 0, 1, 0};
  std::vector<float> weights{10, 1}, features{1, 2, 3, 4};
  check(head + "def rgcn_homo(" + csr_params +
            "e: T.Buffer((5,), \"int32\"), w: T.Buffer((2,), \"float32\"), x: T.Buffer((4,), "
            "\"float32\"), y: T.Buffer((3,), \"float32\")):\n" +
            csr_axes + csr_a +
            "    e_1 = T.match_sparse_buffer(e, (I, J))\n"
            "    with T.sp_iter([I, J], \"SR\", \"rgcn\") as [i, j]:\n"
            "        with T.init():\n"
            "            y[i] = T.float32(0.0)\n"
            "        y[i] = y[i] + a_1[i, j] * w[e_1[i, j]] * x[j]\n",
        arrays().with(kinds, weights, features), {28, 0, 242});
}

TEST_CASE("SparseTIR's ellmm and bsrmm") {
  std::vector<std::int32_t> columns{1, 3, 0, 2, 0, 3};
  std::vector<float> own{1, 2, 3, 4, 5, 6};
  arrays ell;
  ell.data = {columns.data(), own.data(), dense.data()};
  check(head +
            "def ellmm(q: T.Buffer((6,), \"int32\"), a: T.Buffer((6,), \"float32\"), x: "
            "T.Buffer((4, 2), \"float32\"), y: T.Buffer((3, 2), \"float32\")):\n"
            "    I = T.dense_fixed(3)\n"
            "    E = T.sparse_fixed(I, (4, 2), q)\n"
            "    K = T.dense_fixed(2)\n"
            "    a_1 = T.match_sparse_buffer(a, (I, E))\n"
            "    with T.sp_iter([I, E, K], \"SRS\", \"ellmm\") as [i, e, k]:\n"
            "        with T.init():\n"
            "            y[i, k] = T.float32(0.0)\n"
            "        y[i, k] = y[i, k] + a_1[i, e] * x[e, k]\n",
        ell, {17, 20, 23, 30, 47, 58});
  std::vector<std::int32_t> rows{0, 1, 3}, blocks{1, 0, 1};
  std::vector<float> elements{1, 2, 3, 4, 1, 0, 0, 1, 2, 0, 0, 2}, x{1, 2, 3, 4};
  arrays bsr;
  bsr.data = {rows.data(), blocks.data(), elements.data(), x.data()};
  check(head +
            "def bsrmm(p: T.Buffer((3,), \"int32\"), q: T.Buffer((3,), \"int32\"), a: "
            "T.Buffer((12,), \"float32\"), x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), "
            "\"float32\")):\n"
            "    I = T.dense_fixed(2)\n"
            "    J = T.sparse_variable(I, (2, 3), (p, q))\n"
            "    BI = T.dense_fixed(2, J)\n"
            "    BJ = T.dense_fixed(2, J)\n"
            "    a_1 = T.match_sparse_buffer(a, (I, J, BI, BJ))\n"
            "    with T.sp_iter([I, J, BI, BJ], \"SRSR\", \"bsrmm\") as [i, j, bi, bj]:\n"
            "        with T.init():\n"
            "            y[i * 2 + bi] = T.float32(0.0)\n"
            "        y[i * 2 + bi] = y[i * 2 + bi] + a_1[i, j, bi, bj] * x[j * 2 + bj]\n",
        bsr, {11, 25, 7, 10});
}

TEST_CASE("SparseTIR's sparse_softmax") {
  check(head + "def sparse_softmax(" + csr_params + "b: T.Buffer((5,), \"float32\")):\n" +
            csr_axes + csr_a +
            "    b_1 = T.match_sparse_buffer(b, (I, J))\n"
            "    e = T.alloc_sparse_buffer((I, J), \"float32\")\n"
            "    peak = T.alloc_buffer((3,), \"float32\")\n"
            "    total = T.alloc_buffer((3,), \"float32\")\n"
            "    with T.sp_iter([I, J], \"SR\", \"peak\") as [i, j]:\n"
            "        with T.init():\n"
            "            peak[i] = T.float32(-100.0)\n"
            "        peak[i] = T.max(peak[i], a_1[i, j])\n"
            "    with T.sp_iter([I, J], \"SS\", \"exponential\") as [i, j]:\n"
            "        e[i, j] = T.exp(a_1[i, j] - peak[i])\n"
            "    with T.sp_iter([I, J], \"SR\", \"total\") as [i, j]:\n"
            "        with T.init():\n"
            "            total[i] = T.float32(0.0)\n"
            "        total[i] = total[i] + e[i, j]\n"
            "    with T.sp_iter([I, J], \"SS\", \"softmax\") as [i, j]:\n"
            "        b_1[i, j] = e[i, j] / total[i]\n",
        arrays(), {0.26894142f, 0.73105858f, 0.09003057f, 0.24472847f, 0.66524096f});
}

TEST_CASE("SparseTIR's square_sum over three levels") {
  const std::string params =
      "p: T.Buffer((4,), \"int32\"), q: T.Buffer((3,), \"int32\"), r: T.Buffer((4,), \"int32\"), "
      "s: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), \"float32\"), b: T.Buffer((3,), "
      "\"float32\")):\n"
      "    I = T.dense_fixed(3)\n"
      "    J = T.sparse_variable(I, (4, 3), (p, q))\n"
      "    K = T.sparse_variable(J, (6, 5), (r, s))\n";
  // row 0: two fibres, row 1: none, row 2: one
  std::vector<std::int32_t> p{0, 2, 2, 3}, q{0, 3, 1}, r{0, 2, 3, 5}, s{1, 4, 0, 2, 5};
  arrays fibres;
  fibres.data = {p.data(), q.data(), r.data(), s.data(), values.data()};
  check(head + "def square_sum(" + params +
            "    a_1 = T.match_sparse_buffer(a, (I, J, K))\n"
            "    with T.sp_iter([I, J, K], \"SRR\", \"square_sum\") as [i, j, k]:\n"
            "        with T.init():\n"
            "            b[i] = T.float32(0.0)\n"
            "        b[i] = b[i] + a_1[i, j, k] * a_1[i, j, k]\n",
        fibres, {1 + 4 + 9, 0, 16 + 25});
  check(head + "def beside(" + params +
            "    L = T.sparse_variable(I, (4, 3), (p, q))\n"
            "    a_1 = T.match_sparse_buffer(a, (I, J, K))\n"
            "    with T.sp_iter([I, J, L], \"SRR\", \"beside\") as [i, j, l]:\n"
            "        with T.init():\n"
            "            b[i] = T.float32(0.0)\n"
            "        b[i] = b[i] + T.Cast(\"float32\", j * 10 + l)\n",
        fibres, {66, 0, 11});
  // two axes of the same extents, of which one is walked: elements of the other one are looked up
  check_refused(
      head +
          "def square_sum_two_K(p: T.Buffer((4,), \"int32\"), q: T.Buffer((3,), \"int32\"), r0: "
          "T.Buffer((4,), \"int32\"), s0: T.Buffer((5,), \"int32\"), r1: T.Buffer((4,), "
          "\"int32\"), s1: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), \"float32\"), b: "
          "T.Buffer((3,), \"float32\")):\n"
          "    I = T.dense_fixed(3)\n"
          "    J = T.sparse_variable(I, (4, 3), (p, q))\n"
          "    K0 = T.sparse_variable(J, (6, 5), (r0, s0))\n"
          "    K1 = T.sparse_variable(J, (6, 5), (r1, s1))\n"
          "    a_1 = T.match_sparse_buffer(a, (I, J, K0))\n"
          "    with T.sp_iter([I, J, K1], \"SRR\", \"square_sum\") as [i, j, k]:\n"
          "        with T.init():\n"
          "            b[i] = T.float32(0.0)\n"
          "        b[i] = b[i] + a_1[i, j, k] * a_1[i, j, k]\n",
      [&] {
        arrays two;
        two.data = {p.data(), q.data(), r.data(), s.data(), r.data(), s.data(), values.data()};
        return two;
      }(),
      {1 + 4 + 9, 0, 16 + 25},
      "lower: iteration \"square_sum\" reads \"a\" elsewhere than at the variables of its "
      "axes, which are no compressed rows (requirement 2)");
}

TEST_CASE("SparseTIR's hyper_gnn") {
  // nodes 0, 1, 2 belong to hyperedges as rows of A say; what is transposed lists the nodes of each
  std::vector<std::int32_t> p_t{0, 1, 2, 3, 5}, q_t{2, 0, 2, 0, 2};
  std::vector<float> x{1, 2, 3, 4, 5, 6};  // 3 x 2
  arrays graph;
  graph.data = {offsets.data(), indices.data(), p_t.data(), q_t.data(), x.data()};
  // node 0: edge 1 has node 0, edge 3 has nodes 0 and 2; node 2: edges 0, 2 and 3
  check(head +
            "def hyper_gnn(p: T.Buffer((4,), \"int32\"), q: T.Buffer((5,), \"int32\"), p_t: "
            "T.Buffer((5,), \"int32\"), q_t: T.Buffer((5,), \"int32\"), x: T.Buffer((3, 2), "
            "\"float32\"), y: T.Buffer((3, 2), \"float32\")):\n" +
            csr_axes +
            "    J_detach = T.dense_fixed(4)\n"
            "    I_T = T.sparse_variable(J_detach, (3, 5), (p_t, q_t))\n"
            "    F = T.dense_fixed(2)\n"
            "    with T.sp_iter([I, J, T.attach(I_T, J), F], \"SRRS\", \"hyper_gnn\") as [i, j, "
            "i_t, f]:\n"
            "        with T.init():\n"
            "            y[i, f] = T.float32(0.0)\n"
            "        y[i, f] = y[i, f] + x[i_t, f]\n",
        graph, {7, 10, 0, 0, 16, 20});
}

TEST_CASE("SparseTIR's fused_sddmm, fused_reduction_4d_2d and fused_reduction_4d_3d") {
  std::vector<float> x{1, 1, 1, 1, 2, 1}, y{1, 2, 3, 4, 1, 0, 1, 0};  // 3 x 2, 2 x 4
  check(head + "def fused_sddmm(" + csr_params +
            "x: T.Buffer((3, 2), \"float32\"), y: T.Buffer((2, 4), \"float32\"), s: T.Buffer((5,), "
            "\"float32\")):\n" +
            csr_axes + "    K = T.dense_fixed(2)\n" + csr_a +
            "    s_1 = T.match_sparse_buffer(s, (I, J))\n"
            "    with T.sp_iter([T.fuse(I, J), K], \"SSR\", \"sddmm\") as [i, j, k]:\n"
            "        with T.init():\n"
            "            s_1[i, j] = T.float32(0.0)\n"
            "        s_1[i, j] = s_1[i, j] + a_1[i, j] * x[i, k] * y[k, j]\n",
        arrays().with(x, y), {2, 8, 9, 28, 40});
  // row 0: elements 0 and 1, row 1: none, row 2: element 2; these have 1, 2 and 1 below them, these 2, 0, 1, 3
  std::vector<std::int32_t> p{0, 2, 2, 3}, q{0, 1, 3, 4}, r{0, 2, 2, 3, 6};
  std::vector<float> own{1, 2, 3, 4, 5, 6};
  arrays four;
  four.data = {p.data(), q.data(), r.data(), own.data()};
  const auto program = [](const std::string& name, const std::string& result,
                          const std::string& body) {
    return head + "def " + name +
           "(p: T.Buffer((4,), \"int32\"), q: T.Buffer((4,), \"int32\"), r: T.Buffer((5,), "
           "\"int32\"), x: T.Buffer((6,), \"float32\"), " +
           result +
           "    I = T.dense_fixed(3)\n"
           "    J = T.dense_variable(I, (4, 3), p)\n"
           "    K = T.dense_variable(J, (4, 4), q)\n"
           "    L = T.dense_variable(K, (4, 6), r)\n"
           "    x_1 = T.match_sparse_buffer(x, (I, J, K, L))\n" +
           body;
  };
  check(
      program("fused_reduction_4d_2d", "y: T.Buffer((3,), \"float32\")):\n",
              "    y_1 = T.match_sparse_buffer(y, (I, J))\n"
              "    with T.sp_iter([T.fuse(I, J), K, L], \"SSRR\", \"reduction\") as [i, j, k, l]:\n"
              "        with T.init():\n"
              "            y_1[i, j] = T.float32(0.0)\n"
              "        y_1[i, j] = y_1[i, j] + x_1[i, j, k, l]\n"),
      four, {3, 3, 15});
  check(
      program("fused_reduction_4d_3d", "y: T.Buffer((4,), \"float32\")):\n",
              "    y_1 = T.match_sparse_buffer(y, (I, J, K))\n"
              "    with T.sp_iter([T.fuse(I, J, K), L], \"SSSR\", \"reduction\") as [i, j, k, l]:\n"
              "        with T.init():\n"
              "            y_1[i, j, k] = T.float32(0.0)\n"
              "        y_1[i, j, k] = y_1[i, j, k] + x_1[i, j, k, l]\n"),
      four, {3, 0, 3, 15});
}

TEST_CASE("SparseTIR's rgcn_hetero") {
  // relation 0: node 0 has neighbours 1 and 2, node 2 has 0; relation 1: node 2 has 1
  std::vector<std::int32_t> p{0, 2, 3}, q{0, 2, 2}, r{0, 2, 3, 4}, s{1, 2, 0, 1};
  std::vector<float> a{1, 2, 3, 4}, w{1, 10, 2, 3}, x{1, 2, 3, 4, 5, 6};  // w: 2 x 1 x 2, x: 3 x 2
  arrays relations;
  relations.data = {p.data(), q.data(), r.data(), s.data(), a.data(), w.data(), x.data()};
  check(head +
            "def rgcn_hetero(p: T.Buffer((3,), \"int32\"), q: T.Buffer((3,), \"int32\"), r: "
            "T.Buffer((4,), \"int32\"), s: T.Buffer((4,), \"int32\"), a: T.Buffer((4,), "
            "\"float32\"), w: T.Buffer((2, 1, 2), \"float32\"), x: T.Buffer((3, 2), \"float32\"), "
            "y: T.Buffer((3, 1), \"float32\")):\n"
            "    R = T.dense_fixed(2)\n"
            "    I = T.sparse_variable(R, (3, 3), (p, q))\n"
            "    J = T.sparse_variable(I, (3, 4), (r, s))\n"
            "    O = T.dense_fixed(1)\n"
            "    N = T.dense_fixed(3)\n"
            "    K = T.dense_fixed(2)\n"
            "    a_1 = T.match_sparse_buffer(a, (R, I, J))\n"
            "    with T.sp_iter([N, O], \"SS\", \"zero\") as [n, o]:\n"
            "        y[n, o] = T.float32(0.0)\n"
            "    with T.sp_iter([O, R, I, J, K], \"SRRRR\", \"rgcn\") as [o, r_1, i, j, k]:\n"
            "        y[i, o] = y[i, o] + a_1[r_1, i, j] * w[r_1, o, k] * x[j, k]\n",
        relations, {1 * (3 + 40) + 2 * (5 + 60), 0, 3 * (1 + 20) + 4 * (2 * 3 + 3 * 4)});
}

TEST_CASE("SparseTIR's bmm, a ragged batch of ragged products") {
  // batch 0: 2 x 1 times 1 x 2, batch 1: 1 x 2 times 2 x 1
  std::vector<std::int32_t> p_i{0, 2, 3}, p_j{0, 1, 3}, p_k{0, 2, 3}, p_ij{0, 1, 2, 4},
      p_jk{0, 2, 3, 4}, p_ik{0, 2, 4, 5};
  std::vector<float> x{1, 2, 3, 4}, y{5, 6, 7, 8};
  arrays batch;
  batch.data = {p_i.data(),  p_j.data(),  p_k.data(), p_ij.data(),
                p_jk.data(), p_ik.data(), x.data(),   y.data()};
  const auto offsets_of = [](const std::string& name, int count) {
    return name + ": T.Buffer((" + std::to_string(count) + ",), \"int32\"), ";
  };
  const std::string program =
      head + "def bmm(" + offsets_of("p_i", 3) + offsets_of("p_j", 3) + offsets_of("p_k", 3) +
      offsets_of("p_ij", 4) + offsets_of("p_jk", 4) + offsets_of("p_ik", 4) +
      "x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), \"float32\"), z: T.Buffer((5,), "
      "\"float32\")):\n"
      "    B = T.dense_fixed(2)\n"
      "    I = T.dense_variable(B, (8, 3), p_i)\n"
      "    J = T.dense_variable(B, (8, 3), p_j)\n"
      "    K = T.dense_variable(B, (8, 3), p_k)\n"
      "    IJ = T.dense_variable(I, (8, 4), p_ij)\n"
      "    JK = T.dense_variable(J, (8, 4), p_jk)\n"
      "    IK = T.dense_variable(I, (8, 5), p_ik)\n"
      "    x_1 = T.match_sparse_buffer(x, (B, I, IJ))\n"
      "    y_1 = T.match_sparse_buffer(y, (B, J, JK))\n"
      "    z_1 = T.match_sparse_buffer(z, (B, I, IK))\n"
      "    with T.sp_iter([B, I, J, K], \"SSRS\", \"bmm\") as [b, i, j, k]:\n"
      "        with T.init():\n"
      "            z_1[b, i, k] = T.float32(0.0)\n"
      "        z_1[b, i, k] = z_1[b, i, k] + x_1[b, i, j] * y_1[b, j, k]\n";
  check(program, batch, {5, 6, 10, 12, 3 * 7 + 4 * 8});
  p_ij = {0, 1, 2, 3};  // what is beyond the end of a row is not stored, so that it is 0
  check(program, batch, {5, 6, 10, 12, 3 * 7});
  p_ik = {0, 2, 3, 4};  // nor is it written
  check(program, batch, {5, 6, 10, 3 * 7, 99});
}

TEST_CASE("SparseTIR's csr2bsr") {
  // 3 x 4 in blocks of 2: (0, 0), (0, 1) and (1, 0), (1, 1)
  std::vector<std::int32_t> p{0, 2, 4}, q{0, 1, 0, 1};
  arrays both;
  both.data = {offsets.data(), indices.data(), values.data(), p.data(), q.data()};
  check_refused(head + "def csr2bsr(" + csr_params +
                    "p_b: T.Buffer((3,), \"int32\"), q_b: T.Buffer((4,), \"int32\"), b: "
                    "T.Buffer((16,), \"float32\")):\n" +
                    csr_axes +
                    "    I_b = T.dense_fixed(2)\n"
                    "    J_b = T.sparse_variable(I_b, (2, 4), (p_b, q_b))\n"
                    "    BI = T.dense_fixed(2, J_b)\n"
                    "    BJ = T.dense_fixed(2, J_b)\n" +
                    csr_a +
                    "    b_1 = T.match_sparse_buffer(b, (I_b, J_b, BI, BJ))\n"
                    "    with T.sp_iter([I, J], \"SS\", \"csr2bsr\") as [i, j]:\n"
                    "        b_1[i // 2, j // 2, i % 2, j % 2] = a_1[i, j]\n",
                both, {0, 1, 0, 0, 0, 2, 0, 0, 3, 0, 0, 0, 4, 5, 0, 0},
                "lower: iteration \"csr2bsr\" writes \"b\" elsewhere than at the variables of its "
                "axes (requirement 2)");
}
