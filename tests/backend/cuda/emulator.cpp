#include <tilewright/backend/cuda/emulator.hpp>

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "cases.hpp"

using namespace tilewright;

namespace {

/// What the emulator says of a kernel whose text has `from` replaced by `to`.
std::string complaint(const ir::function& f, const std::string& from, const std::string& to) {
  cases::cu::program p = cases::cu::print(pass::lower(f, cases::device()), cases::device());
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

TEST_CASE("elementwise kernels compute what the interpreter computes") {
  cases::check_emulated(cases::exponential(), 1e-6);
  cases::check_emulated(cases::two_kernels());
}

TEST_CASE("a kernel that leaves its buffer is stopped, and the text says where") {
  if (!cases::have_emulator()) return;
  const std::string what = complaint(cases::exponential(), "< 100", "< 101");
  CHECK_MESSAGE(what.find("A[100] out of bounds, the buffer has 100 elements") != std::string::npos,
                what);
  CHECK_MESSAGE(what.find("in block (3, 0, 0) thread (4, 0, 0)") != std::string::npos, what);
}

TEST_CASE("two threads or blocks that write other values to one element are found") {
  if (!cases::have_emulator()) return;
  const std::string threads = complaint(cases::exponential(), "tx, tw_exp", "tx / 2, tw_exp");
  CHECK_MESSAGE(threads.find("without a barrier between") != std::string::npos, threads);
  const std::string blocks = complaint(cases::exponential(), "bx * 32 + tx, tw_exp", "tx, tw_exp");
  CHECK_MESSAGE(blocks.find("another block writes") != std::string::npos, blocks);
}

TEST_CASE("memory that nothing wrote cannot be read") {
  if (!cases::have_emulator()) return;
  const std::string what = complaint(cases::two_kernels(), "tw_store(B", "if (tx != 5) tw_store(B");
  CHECK_MESSAGE(what.find("which nothing wrote") != std::string::npos, what);
}

TEST_CASE("vector accesses lie at multiples of their width") {
  if (!cases::have_emulator()) return;
  const std::string what =
      complaint(cases::two_kernels(), "tw_load_vector<4>(A, ", "tw_load_vector<4>(A, 1 + ");
  CHECK_MESSAGE(what.find("which is no multiple of 16 bytes") != std::string::npos, what);
}

TEST_CASE("a barrier that not all threads reach ends the run") {
  if (!cases::have_emulator()) return;
  const std::string what =
      complaint(cases::exponential(), "tw_store(B", "if (tx != 5) tw_barrier(); tw_store(B");
  CHECK_MESSAGE(what.find("31 of 32 threads wait at a barrier") != std::string::npos, what);
}

TEST_CASE("text that no compiler takes is a build_error with what the compiler says") {
  if (!cases::have_emulator()) return;
  cases::cu::program p;
  p.text = "void broken( {";
  CHECK_THROWS_WITH_AS(cases::cu::emulator{p}, doctest::Contains("kernels.cpp"), build_error);
  setenv("TILEWRIGHT_CXX", "/nonexistent/c++", 1);
  CHECK_THROWS_WITH_AS(cases::cu::emulator{p}, doctest::Contains("/nonexistent/c++"), build_error);
  unsetenv("TILEWRIGHT_CXX");
}

TEST_CASE("shared memory that a schedule asks to be swizzled, in vectors and one by one") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((32, 64), "float32"), B: T.Buffer((64, 32), "float32")):
    S = T.alloc_buffer((32, 64), "float32", scope="shared.swizzled")
    for i in T.thread_binding(1, thread="blockIdx.x"):
        for r in T.thread_binding(32, thread="threadIdx.x"):
            for c_0 in range(16):
                for c_1 in T.vectorized(4):
                    with T.block("S"):
                        vr = T.axis.spatial(32, r)
                        vc = T.axis.spatial(64, c_0 * 4 + c_1)
                        S[vr, vc] = A[vr, vc]
        for c in T.thread_binding(32, thread="threadIdx.x"):
            for d, r in T.grid(2, 32):
                with T.block("B"):
                    vc = T.axis.spatial(64, d * 32 + c)
                    vr = T.axis.spatial(32, r)
                    B[vc, vr] = S[vr, vc] * T.float32(3)
)");
  const cases::cu::program p = cases::cu::print(pass::lower(f, cases::device()), cases::device());
  INFO(p.text);
  CHECK(p.text.find("tw_bitwise_xor<int>(") != p.text.npos);
  CHECK(p.text.find("tw_store_vector(S") != p.text.npos);  // pieces stay whole
  cases::check_emulated(f);
}
