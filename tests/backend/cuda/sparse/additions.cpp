// Results that blocks of threads add to at once: memory makes the additions, one step each.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>
#include <vector>

#include "../cases.hpp"

using namespace tilewright;

namespace {

/// Sums along the rows of a matrix.
ir::function row_sums(const std::string& type, int rows, int columns) {
  const std::string m = std::to_string(rows), n = std::to_string(columns);
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + m + ", " + n + "), \"" + type +
                   "\"), C: T.Buffer((" + m + ",), \"" + type + "\")):\n    for i, k in T.grid(" +
                   m + ", " + n +
                   "):\n"
                   "        with T.block(\"C\"):\n"
                   "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                   "            with T.init():\n"
                   "                C[vi] = T." +
                   type + "(0)\n            C[vi] = C[vi] + A[vi, vk]\n");
}

/// Parts of each row to blocks of threads, and their elements to threads where `inside` is more than one.
ir::function shared_rows(const ir::function& f, int parts, int inside) {
  schedule s(f);
  const block_rv sums = s.get_block("C");
  s.decompose_reduction(sums, s.get_loops(sums)[0]);
  s.add_atomically(sums);
  const std::vector<loop_rv> loops = s.get_loops(sums);
  const auto [part, rest] = s.split(loops[1], {parts, infer});
  s.reorder({part, loops[0], rest});
  s.bind(part, "blockIdx.y");
  s.bind(loops[0], "blockIdx.x");
  if (inside > 1) {
    const auto [outer, inner] = s.split(rest, {infer, inside});
    (void)outer;
    s.bind(inner, "threadIdx.x");
  }
  return s.function();
}

cases::cu::program printed(const ir::function& f) {
  return cases::cu::print(pass::lower(f, cases::device()), cases::device());
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++out;
  return out;
}

void check_compiled(const cases::cu::program& p) {
  if (!cases::have_nvrtc()) return;
  const cases::cu::compiled c = cases::cu::compile(p, cases::device());
  for (const backend::launch& l : c.artifact.launches)
    CHECK(cases::cu::why_rejected(l, c.report, cases::device(), {0, 0, false}) == "");
}

/// What the emulator says of a program whose text has `from` replaced by `to`.
std::string complaint(const ir::function& f, const std::string& from, const std::string& to) {
  cases::cu::program p = printed(f);
  const std::size_t at = p.text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, p.text);
  p.text.replace(at, from.size(), to);
  try {
    cases::emulated(cases::cu::emulator(p), f, 1);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("additions: blocks of threads share a row, each adds once what it has summed") {
  for (const char* type : {"float32", "float64", "int32", "int64", "float16"}) {
    CAPTURE(type);
    const ir::function f = row_sums(type, 5, 48);
    const ir::function shared = shared_rows(f, 4, 1);
    const cases::cu::program p = printed(shared);
    CAPTURE(p.text);
    CHECK(p.kernels.size() == 2);  // zeros, then sums
    CHECK(count(p.text, "tw_atomic_add(") == 1);
    CHECK(p.text.find("C_sum") < p.text.find("tw_atomic_add("));  // in a register before
    cases::check_emulated(shared, f, 1e-2);
    check_compiled(p);
  }
}

TEST_CASE("additions: threads of a block add, too") {
  const ir::function f = row_sums("float32", 3, 64);
  const ir::function shared = shared_rows(f, 2, 8);
  CHECK(count(printed(shared).text, "tw_barrier") == 0);
  cases::check_emulated(shared, f, 1e-5);
}

TEST_CASE("additions: any split of any sum is what the interpreter says") {
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int run = 0; run < 12; ++run) {
    const ir::function f = row_sums(run % 2 ? "int32" : "float32", 1 + below(7), 1 + below(60));
    const ir::function shared = shared_rows(f, 1 + below(7), 1 + below(3) * 8);
    CAPTURE(run);
    cases::check_emulated(shared, f, 1e-5);
    std::vector<harness::argument> memory = harness::make_arguments(shared, {});
    std::vector<ir::tensor_view> views;
    for (harness::argument& a : memory) views.push_back({a.bytes.data(), a.strides});
    ir::interpret_options how;
    how.check_races = true;
    ir::interpret(shared, views, how);
    cases::check_equal(memory, cases::interpreted(f), 1e-5);
  }
}

TEST_CASE(
    "additions: a plain sum in place of an atomic one is found, and so is what stands beside") {
  if (!cases::have_emulator()) return;
  const ir::function shared = shared_rows(row_sums("float32", 5, 48), 4, 1);
  const std::string plain =
      complaint(shared, "tw_atomic_add(C, bx, C_sum[0])", "tw_store(C, bx, C[bx] + C_sum[0])");
  CHECK_MESSAGE(plain.find("another block") != std::string::npos, plain);
  const std::string reads = complaint(shared, "tw_atomic_add(C, bx, C_sum[0])",
                                      "tw_atomic_add(C, bx, C_sum[0] + 0.0f * C[0])");
  CHECK_MESSAGE(reads.find("another block") != std::string::npos, reads);
  const ir::function threads = shared_rows(row_sums("float32", 3, 64), 1, 8);
  const std::string stores =
      complaint(threads, "tw_atomic_add(C, bx, C_sum[0])",
                "if (tx == 0) tw_store(C, bx, C_sum[0]); else tw_atomic_add(C, bx, C_sum[0])");
  CHECK_MESSAGE(stores.find("without a barrier between") != std::string::npos, stores);
}

TEST_CASE("additions: what initializes a result in the same nest is refused") {
  schedule s(row_sums("float32", 5, 48));
  const block_rv sums = s.get_block("C");
  const std::vector<loop_rv> loops = s.get_loops(sums);
  s.bind(loops[0], "blockIdx.x");
  s.decompose_reduction(sums, loops[1]);
  s.add_atomically(sums);
  const loop_rv along = s.get_loops(sums)[1];
  CHECK_THROWS_WITH_AS(s.bind(along, "blockIdx.y"), doctest::Contains("requirement 5"),
                       schedule_error);
  s.bind(along, "threadIdx.x");  // threads of a block wait for each other
  CHECK(count(printed(s.function()).text, "tw_barrier();") == 1);
  cases::check_emulated(s.function(), row_sums("float32", 5, 48), 1e-5);
}
