// Writes whose places are no sums of digits: instances are run through.
#include "script_schedule.hpp"

using namespace tilewright;

namespace {

ir::function stored_at(const std::string& place, int extent) {
  const std::string n = std::to_string(extent);
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + n + R"(,), "int32"), C: T.Buffer(()" +
                   n +
                   R"(,), "int32")):
    for i in range()" +
                   n + R"():
        with T.block("C"):
            vi = T.axis.spatial()" +
                   n + R"(, i)
            C[)" + place +
                   R"(] = A[vi]
)");
}

}  // namespace

TEST_CASE("repeated_elements: places that come twice") {
  for (const std::string place : {"T.min(vi, 3)", "vi * vi % 8", "vi * 2 % 8", "(vi + 4) % 6",
                                  "T.if_then_else(vi < 4, vi, 4)", "T.Select(vi < 4, vi, 4)"}) {
    CAPTURE(place);
    schedule s(stored_at(place, 8));
    const loop_rv i = s.get_loops(s.block("C"))[0];
    check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
  }
}

TEST_CASE("repeated_elements: places that come once") {
  for (const std::string place : {"vi * 3 % 8", "7 - vi", "vi % 2 * 4 + vi // 2", "T.max(vi, 0)"}) {
    CAPTURE(place);
    const ir::function f = stored_at(place, 8);
    schedule s(f);
    s.parallel(s.get_loops(s.block("C"))[0]);
    check_meaning(s, f);
  }
}

TEST_CASE("repeated_elements: both ends of long domains are run through") {
  for (const std::string place : {"T.min(vi, 99990)", "T.max(vi, 2)", "vi * vi % 100000"}) {
    CAPTURE(place);
    schedule s(stored_at(place, 100000));
    const loop_rv i = s.get_loops(s.block("C"))[0];
    check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
  }
}

TEST_CASE("repeated_elements: boxes that overlap in some instances") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((16,), "int32")):
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:4])
            T.writes(C[T.min(vi * 4, 10):T.min(vi * 4, 10) + 4])
            for j in range(4):
                C[T.min(vi * 4, 10) + j] = A[vi, j]
)");
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("C"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
}
