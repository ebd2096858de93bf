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
}
