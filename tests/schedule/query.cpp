#include <tilewright/schedule/primitive/query.hpp>

#include <string>

#include <tilewright/ir/text/parse.hpp>

#include "check_schedule.hpp"
#include "programs.hpp"

using namespace tilewright;

TEST_CASE("get_block finds blocks by name, and needs exactly one") {
  const ir::function f = programs::matmul_relu(4, 6, 8);
  schedule s(f);
  CHECK(s.get(s.get_block("C")).block->name == "C");
  CHECK(s.get(s.block("root")).block->iters.empty());
  check_refusal(s, "get_block", 1, [&] { s.get_block("E"); });
  try {
    s.block("E");
    FAIL("no error");
  } catch (const schedule_error& e) {
    CHECK(std::string(e.what()).find("\"root\", \"C\", \"D\"") != std::string::npos);
  }
  check_schedule(s, f);
}

TEST_CASE("get_block finds blocks by their place where none has such a name") {
  const ir::function f = programs::matmul_relu(4, 6, 8);
  schedule s(f);
  CHECK(s.get(s.get_block("#0")).block->name == "root");
  CHECK(s.get(s.get_block("#1")).block->name == "C");
  CHECK(s.get(s.get_block("#2")).block->name == "D");
  for (const char* none : {"#3", "#", "#-1", "#1 ", "# 1", "#18446744073709551616", "1"})
    check_refusal(s, "get_block", 1, [&] { s.get_block(none); });
  s.cache_write(s.block("C"), 0, "local");  // the place is that of the program as it is now
  CHECK(s.get(s.get_block("#2")).block->name != "D");
  CHECK(s.get(s.get_block("#3")).block->name == "D");
  check_schedule(s, f);
  std::string text = R"(@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("NAME"):
            v = T.axis.spatial(4, i)
            B[v] = A[v]
)";
  text.replace(text.find("NAME"), 4, "#0");
  const ir::function named = ir::parse(text);
  schedule own(named);
  CHECK(own.get(own.get_block("#0")).block->iters.size() == 1);  // a name comes first
}

TEST_CASE("get_loops: outermost first; none for the root") {
  const ir::function f = programs::matmul(4, 6, 8);
  schedule s(f);
  const std::vector<loop_rv> loops = s.get_loops(s.block("C"));
  REQUIRE(loops.size() == 3);
  CHECK(s.get(loops[0]).var->name == "i");
  CHECK(s.get(loops[2]).var->name == "k");
  CHECK(s.get_loops(s.block("root")).empty());
  CHECK_THROWS_AS(s.loops<2>(s.block("C")), argument_error);
  check_schedule(s, f);
}

TEST_CASE("get_child_blocks of a block and of a loop") {
  const ir::function f = programs::matmul_relu(4, 6, 8);
  schedule s(f);
  const std::vector<block_rv> children = s.get_child_blocks(s.block("root"));
  REQUIRE(children.size() == 2);
  CHECK(s.get(children[0]).block->name == "C");
  CHECK(s.get(children[1]).block->name == "D");
  const std::vector<block_rv> below = s.get_child_blocks(s.get_loops(children[1])[1]);
  REQUIRE(below.size() == 1);
  CHECK(s.get(below[0]).block->name == "D");
  CHECK(s.get_child_blocks(below[0]).empty());
  check_schedule(s, f);
}

TEST_CASE("producers come in the order of what the block reads") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")):
    A = T.alloc_buffer((8,), "int32")
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("Y_start"):
            vi = T.axis.spatial(8, i)
            Y[vi] = 1
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = X[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = X[vi] * 2
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = B[vi] + A[vi]
)"));
  std::string names;
  for (const block_rv b : s.get_producers(s.block("Y"))) names += s.get(b).block->name + " ";
  CHECK(names == "B A Y_start ");
}

TEST_CASE("producers, consumers, output blocks") {
  const ir::function f = programs::matmul_relu(4, 6, 8);
  schedule s(f);
  const block_rv c = s.block("C"), d = s.block("D");
  REQUIRE(s.get_producers(d).size() == 1);
  CHECK(s.get(s.get_producers(d)[0]).block->name == "C");
  REQUIRE(s.get_consumers(c).size() == 1);
  CHECK(s.get(s.get_consumers(c)[0]).block->name == "D");
  CHECK(s.get_producers(c).empty());
  CHECK(s.get_consumers(d).empty());
  const std::vector<block_rv> out = s.get_output_blocks(s.block("root"));
  REQUIRE(out.size() == 1);
  CHECK(s.get(out[0]).block->name == "D");
  check_schedule(s, f);
}
