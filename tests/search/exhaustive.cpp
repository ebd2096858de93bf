#include <tilewright/search/strategies/exhaustive.hpp>

#include <set>

#include <doctest/doctest.h>

#include <tilewright/search/enumeration.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/steps.hpp>

#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace tilewright::space;
using namespace workloads;

namespace {

/// Three sizes for the columns, with the rows parallel or not: six programs.
design_space six() {
  using axes::i, axes::j;
  return on<"C">(steps(let<"v"> = sample_categorical<4, 8, 16>, split<j, infer, variable<"v">{}>,
                       parallel<i> | skip));
}

}  // namespace

TEST_CASE("exhaustive: a small space is tried whole, each program once, and the session says so") {
  database db(":memory:");
  workload w = product();
  w.space = six();
  session_options o = few(1000);
  o.method = [](std::uint64_t seed) { return make_strategy("exhaustive", seed); };
  const tuning_result r = tune(w, o, db);
  CHECK(r.trials == 5);  // and the default schedule, which is one of the six
  std::set<std::string> traces;
  for (const record& each : db.all()) traces.insert(each.trace);
  CHECK(traces.size() == 6);
  bool said = false, ended = false;
  for (const std::string& remark : r.remarks) {
    said = said || remark ==
                       "the space has 6 programs, of which the default schedule is no trial: "
                       "6 members of 2 sketches";
    ended = ended || remark.find("the space is used up after 5 trials") == 0;
  }
  CHECK(said);
  CHECK(ended);
  const tuning_result again = tune(w, o, db);
  CHECK(again.trials == 0);  // all of them are known
}

TEST_CASE("exhaustive: a space with more members than the limit is searched by another strategy") {
  database db(":memory:");
  session_options o = few(5);
  o.method = [](std::uint64_t) {
    return exhaustive(20, [] { return make_strategy("replay_traces"); });
  };
  const tuning_result r = tune(product(), o, db);
  CHECK(r.trials == 5);
  bool said = false;
  for (const std::string& remark : r.remarks)
    said = said || remark == "the space has more than 20 members, too many to try all";
  CHECK(said);
}
