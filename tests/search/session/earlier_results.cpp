// Sessions that begin with what earlier ones have stored.
#include <tilewright/search/session.hpp>

#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/support/any.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "search/kernels.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

TEST_CASE("a stored trace with a kind of instruction that nobody knows is skipped with a remark") {
  const workload w = product();
  database db(":memory:");
  record stored = wanted_record(w);
  stored.trace = "b0 = sch.get_block(name=\"C\", func_name=\"main\")\nsch.fold_in_time(block=b0)";
  stored.seconds = {1e-12};
  stored.from = made_on(w.machine);
  db.add(stored);
  const tuning_result r = tune(w, few(4), db);
  CHECK(r.trials == 4);
  CHECK(r.best > 1e-12);
  CHECK(r.trace.find("fold_in_time") == std::string::npos);
  CHECK(support::any(r.remarks, [](const std::string& remark) {
    return remark.find("a stored trace does not replay") == 0 &&
           remark.find("fold_in_time") != std::string::npos &&
           remark.find("a newer one may have written the trace") != std::string::npos;
  }));
}

TEST_CASE("a second session goes on where the first one ended") {
  database db(":memory:");
  const workload w = product();
  tune(w, few(8), db);
  const std::size_t before = db.all().size();
  tune(w, few(8), db);
  std::set<std::string> traces;
  std::size_t measured = 0;
  for (const record& r : db.all([](const record& x) { return !x.chosen; })) {
    traces.insert(r.trace);
    ++measured;
  }
  CHECK(db.all().size() > before);
  CHECK(traces.size() + 2 >= measured);  // only the default schedule is timed again
}

namespace {

/// A measurer that says of each program what `seconds` says of its identity; 1 where it says nothing.
measuring_options pretended(std::map<std::string, double>& seconds, double of_others = 1) {
  measuring_options out;
  out.runner = [&seconds, of_others](const workload&) -> measurer {
    return [&seconds, of_others](const built& b, const measure_options&) {
      const std::string code(reinterpret_cast<const char*>(b.artifact.object.data()),
                             b.artifact.object.size());
      const auto known = seconds.find(code);
      measurement m;
      m.seconds = {known == seconds.end() ? of_others : known->second};
      return m;
    };
  };
  return out;
}

}  // namespace

TEST_CASE("a session that goes on keeps what was better than all that it finds itself") {
  database db(":memory:");
  const workload w = product();
  // each program is faster than the one before, so that one session finds many finalists
  std::map<std::string, double> seconds;
  double next = 1, factor = 0.9;
  session_options o = few(8);
  o.measuring.runner = [&](const workload&) -> measurer {
    return [&](const built& b, const measure_options&) {
      const std::string code(reinterpret_cast<const char*>(b.artifact.object.data()),
                             b.artifact.object.size());
      measurement m;
      m.seconds = {seconds.try_emplace(code, next).first->second};
      next *= factor;
      return m;
    };
  };
  const tuning_result first = tune(w, o, db);
  REQUIRE(first.improved);
  next = factor =
      0.99;  // new programs beat the default schedule, and not the first session's winner
  const tuning_result second = tune(w, o, db);
  CHECK(second.improved);
  // by code, since two schedules of one code have one time, and either may be kept
  CHECK(second.code.object == first.code.object);
  CHECK(second.best == first.best);
  CHECK(db.chosen(w.key)->trace == trace_by_position(second.trace, w.function));
}

TEST_CASE("what was measured before counts in a session that has time for nothing") {
  database db(":memory:");
  const workload w = product();
  std::map<std::string, double> seconds;
  session_options o = few(6);
  o.measuring = pretended(seconds, 0.25);
  const schedule start =
      default_schedule(w.function, w.space, {w.machine, w.exec->threads}, o.seed);
  const built b = build(start.function(), w.machine);
  REQUIRE(b.code);
  seconds[std::string(reinterpret_cast<const char*>(b.artifact.object.data()),
                      b.artifact.object.size())] = 1;
  const tuning_result first = tune(w, o, db);
  REQUIRE(first.improved);
  o.seconds = 0;
  for (int again = 0; again < 2; ++again) {
    const tuning_result next = tune(w, o, db);
    CHECK(next.improved);
    CHECK(next.best == 0.25);
    CHECK(db.chosen(w.key)->best() == 0.25);
  }
}

TEST_CASE("what earlier sessions measured is not measured again, however much it is") {
  database db(":memory:");
  const workload w = product();
  for (int session = 0; session < 4; ++session) tune(w, few(24), db);
  std::map<std::string, int> times;
  for (const record& r : db.all()) ++times[r.trace];
  int often = 0;  // the default schedule, and those that were chosen
  for (const auto& [trace, n] : times) often += n > 1;
  CHECK(times.size() >= 4 * 24);
  CHECK(often <= 1 + 4);
}
