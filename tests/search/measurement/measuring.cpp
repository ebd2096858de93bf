#include <tilewright/search/measurement/measuring.hpp>

#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "fake_worker.hpp"
#include "search/faulty_code.hpp"
#include "search/kernels.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

TEST_CASE("candidates may be timed on cold or rotating data, on given values, in a worker") {
  const workload w = product();
  const auto measured = [&](const measuring_options& m) {
    database db(":memory:");
    workload given = w;
    given.given = {{}, std::vector<std::byte>(32 * 64 * 4)};  // B is zero
    session_options o = few(4);
    o.measuring = m;
    const tuning_result r = tune(given, o, db);
    CHECK(r.failures.count(failure::fault) == 0);
    CHECK(r.failures.count(failure::wrong_result) == 0);
    CHECK(r.failures.count(failure::worker) == 0);
    CHECK(r.noise >= 0);
    return r.trials;
  };
  measuring_options m;
  for (const caches where : {caches::warm, caches::cold, caches::rotating}) {
    m.where = where;
    CHECK(measured(m) == 4);
  }
  m.where = caches::warm;
  if (find_worker().empty()) return;
  m.run_in = isolation::worker;
  CHECK(measured(m) == 4);
}

TEST_CASE("in a worker, no check of the default schedule can take this process down" *
          doctest::skip(!fake_worker::worker_there())) {
  workload w = product();
  const ir::function small = reify(kernels::matmul_relu, {{"M", 9}, {"N", 7}, {"K", 5}});
  w.shrunk = [&] { return small; };
  session_options o = few(1);
  o.measuring.run_in = isolation::worker;
  o.measuring.build = [&](const ir::function& f, const target::machine& where) {
    built out = build(f, where);
    if (ir::as_int(f.params[0].buffer->shape[0]) == 9) {
      out.artifact = faulty::ends_process(f);
      out.code = backend::load(out.artifact);
    }
    return out;
  };
  database db(":memory:");
  const auto message = [&] {
    try {
      tune(w, o, db);
    } catch (const internal_error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(message().find("the worker ended with exit code 7") != std::string::npos);
}

TEST_CASE("a builder and a runner of the user's own") {
  database db(":memory:");
  const workload w = product();
  std::atomic<int> builds{0};
  int timed = 0;
  std::map<const void*, double> codes;
  session_options o = few(6);
  o.measuring.build = [&](const ir::function& f, const target::machine& where) {
    ++builds;
    return build(f, where);
  };
  o.measuring.runner = [&](const workload& of) -> measurer {
    CHECK(of.family == w.family);
    return [&](const built& b, const measure_options& m) {
      CHECK(b.code);
      CHECK(m.deadline > 0);
      measurement out;
      const auto at = codes.emplace(b.code.get(), 1.0 / static_cast<double>(1 + codes.size()));
      out.seconds = {at.first->second};  // each faster than the one before
      ++timed;
      return out;
    };
  };
  const tuning_result r = tune(w, o, db);
  CHECK(builds >= 7);
  CHECK(timed >= 7);
  CHECK(r.trials == 6);
  CHECK(r.improved);
  // what a runner fails to time is counted, and so is what a builder fails to make
  int made = 0;
  o.measuring.build = [&](const ir::function& f, const target::machine& where) -> built {
    if (made++ < 2) return build(f, where);  // the default schedule, twice
    throw build_error("out of order");
  };
  const tuning_result none = tune(product(40), o, db);
  CHECK(none.failures.at(failure::build) == none.trials);
  CHECK_FALSE(none.improved);
}

TEST_CASE("candidates that take too long to compile are counted as such") {
  database db(":memory:");
  const workload w = product();
  std::atomic<int> builds{0};
  session_options o = few(3);
  o.measuring.build_deadline = 0.05;
  o.measuring.build = [&](const ir::function& f, const target::machine& where) {
    if (builds++ == 3) std::this_thread::sleep_for(std::chrono::milliseconds(400));
    return build(f, where);
  };
  const tuning_result r = tune(w, o, db);
  CHECK(r.trials == 3);
  CHECK(r.failures.at(failure::timeout) >= 1);
  const auto stored = db.failures(w.key);
  CHECK(std::any_of(stored.begin(), stored.end(),
                    [](const failure_count& f) { return f.kind == "timeout"; }));
}

TEST_CASE("as many finalists as wanted are timed again") {
  for (const int finalists : {1, 4}) {
    database db(":memory:");
    std::set<const void*> finally;
    int timed = 0;
    session_options o = few(8);
    o.measuring.finalists = finalists;
    o.measuring.runner = [&](const workload&) -> measurer {
      return [&](const built& b, const measure_options& m) {
        if (m.most_repeats == 2) finally.insert(b.code.get());  // in turn, twice each
        measurement out;
        out.seconds = {1e-4 / (1 + timed++)};
        return out;
      };
    };
    tune(product(), o, db);
    CHECK(finally.size() == static_cast<std::size_t>(finalists) + 1);  // and the default
  }
}

TEST_CASE("a default that is slower than any drift explains is timed once more, finalists often") {
  database db(":memory:");
  std::map<const void*, int> finals;  // visits of the last round
  const void* first = nullptr;
  session_options o = few(4);
  o.measuring.runner = [&](const workload&) -> measurer {
    return [&](const built& b, const measure_options& m) {
      if (!first) first = b.code.get();
      if (m.most_repeats == 2) ++finals[b.code.get()];
      measurement out;
      out.seconds = {b.code.get() == first ? 1e-3
                                           : 1e-5 / (1 + static_cast<double>(finals.size()))};
      return out;
    };
  };
  const tuning_result r = tune(product(), o, db);
  CHECK(r.improved);
  CHECK(finals.at(first) == 1);
  REQUIRE(finals.size() >= 2);
  for (const auto& [code, visits] : finals) CHECK((code == first || visits >= 5));
}

TEST_CASE("calls that take long are not repeated in the last round") {
  database db(":memory:");
  std::vector<int> repeats;
  session_options o = few(3);
  int timed = 0;
  o.measuring.runner = [&](const workload&) -> measurer {
    return [&](const built&, const measure_options& m) {
      repeats.push_back(m.most_repeats);
      measurement out;
      out.seconds = {0.5 / (1 + timed++)};
      return out;
    };
  };
  tune(product(), o, db);
  CHECK(repeats.front() > 2);
  CHECK(repeats.back() == 0);
}

TEST_CASE("where no time is left for the last round, only a clear win counts") {
  for (const double seconds : {10.0, 24.0}) {  // as the runner says: nothing waits for that
    database db(":memory:");
    int last_round = 0;
    const void* first = nullptr;
    session_options o = few(3);
    o.seconds = 30;
    o.measuring.runner = [&](const workload&) -> measurer {
      return [&](const built& b, const measure_options& m) {
        if (!first) first = b.code.get();
        last_round += m.budget < measure_options().budget;
        measurement out;
        out.seconds = {b.code.get() == first ? 25 : seconds};
        return out;
      };
    };
    const tuning_result r = tune(product(), o, db);
    REQUIRE(r.trials > 0);
    CHECK(last_round == 0);
    CHECK(r.baseline == 25);
    CHECK(r.improved == (seconds == 10));
    CHECK(r.best == (r.improved ? seconds : r.baseline));
  }
}
