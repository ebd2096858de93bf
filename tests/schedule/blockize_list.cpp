// Regions of a block made of several.
#include <tilewright/schedule/primitive/blockize.hpp>

#include "script_schedule.hpp"

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
