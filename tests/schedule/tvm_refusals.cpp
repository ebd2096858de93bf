#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

#include <thread>

#include "script_schedule.hpp"

using namespace tilewright;

TEST_CASE("tvm_refusals: hold while the object lives, on its thread, and nest") {
  CHECK_FALSE(primitive::as_tvm());
  {
    const primitive::tvm_refusals outer;
    CHECK(primitive::as_tvm());
    {
      const primitive::tvm_refusals inner(false);
      CHECK_FALSE(primitive::as_tvm());
    }
    CHECK(primitive::as_tvm());
    bool other = true;
    std::thread([&] { other = primitive::as_tvm(); }).join();
    CHECK_FALSE(other);
  }
  CHECK_FALSE(primitive::as_tvm());
}

TEST_CASE("tvm_refusals: loops whose bounds depend on each other, consumers with a guard") {
  const ir::function triangle = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 8, 4), "float32"), B: T.Buffer((8, 8, 4), "float32")):
    for i, k in T.grid(8, 4):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vi, vj, vk] + T.float32(1)
)");
  const ir::function guarded = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(10):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.where(i < 8)
            C[vi] = B[vi] * T.float32(2)
)");
  const auto reorder = [&] {
    schedule s(triangle);
    const auto [i, k, j] = s.loops<3>(s.block("B"));
    s.reorder({k, i});
  };
  const auto inline_consumer = [&] {
    schedule s(guarded);
    s.reverse_compute_inline(s.block("C"));
  };
  reorder();
  inline_consumer();
  const primitive::tvm_refusals as_tvm;
  CHECK_THROWS_AS(reorder(), schedule_error);
  CHECK_THROWS_AS(inline_consumer(), schedule_error);
}

TEST_CASE("tvm_refusals: blocks that write disjoint parts of a buffer depend on each other") {
  const ir::function parts = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(4):
        with T.block("low"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(4):
        with T.block("high"):
            vi = T.axis.spatial(4, i)
            B[vi + 4] = A[vi + 4]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] * T.float32(2)
)");
  const auto move = [&] {
    schedule s(parts);
    s.compute_at(s.block("high"), s.loops<1>(s.block("C"))[0]);
  };
  const ir::function halves = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    for i in range(8):
        for j in range(4):
            with T.block("left"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj]
        for j in range(4):
            with T.block("right"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj + 4] = A[vi, vj + 4]
)");
  const auto run_at_once = [&] {
    schedule s(halves);
    s.parallel(s.get_loops(s.block("left"))[0]);
  };
  move();
  run_at_once();
  const primitive::tvm_refusals as_tvm;
  CHECK_THROWS_AS(move(), schedule_error);
  run_at_once();  // TVM accepts that
}

TEST_CASE("tvm_refusals: blockize over a guard with a loop of one iteration") {
  const auto loops = [](const char* extents, const char* value, const char* guard) {
    const ir::function f =
        program_of(R"(
@T.prim_func
def main(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
    for i_0, i_1 in T.grid(<extents>):
        with T.block("B"):
            vi = T.axis.spatial(10, <value>)
            T.where(<guard> < 10)
            B[vi] = A[vi] + 1
)",
                   {{"<extents>", extents}, {"<value>", value}, {"<guard>", guard}});
    std::string out;
    for (const bool wanted : {false, true})
      for (const std::size_t at : {0u, 1u})
        for (const bool units : {false, true}) {
          const primitive::tvm_refusals as_tvm(wanted);
          schedule s(f);
          try {
            s.blockize(s.get_loops(s.block("B"))[at], units);
            out += '+';
          } catch (const schedule_error&) {
            out += '-';
          }
        }
    return out;
  };
  // from i_0 and from i_1, each without unit iterators and with them; then the same as TVM
  CHECK(loops("1, 11", "i_0 * 11 + i_1", "i_0 * 11 + i_1") == "+++++++-");
  CHECK(loops("1, 11", "i_1", "i_0 * 11 + i_1") == "+++++-+-");
  CHECK(loops("11, 1", "i_0 + i_1", "i_0 + i_1") == "+++++++-");
  CHECK(loops("11, 1", "i_0", "i_0 + i_1") == "++++++++");  // not its last digit
}
