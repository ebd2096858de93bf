#include <tilewright/ir/term_order.hpp>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

#include <doctest/doctest.h>

using namespace tilewright;

namespace {

ir::function row_sums(const std::string& name, const std::string& type) {
  return ir::parse("@T.prim_func\ndef " + name + "(A: T.Buffer((4, 8), \"" + type +
                   "\"), C: T.Buffer((4,), \"" + type + R"(")):
    for i, k in T.grid(4, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.cast(0, ")" +
                   type + R"(")
            C[vi] = C[vi] + A[vi, vk]
)");
}

}  // namespace

TEST_CASE("a function asks for the order of its terms by an attribute, which is part of its key") {
  const ir::function f = row_sums("main", "float32"), ordered = ir::with_term_order(f);
  CHECK_FALSE(ir::keeps_term_order(f));
  CHECK(ir::keeps_term_order(ordered));
  CHECK_FALSE(ir::workload_key(f) == ir::workload_key(ordered));
  CHECK_FALSE(ir::named_workload_key(f) == ir::named_workload_key(ordered));
  CHECK(ir::keeps_term_order(ir::parse(ir::print(ordered))));
}

TEST_CASE("alternatives ask for it with their function") {
  const ir::function f =
      ir::with_alternatives(row_sums("main", "float32"), {row_sums("twin", "float32")});
  for (const ir::function& each : ir::alternatives(ir::with_term_order(f)))
    CHECK(ir::keeps_term_order(each));
}

TEST_CASE("reductions of floats are told from those of integers") {
  CHECK(ir::reduces_floats(row_sums("main", "float32")));
  CHECK(ir::reduces_floats(row_sums("main", "float64")));
  CHECK_FALSE(ir::reduces_floats(row_sums("main", "int32")));
}
