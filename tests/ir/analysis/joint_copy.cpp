// Which threads make a copy jointly.
#include <tilewright/ir/analysis/joint_copy.hpp>

#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>

using namespace tilewright;

namespace {

/// The loops whose threads make the copy of the block "copy" jointly, with a blank behind each.
std::string joint_loops(const std::string& scope, const std::string& note,
                        const std::string& from = "global") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32", scope=")" +
                                   from + R"("), B: T.Buffer((8,), "int32")):
    S = T.alloc_buffer((8,), "int32", scope=")" +
                                   scope + R"(")
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for y in T.thread_binding(2, thread="threadIdx.y"):
            for x in T.thread_binding(2, thread="threadIdx.x"):
                for u in T.thread_binding(1, thread="threadIdx.z"):
                    for k in range(2):
                        with T.block("copy"):
                            T.reads(A[0:8])
                            T.writes(S[0:8])
)" + note + R"(                            for i in range(8):
                                S[i] = A[i]
)");
  std::vector<const ir::loop_node*> loops;
  const ir::block_node* copy = nullptr;
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    if (ir::as_loop(s) && !copy) loops.push_back(ir::as_loop(s));
    if (ir::as_realize(s) && ir::as_realize(s)->block->name == "copy")
      copy = ir::as_realize(s)->block.get();
  });
  REQUIRE(copy);
  std::string out;
  for (const ir::loop_node* l : loops)
    if (ir::copies_jointly(*copy, *l)) out += l->var->name + " ";
  return out;
}

}  // namespace

TEST_CASE("joint_copy: threads that share the memory, where the block says that it is a copy") {
  const std::string note = "                            T.block_attr({\"auto_copy\": 1})\n";
  CHECK(joint_loops("shared", note) == "y x ");
  CHECK(joint_loops("warp", note) == "x ");
  CHECK(joint_loops("local", note) == "");
  CHECK(joint_loops("global", note) == "");  // nothing makes threads wait there
  CHECK(joint_loops("shared", "") == "");
}

TEST_CASE("joint_copy: each warp fills and empties the fragments that it has for itself") {
  const std::string note = "                            T.block_attr({\"auto_copy\": 1})\n";
  CHECK(joint_loops("wmma.matrix_a", note, "shared.dyn") == "");
  CHECK(joint_loops("shared", note, "local") == "");
  CHECK(joint_loops("shared", note, "wmma.accumulator") == "");
  CHECK(joint_loops("warp", note, "shared") == "x ");
  CHECK(joint_loops("global", note, "shared") == "y x ");
  CHECK(joint_loops("shared", note, "shared.dyn") == "y x ");
}
