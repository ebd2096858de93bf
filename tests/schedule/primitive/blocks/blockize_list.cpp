// Regions of a block made of several.
#include <tilewright/schedule/primitive/blocks/blockize.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

TEST_CASE("blockize: of several blocks, the regions that come last stand first") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32"),
         D: T.Buffer((8,), "int32"), E: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            D[vi] = A[vi] + B[vi]
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            E[vi] = C[vi] + A[vi]
)"));
  const ir::block o = s.get(s.blockize({s.block("X"), s.block("Y")})).block;
  const auto names = [](const std::vector<ir::buffer_region>& regions) {
    std::string out;
    for (const ir::buffer_region& r : regions) out += r.buffer->name;
    return out;
  };
  CHECK(names(o->reads) == "CBA");
  CHECK(names(o->writes) == "ED");
}

TEST_CASE("blockize: several blocks whose variables have different types") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), B: T.Buffer((6, 4), "int32"),
         C: T.Buffer((6, 4), "int32")):
    for i in range(6):
        for j in range(T.int64(4)):
            with T.block("X"):
                vi = T.axis.spatial(T.int64(6), T.Cast("int64", i))
                vj = T.axis.spatial(T.int64(4), j)
                B[vi, vj] = A[vi, vj] * 2
        for j in range(4):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, 3 - vj] + 1
)");
  for (const bool reverse : {false, true}) {
    schedule s(f);
    std::vector<block_rv> list{s.block("X"), s.block("Y")};
    if (reverse) std::swap(list[0], list[1]);
    s.blockize(list);
    check_meaning(s, f);
  }
}
