#include <tilewright/impl/search/database/failing_traces.hpp>

#include <tilewright/search/session.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "search/kernels.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

TEST_CASE("what failed for good is not tried again, unless by another version") {
  const auto inner_loop = [](schedule& s) {
    return s.split(s.get_loops(s.get_block("Y"))[0],
                   {infer, s.sample_categorical({1, 2, 4}, {1, 1, 1})})[1];
  };
  workload w = product();
  w.function = reify(kernels::square_root, {{"N", 96}});
  w.space = space::design_space([&](schedule& s) { inner_loop(s); }) |
            space::design_space([&](schedule& s) {  // which a CPU has no code for
              s.bind(inner_loop(s), "threadIdx.x");
            });
  session_options o = few(12);
  database db(":memory:"), older(":memory:");
  CHECK(tune(w, o, db).failures[failure::build] == 3);
  const auto failed = db.failed(w.key);
  REQUIRE(failed.size() == 3);
  CHECK(failed[0].kind == "build");
  CHECK(failed[0].detail.find("bound to threadIdx.x") != std::string::npos);
  CHECK(failed[0].trace.find("bind") != std::string::npos);
  const tuning_result again = tune(w, o, db);
  CHECK(again.failures.count(failure::build) == 0);
  CHECK(db.failed(w.key).size() == 3);
  failed_candidate old = failed[0];
  --old.from.revision;
  older.add_failed(old);
  CHECK(tune(w, o, older).failures[failure::build] == 3);
}

TEST_CASE("what failed for good at other extents of the kernel is not tried at these") {
  const auto at = [](std::int64_t n) {
    const auto inner_loop = [](schedule& s) {
      return s.split(s.get_loops(s.get_block("Y"))[0],
                     {infer, s.sample_categorical({1, 2, 4}, {1, 1, 1})})[1];
    };
    workload w = product();
    w.function = reify(kernels::square_root, {{"N", n}});
    w.key.workload = ir::workload_key(w.function).hex();
    w.family = "square_root";
    w.extents = {n, n};
    w.space = space::design_space([=](schedule& s) { inner_loop(s); }) |
              space::design_space([=](schedule& s) { s.bind(inner_loop(s), "threadIdx.x"); });
    return w;
  };
  const session_options o = few(12);
  database known(":memory:"), none(":memory:");
  CHECK(tune(at(96), o, known).failures[failure::build] == 3);
  CHECK(tune(at(192), o, none).failures[failure::build] == 3);
  const tuning_result there = tune(at(192), o, known);
  CHECK(there.failures.count(failure::build) == 0);
  CHECK(there.trials > 0);
  CHECK(known.failed(at(192).key).empty());
  SUBCASE("what was only late is") {
    database late(":memory:");
    tune(at(96), o, late);
    database slow(":memory:");
    for (const record& r : late.all()) slow.add(r);
    for (failed_candidate f : late.failed(at(96).key)) {
      f.kind = "timeout";
      slow.add_failed(f);
      slow.add_failed(f);
    }
    CHECK(tune(at(192), o, slow).failures[failure::build] == 3);
  }
}

TEST_CASE("what came too late is tried once more, and not a third time") {
  workload w = product();
  w.function = reify(kernels::square_root, {{"N", 96}});
  w.space = [](schedule& s) {
    s.split(s.get_loops(s.get_block("Y"))[0],
            {infer, s.sample_categorical({2, 3, 4, 6}, {1, 1, 1, 1})});
  };
  const auto measured = [&](database& db) {
    tune(w, few(12), db);
    std::set<std::string> out;
    for (const record& r : db.all()) out.insert(r.trace);
    return out;
  };
  database first(":memory:"), second(":memory:");
  std::set<std::string> all = measured(first);
  REQUIRE(all.size() == 4);
  const provenance from = first.all()[0].from;
  all.erase(first.all()[0].trace);  // the default schedule is measured anyhow
  const std::string once = *all.begin(), twice = *all.rbegin();
  for (const std::string& trace : {once, twice, twice})
    second.add_failed({w.key, trace, "timeout", "", from});
  all = measured(second);
  CHECK(all.size() == 3);
  CHECK(all.count(once) == 1);
  CHECK(all.count(twice) == 0);
}
