// Loops whose iterations have a buffer each.
#include <doctest/doctest.h>

#include <tilewright/ir/analysis/private_buffers.hpp>
#include <tilewright/ir/text/parse.hpp>

using namespace tilewright;

namespace {

/// The names of the loops around all accesses to the buffer, with a blank behind each.
std::string around(const ir::function& f, std::string_view buffer) {
  ir::buffer found;
  const auto look = [&](const ir::buffer& b) {
    if (b && b->name == buffer) found = b;
  };
  ir::for_each_expr(f.body, [&](const ir::expr& e) { look(e->buffer); });
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    if (const ir::store_node* store = ir::as_store(s)) look(store->buffer);
  });
  REQUIRE(found);
  ir::private_buffers own(f.body);
  std::string out;
  for (const ir::loop_node* l : own.loops_around(found)) {
    CHECK(own.within(*l, found));
    out += l->var->name + " ";
  }
  return out;
}

}  // namespace

TEST_CASE("private_buffers: the loops around all accesses to what a block allocates") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), N: T.Buffer((4,), "int32"), D: T.Buffer((4, 8), "int32")):
    B = T.alloc_buffer((8,), "int32")
    C = T.alloc_buffer((8,), "int32")
    L = T.alloc_buffer((4,), "int32")
    for i in T.parallel(4):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vj] = A[vi, vj] * 2
        for j in range(8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vj] = B[vj] + 1
                L[vi] = vj
    for i in range(4):
        for j in range(L[i]):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vj] + N[vi]
)");
  CHECK(around(f, "B") == "i ");
  CHECK(around(f, "C") == "");  // read outside
  CHECK(around(f, "L") == "");  // read by the bound of a loop
  CHECK(around(f, "A") == "");  // a parameter is the caller's, too
  CHECK(around(f, "N") == "");
}

TEST_CASE("private_buffers: wherever a buffer is allocated, and through views of it") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), D: T.Buffer((4, 8), "int32")):
    B = T.alloc_buffer((8,), "int32")
    C = T.alloc_buffer((8,), "int32")
    for i in T.vectorized(4):
        with T.block("O"):
            vo = T.axis.spatial(4, i)
            T.reads(A[vo, 0:8])
            T.writes(D[vo, 0:8], B[0:8])
            for j in range(8):
                with T.block("B"):
                    vj = T.axis.spatial(8, j)
                    B[vj] = A[vo, vj]
            for j in range(8):
                with T.block("D"):
                    vj = T.axis.spatial(8, j)
                    D[vo, vj] = B[vj]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = vi
    for k in range(4):
        with T.block("V"):
            vk = T.axis.spatial(4, k)
            T.reads(C[0:8])
            T.writes(D[vk, 0:8])
            W = T.match_buffer(C[0:8], (8,), "int32")
            for j in range(8):
                D[vk, j] = W[j]
)");
  CHECK(around(f, "B") == "i ");
  CHECK(around(f, "C") == "");
  CHECK(around(f, "W") == "");  // a view has what is seen through it
}
