#include <tilewright/impl/schedule/legality/refusal.hpp>

#include <doctest/doctest.h>

#include "programs.hpp"

using namespace tilewright;
using namespace tilewright::primitive;

TEST_CASE("a refusal joins text, numbers and what it quotes") {
  const refusal refuse("split");
  const ir::stmt nest = ir::make_loop(ir::make_var("i"), 0, 4, {});
  const std::string tail = "parts";
  try {
    refuse(2, {quoted(*ir::as_loop(nest)), " has ", std::size_t{4}, " iterations, no ", -3, " ",
               tail});
    FAIL("it returned");
  } catch (const schedule_error& e) {
    CHECK(e.primitive() == "split");
    CHECK(e.requirement() == 2);
    CHECK(std::string(e.what()) ==
          "split: loop \"i\" has 4 iterations, no -3 parts (requirement 2)");
  }
  CHECK_THROWS_WITH_AS(refuse(1, "nothing is right"), "split: nothing is right (requirement 1)",
                       schedule_error);
}
