// Where the time of a session goes, and what changes traces in it.
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/search/progress.hpp>
#include <tilewright/search/session.hpp>

#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

namespace {

int asked = 0;
std::optional<trace> counted(const trace& t, const ir::function&, support::random& random) {
  ++asked;
  return mutate(t, random);
}

}  // namespace

TEST_CASE("profile: a session's time is divided among its stages, and nothing is counted twice") {
  database db(":memory:");
  const tuning_result r = tune(product(), few(40), db);
  std::set<std::string> names;
  double all = 0;
  for (const support::stage_time& t : r.profile) {
    CHECK(t.seconds >= 0);
    CHECK(names.insert(std::string(t.name)).second);
    all += t.seconds;
  }
  for (const char* name :
       {"sketch", "replay", "features", "score", "learn", "compile", "run", "verify", "database"})
    CHECK(names.count(name) == 1);
  CHECK(all <= r.seconds * 1.01 + 0.01);
}

TEST_CASE("profile: as text the longest stage comes first") {
  const std::vector<support::stage_time> stages{{"run", 1, 1}, {"compile", 3, 2}, {"other", 0, 1}};
  CHECK(profile_text(stages) == "compile 75.0 %, run 25.0 %, other 0.0 %");
  CHECK(profile_text({}).empty());
}

TEST_CASE("changes: a table of one's own is what changes traces") {
  database db(":memory:");
  session_options o = few(40);
  o.changes = {{"counted", 1, &counted}};
  asked = 0;
  CHECK(tune(product(), o, db).trials == 40);
  CHECK(asked > 0);
}
