#include <tilewright/impl/search/database/fewer_threads.hpp>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/root_blocks.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "backend/harness.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

namespace {

workload on_threads(int n) {
  static backend::pool pool(4);
  workload w = product();
  w.key.threads = n;
  w.exec = &pool.view(n);
  return w;
}

/// Extents of the parallel loops of a program, outermost first.
std::vector<std::int64_t> parallel_extents(const ir::function& f) {
  std::vector<std::int64_t> out;
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    const ir::loop_node* loop = ir::as_loop(s);
    if (loop && loop->loop == ir::loop_kind::parallel) out.push_back(loop->extent->integer);
  });
  return out;
}

std::vector<harness::argument> results_of(const ir::function& f) {
  std::vector<harness::argument> memory = harness::make_arguments(f, {});
  std::vector<ir::tensor_view> views;
  for (harness::argument& a : memory) views.push_back({a.bytes.data(), a.strides});
  ir::interpret_options how;
  how.check_races = true;
  ir::interpret(f, views, how);
  return memory;
}

}  // namespace

TEST_CASE("what one thread has found runs on several, and computes the same") {
  database db(":memory:");
  const workload one = on_threads(1), two = on_threads(2);
  CHECK(search::detail::spread_over_threads(two, db, 4, 1).empty());
  tune(one, few(8), db);
  const std::optional<record> chosen = db.chosen(one.key);
  REQUIRE(chosen);
  CHECK(parallel_extents(
            replay(trace::parse(trace_by_name(chosen->trace, one.function)), one.function, 1)
                ->scheduled.function())
            .empty());
  CHECK(search::detail::records_of_fewer_threads(two, db, 4).at(0).trace == chosen->trace);
  CHECK(search::detail::records_of_fewer_threads(two, db, 4).size() == 4);
  CHECK(search::detail::records_of_fewer_threads(one, db, 4).empty());
  const std::vector<candidate> spread = search::detail::spread_over_threads(two, db, 4, 1);
  REQUIRE(spread.size() >= 2);  // of what was fastest, which may be the program as it stands
  const std::vector<harness::argument> expected = results_of(two.function);
  std::set<support::hash128> programs;
  for (const candidate& c : spread) {
    INFO(c.scheduled.show());
    CHECK(programs.insert(c.identity).second);
    CHECK_FALSE(parallel_extents(c.scheduled.function()).empty());
    const std::vector<harness::argument> got = results_of(c.scheduled.function());
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(harness::difference(got[i], expected[i]) <= 1e-5);
    const auto again = replay(trace::parse(c.scheduled.trace().print()), two.function,
                              1);  // as a database keeps it
    REQUIRE(again);
    CHECK(again->identity == c.identity);
  }
}

TEST_CASE("records of the most threads below are taken") {
  database db(":memory:");
  for (const int threads : {1, 2, 8}) {
    record r;
    r.key = on_threads(1).key;
    r.key.threads = threads;
    r.trace = "of " + std::to_string(threads);
    r.seconds = {1};
    db.add(r);
  }
  const auto taken = [&](int threads) {
    workload w = on_threads(1);
    w.key.threads = threads;
    const std::vector<record> found = search::detail::records_of_fewer_threads(w, db, 4);
    return found.empty() ? std::string() : found.at(0).trace;
  };
  CHECK(taken(1).empty());
  CHECK(taken(2) == "of 1");
  CHECK(taken(3) == "of 2");
  CHECK(taken(8) == "of 2");
  CHECK(taken(16) == "of 8");
}

TEST_CASE("a session on two threads begins with what one thread has found") {
  database db(":memory:");
  const workload one = on_threads(1), two = on_threads(2);
  tune(one, few(8), db);
  const std::vector<candidate> spread = search::detail::spread_over_threads(two, db, 4, 42);
  tune(two, few(static_cast<int>(spread.size())), db);
  std::set<support::hash128> measured;
  for (const record& r : db.all([&](const record& x) { return x.key == two.key; }))
    measured.insert(
        replay(by_name(trace::parse(r.trace), two.function), two.function, 1)->identity);
  for (const candidate& c : spread) CHECK(measured.count(c.identity) == 1);
}

TEST_CASE("nests run in parallel along no more loops than have enough iterations") {
  const workload w = on_threads(4);
  schedule s(w.function, 1);
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(space::root_block_names(s).at(0)));
  CHECK(space::detail::loops_with(s, loops, 1) == 1);
  CHECK(space::detail::loops_with(s, loops, 48) == 1);
  CHECK(space::detail::loops_with(s, loops, 49) == 2);
  CHECK(space::detail::loops_with(s, loops, 48 * 64) == 2);
  CHECK(space::detail::loops_with(s, loops, space::detail::all_iterations) == loops.size());
  schedule few = s;
  space::detail::parallelize_nests(few, 8);
  for (const std::int64_t extent : parallel_extents(few.function())) CHECK(extent == 48);
  const std::string once = few.show();
  space::detail::parallelize_nests(few, 8);  // a second time changes nothing
  CHECK(few.show() == once);
  space::detail::parallelize_nests(s, space::detail::all_iterations);
  CHECK(parallel_extents(s.function()).front() == 48 * 64);
}
