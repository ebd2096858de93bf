// Sparse programs on the way to a GPU: lowered with rows and columns bound to threads, they are printed, emulated, and
// compiled where NVRTC is found. The interpreter of the iterations says what they mean.
#include <tilewright/sparse/lower.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

#include "../cases.hpp"

using namespace tilewright;

namespace {

const std::string head = "# from tvm.script import tir as T\n\n@T.prim_func\n";

// row 0: columns 1 and 3, row 1: nothing, row 2: columns 0, 2 and 3
std::vector<std::int32_t> offsets{0, 2, 2, 5}, indices{1, 3, 0, 2, 3};
std::vector<float> values{1, 2, 3, 4, 5};
std::vector<float> dense{1, 2, 3, 4, 5, 6, 7, 8};  // 4 x 2, 2 x 4

const std::string csr_params =
    "p: T.Buffer((4,), \"int32\"), q: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), \"float32\"), ";
const std::string csr_axes =
    "    I = T.dense_fixed(3)\n"
    "    J = T.sparse_variable(I, (4, 5), (p, q))\n"
    "    a_1 = T.match_sparse_buffer(a, (I, J))\n";

template <class T>
harness::argument argument_of(const std::vector<T>& from, dtype type) {
  harness::argument out;
  out.type = type;
  out.bytes.resize(from.size() * sizeof(T));
  std::memcpy(out.bytes.data(), from.data(), out.bytes.size());
  return out;
}

constexpr int row_a_thread = -1, whole_rows = -2;

struct program {
  std::string text;
  std::vector<harness::argument> arguments;  // before the result
  std::size_t results;                       // elements
  std::string block;                         // inside of the one with _o behind its name
  int columns = row_a_thread;  // loop around that block whose iterations threads share
};

bool has_nvrtc() {
  try {
    cases::cu::nvrtc();
    return true;
  } catch (const build_error&) {
    return false;
  }
}

/// Rows over blocks, and columns over threads; without columns, rows over threads, or over blocks alone where what they
/// store row after row is not told apart.
void bind(schedule& s, const program& p) {
  const std::vector<loop_rv> rows = s.get_loops(s.get_block(p.block + "_o"));
  if (p.columns == whole_rows) {
    s.bind(rows[0], "blockIdx.x");
    return;
  }
  if (p.columns == row_a_thread) {
    const auto [blocks, threads] = s.split(rows[0], {infer, 2});
    s.bind(blocks, "blockIdx.x");
    s.bind(threads, "threadIdx.x");
    return;
  }
  s.bind(rows[0], "blockIdx.x");
  std::vector<loop_rv> loops = s.get_loops(s.get_block(p.block));
  REQUIRE(static_cast<std::size_t>(p.columns) < loops.size());
  const loop_rv columns = loops[static_cast<std::size_t>(p.columns)];
  loops.erase(loops.begin() + p.columns);
  loops.insert(loops.begin(), columns);
  s.reorder(loops);
  s.bind(columns, "threadIdx.x");
}

void check(const program& p) {
  CAPTURE(p.text);
  const ir::sparse_function f = ir::parse_sparse(p.text);
  std::vector<harness::argument> expected = p.arguments;
  expected.push_back(argument_of(std::vector<float>(p.results, 99), dtype::f32));
  const std::vector<harness::argument> given = expected;
  std::vector<ir::tensor_view> views;
  for (harness::argument& a : expected) views.push_back({a.bytes.data(), {}});
  ir::interpret(f, views);

  schedule s(sparse::lower(f));
  bind(s, p);
  const cases::cu::program printed =
      cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
  CAPTURE(printed.text);
  CHECK(printed.text.find("TW_BLOCK(x)") != std::string::npos);
  CHECK((printed.text.find("TW_THREAD(x)") != std::string::npos) == (p.columns != whole_rows));
  if (has_nvrtc()) CHECK_NOTHROW(cases::cu::compile(printed, cases::device()));
  if (!cases::have_emulator()) return;
  const cases::cu::emulator kernels(printed);
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    std::vector<harness::argument> got = given;
    std::vector<cases::cu::emulated_argument> arguments;
    for (harness::argument& a : got)
      arguments.push_back(
          {a.bytes.data(), static_cast<std::int64_t>(a.bytes.size()) / bytes(a.type)});
    kernels.run(arguments, {}, seed);
    CHECK(got.back().bytes == expected.back().bytes);
  }
}

std::vector<harness::argument> rows_with(const std::vector<std::vector<float>>& more) {
  std::vector<harness::argument> out{argument_of(offsets, dtype::i32),
                                     argument_of(indices, dtype::i32),
                                     argument_of(values, dtype::f32)};
  for (const std::vector<float>& each : more) out.push_back(argument_of(each, dtype::f32));
  return out;
}

}  // namespace

