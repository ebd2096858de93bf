#include <tilewright/search/callbacks.hpp>

#include <tilewright/search/database/trace_names.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

namespace {

/// Traces that the session has stored, but for that of the default schedule.
std::set<std::string> stored_in(const database& db, const tuning_result& r) {
  std::set<std::string> out;
  for (const record& each : db.all()) out.insert(each.trace);
  out.erase(trace_by_position(r.trace, product().function));
  return out;
}

}  // namespace

TEST_CASE("callbacks: they see each candidate, its code and its times, in this order") {
  database db(":memory:");
  std::string order;
  session_options o = few(6);
  o.batch = 3;
  o.callbacks.before_build = [&](const candidate& c) {
    CHECK(c.scheduled.trace().size() > 0);
    order += 'b';
    return verdict::go_on;
  };
  o.callbacks.before_run = [&](const candidate&, const built& b) {
    CHECK(b.code != nullptr);
    order += 'r';
    return verdict::go_on;
  };
  o.callbacks.after_run = [&](const candidate&, const built&, const measurement& m) {
    CHECK((m.ok() || m.failed != failure::none));
    order += 'a';
    return verdict::go_on;
  };
  const tuning_result r = tune(product(), o, db);
  CHECK(r.trials == 6);
  CHECK(order == "bbbrararabbbrarara");
}

TEST_CASE("callbacks: what is vetoed is not built, not run, or not kept") {
  for (const int when : {0, 1, 2}) {
    database db(":memory:");
    int vetoes = 0, runs = 0;
    session_options o = few(4);
    const auto say = [&](int here) {
      if (here != when || vetoes == 3) return verdict::go_on;
      ++vetoes;
      return verdict::veto;
    };
    o.callbacks.before_build = [&](const candidate&) { return say(0); };
    o.callbacks.before_run = [&](const candidate&, const built&) { return say(1); };
    o.callbacks.after_run = [&](const candidate&, const built&, const measurement&) {
      ++runs;
      return say(2);
    };
    const tuning_result r = tune(product(), o, db);
    CHECK(vetoes == 3);
    CHECK(r.failures.at(failure::veto) == 3);
    CHECK(r.trials == 4);
    CHECK(runs == (when == 2 ? 7 : 4));
    CHECK(stored_in(db, r).size() <= 5);  // the default schedule and four candidates
  }
}

TEST_CASE("callbacks: one that says stop ends the session, which keeps what it has") {
  database db(":memory:");
  int seen = 0;
  session_options o = few(1000);
  o.callbacks.after_run = [&](const candidate&, const built&, const measurement&) {
    return ++seen == 3 ? verdict::stop : verdict::go_on;
  };
  const tuning_result r = tune(product(), o, db);
  CHECK(seen == 3);
  CHECK(r.trials <= 3);
  CHECK(db.chosen(product().key));
  o.callbacks = {};
  o.callbacks.before_build = [](const candidate&) { return verdict::stop; };
  database empty(":memory:");
  const tuning_result none = tune(product(), o, empty);
  CHECK(none.trials == 0);
  REQUIRE_FALSE(none.remarks.empty());
  CHECK(none.remarks.back().find("a callback stopped the session") != std::string::npos);
}
