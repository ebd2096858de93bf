#include <tilewright/impl/search/session/final_standing.hpp>

#include <doctest/doctest.h>

using namespace tilewright::search;
using namespace tilewright::search::detail;

namespace {

measurement taking(double seconds) {
  measurement out;
  if (seconds > 0) out.seconds = {seconds, seconds, seconds};
  return out;
}

}  // namespace

TEST_CASE("the fastest leads until it is dropped, the default where nobody is faster") {
  final_standing round({{nullptr, 5, "default"}, {nullptr, 1, "a"}, {nullptr, 2, "b"}},
                       {taking(4), taking(3), taking(2)});
  CHECK(round.improved());
  CHECK(round.noise() > 0);
  CHECK(round.leader().trace == "b");
  CHECK(round.time_of_leader().median() == 2);
  CHECK(round.time_of_default().median() == 4);
  round.drop_leader();
  CHECK(round.leader().trace == "a");
  round.drop_leader();
  CHECK_FALSE(round.improved());
  CHECK(round.leader().trace == "default");
  CHECK(round.time_of_leader().median() == 4);
}

TEST_CASE("a finalist within the noise does not take the place of the default") {
  const final_standing round({{nullptr, 4, "default"}, {nullptr, 4, "a"}},
                             {taking(4), taking(3.99)});
  CHECK_FALSE(round.improved());
  CHECK(round.leader().trace == "default");
}

TEST_CASE("who was not timed in the round has the time from before it") {
  const final_standing round({{nullptr, 5, "default"}, {nullptr, 1, "a"}}, {taking(0), taking(0)});
  CHECK(round.leader().trace == "a");
  CHECK(round.time_of_leader().median() == 1);
  CHECK(round.time_of_default().median() == 5);
}