TEST_CASE("sparse: a product of rows with a matrix, a row a block and a column a thread") {
  check({head + "def product(" + csr_params +
             "x: T.Buffer((4, 2), \"float32\"), y: T.Buffer((3, 2), \"float32\")):\n" + csr_axes +
             "    K = T.dense_fixed(2)\n"
             "    with T.sp_iter([I, J, K], \"SRS\", \"y\") as [i, j, k]:\n"
             "        with T.init():\n"
             "            y[i, k] = T.float32(0.0)\n"
             "        y[i, k] = y[i, k] + a_1[i, j] * x[j, k]\n",
         rows_with({dense}), 6, "y", 1});
}

TEST_CASE("sparse: a product with a vector, a row a thread, and a sampled one, a row a block") {
  check({head + "def row_sums(" + csr_params +
             "x: T.Buffer((4,), \"float32\"), y: T.Buffer((3,), \"float32\")):\n" + csr_axes +
             "    with T.sp_iter([I, J], \"SR\", \"y\") as [i, j]:\n"
             "        with T.init():\n"
             "            y[i] = T.float32(0.0)\n"
             "        y[i] = y[i] + a_1[i, j] * x[j]\n",
         rows_with({{1, 10, 100, 1000}}), 3, "y"});
  check(
      {head + "def sampled(" + csr_params +
           "x: T.Buffer((3, 2), \"float32\"), y: T.Buffer((2, 4), \"float32\"), s: T.Buffer((5,), "
           "\"float32\")):\n" +
           csr_axes +
           "    K = T.dense_fixed(2)\n"
           "    s_1 = T.match_sparse_buffer(s, (I, J))\n"
           "    with T.sp_iter([I, J, K], \"SSR\", \"s\") as [i, j, k]:\n"
           "        with T.init():\n"
           "            s_1[i, j] = T.float32(0.0)\n"
           "        s_1[i, j] = s_1[i, j] + a_1[i, j] * x[i, k] * y[k, j]\n",
       rows_with({{1, 1, 1, 1, 2, 1}, dense}), 5, "s", whole_rows});
}

TEST_CASE("sparse: blocks, a row of blocks a block and a row in it a thread") {
  check({head + "def blocks(p: T.Buffer((3,), \"int32\"), q: T.Buffer((3,), \"int32\"), a: "
                "T.Buffer((12,), \"float32\"), x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), "
                "\"float32\")):\n"
                "    I = T.dense_fixed(2)\n"
                "    J = T.sparse_variable(I, (2, 3), (p, q))\n"
                "    BI = T.dense_fixed(2, J)\n"
                "    BJ = T.dense_fixed(2, J)\n"
                "    a_1 = T.match_sparse_buffer(a, (I, J, BI, BJ))\n"
                "    with T.sp_iter([I, J, BI, BJ], \"SRSR\", \"y\") as [i, j, bi, bj]:\n"
                "        with T.init():\n"
                "            y[i * 2 + bi] = T.float32(0.0)\n"
                "        y[i * 2 + bi] = y[i * 2 + bi] + a_1[i, j, bi, bj] * x[j * 2 + bj]\n",
         {argument_of(std::vector<std::int32_t>{0, 1, 3}, dtype::i32),
          argument_of(std::vector<std::int32_t>{1, 0, 1}, dtype::i32),
          argument_of(std::vector<float>{1, 2, 3, 4, 1, 0, 0, 1, 2, 0, 0, 2}, dtype::f32),
          argument_of(std::vector<float>{1, 2, 3, 4}, dtype::f32)},
         4,
         "y",
         1});
}

TEST_CASE("sparse: rows of another matrix that columns number") {
  check({head + "def attached(p: T.Buffer((4,), \"int32\"), q: T.Buffer((5,), \"int32\"), r: "
                "T.Buffer((5,), \"int32\"), t: T.Buffer((5,), \"int32\"), x: T.Buffer((3, 2), "
                "\"float32\"), y: T.Buffer((3, 2), \"float32\")):\n"
                "    I = T.dense_fixed(3)\n"
                "    J = T.sparse_variable(I, (4, 5), (p, q))\n"
                "    E = T.dense_fixed(4)\n"
                "    K = T.sparse_variable(E, (3, 5), (r, t))\n"
                "    F = T.dense_fixed(2)\n"
                "    with T.sp_iter([I, J, T.attach(K, J), F], \"SRRS\", \"y\") as [i, j, k, f]:\n"
                "        with T.init():\n"
                "            y[i, f] = T.float32(0.0)\n"
                "        y[i, f] = y[i, f] + x[k, f]\n",
         {argument_of(offsets, dtype::i32), argument_of(indices, dtype::i32),
          argument_of(std::vector<std::int32_t>{0, 1, 2, 3, 5}, dtype::i32),
          argument_of(std::vector<std::int32_t>{2, 0, 2, 0, 2}, dtype::i32),
          argument_of(std::vector<float>{1, 2, 10, 20, 100, 200}, dtype::f32)},
         6,
         "y"});
}
