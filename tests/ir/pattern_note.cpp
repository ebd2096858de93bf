#include <tilewright/ir/pattern_note.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

using namespace tilewright;

TEST_CASE(
    "what is known of a pattern travels with a function, and is no part of what it computes") {
  const ir::function plain = ir::parse(
      "@T.prim_func\ndef copied(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
      "    for i in range(4):\n        with T.block(\"B\"):\n            vi = T.axis.spatial(4, "
      "i)\n"
      "            B[vi] = A[vi]\n");
  CHECK_FALSE(ir::noted_pattern(plain));
  ir::function noted = plain;
  ir::note_pattern(noted, {2.5});
  REQUIRE(ir::noted_pattern(noted));
  CHECK(ir::noted_pattern(noted)->gap == 2.5);
  CHECK(ir::equal(noted, plain));
  CHECK(ir::workload_key(noted) == ir::workload_key(plain));
  const auto read = ir::noted_pattern(ir::parse(ir::print(noted)));
  REQUIRE(read);
  CHECK(read->gap == 2.5);
  ir::note_pattern(noted, {7});
  CHECK(ir::noted_pattern(noted)->gap == 7);
  CHECK(ir::noted_pattern(noted)->spread == 0);
  const ir::pattern_note all{1.5, 8, 0.5, 16, 0.25, 0.75, 0.125, 0.0625};
  ir::note_pattern(noted, all);
  const auto again = ir::noted_pattern(ir::parse(ir::print(noted)));
  REQUIRE(again);
  CHECK(*again == all);
  noted.attrs[ir::pattern_attribute] = ir::attr::dict{{"gap", 2.0}, {"spread", "wide"}};
  REQUIRE(ir::noted_pattern(noted));
  CHECK(ir::noted_pattern(noted)->spread == 0);  // what is no number is not known
  noted.attrs[ir::pattern_attribute] = ir::attr::dict{{"spread", 2.0}};
  CHECK_FALSE(ir::noted_pattern(noted));
}
