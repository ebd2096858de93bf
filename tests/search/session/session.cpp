#include <tilewright/search/session.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/dispatch/layout.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "search/faulty_code.hpp"
#include "search/kernels.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

namespace {

void refuses(schedule& s) { s.get_block("no such block"); }

}  // namespace

TEST_CASE("a session measures, chooses and stores") {
  database db(":memory:");
  const workload w = product();
  int events = 0;
  session_options o = few(12);
  o.events = [&](const progress& p) {
    ++events;
    CHECK(p.best > 0);
    CHECK(p.best <= p.baseline);
  };
  const tuning_result r = tune(w, o, db);
  CHECK(r.trials == 12);
  CHECK(events == 12);
  CHECK(r.best <= r.baseline);
  CHECK_FALSE(r.code.object.empty());
  const auto stored = db.chosen(w.key);
  REQUIRE(stored);
  CHECK(stored->trace == trace_by_position(r.trace, w.function));
  CHECK(trace_by_name(stored->trace, w.function) == r.trace);
  CHECK(db.code(w.key, stored->trace, stored->from.revision).has_value());
  CHECK(db.all().size() >= 12);
}

TEST_CASE(
    "candidates of the first round depend on the seed alone, and no program is measured twice") {
  std::vector<std::set<std::string>> seen;
  for (const std::uint64_t seed : {1u, 1u, 2u}) {
    database db(":memory:");
    session_options o = few(10);
    o.seed = seed;
    tune(product(), o, db);
    std::set<std::string> traces;
    for (const record& r : db.all([](const record& x) { return !x.chosen; }))
      traces.insert(r.trace);
    seen.push_back(traces);
  }
  CHECK(seen[0] == seen[1]);
  CHECK(seen[0] != seen[2]);
}

TEST_CASE("cancelling keeps what was measured and chooses nothing") {
  database db(":memory:");
  const workload w = product();
  std::atomic<bool> cancelled{false};
  session_options o = few(100);
  o.cancelled = &cancelled;
  o.events = [&](const progress& p) { cancelled = p.trials >= 5; };
  const tuning_result r = tune(w, o, db);
  CHECK(r.trials == 5);
  CHECK_FALSE(db.chosen(w.key));
  CHECK(db.all().size() >= 5);
  CHECK_FALSE(r.code.object.empty());
}

TEST_CASE("cancelling ends a call that runs") {
  database db(":memory:");
  workload w = product();
  w.function = reify(kernels::matmul_relu, {{"M", 3072}, {"N", 3072}, {"K", 3072}});
  w.space = {};  // takes seconds as it stands
  w.shrunk = [] { return reify(kernels::matmul_relu, {{"M", 9}, {"N", 7}, {"K", 5}}); };
  for (const isolation run_in : {isolation::none, isolation::worker}) {
    if (run_in == isolation::worker && find_worker().empty()) continue;
    std::atomic<bool> cancelled{false};
    session_options o = few(100);
    o.measuring.run_in = run_in;
    o.cancelled = &cancelled;
    const std::jthread user([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      cancelled = true;
    });
    const tuning_result r = tune(w, o, db);
    CHECK(r.trials == 0);
    CHECK(r.best == 0);
    CHECK_FALSE(r.code.object.empty());
    REQUIRE_FALSE(r.remarks.empty());
    CHECK(r.remarks.back() == "cancelled before the default schedule was timed");
    CHECK(db.all().empty());
  }
}

TEST_CASE(
    "a candidate that writes nothing does not pass for the one before it, however large outputs "
    "are") {
  for (const std::int64_t size : {64, 1280}) {  // 16 KB, 6.5 MB
    database db(":memory:");
    workload w = product();
    w.function = reify(kernels::matmul_relu, {{"M", size}, {"N", size}, {"K", 2}});
    w.space = space::design_space([](schedule& s) { s.unroll(s.loops<3>(s.get_block("C"))[2]); }) |
              space::design_space([](schedule& s) {
                const auto [i, j, k] = s.loops<3>(s.get_block("C"));
                s.split(j, {infer, s.sample_categorical({8, 16, 32}, {1, 1, 1})});
              });
    session_options o = few(3);
    int idle = 0;
    o.measuring.build = [&](const ir::function& f, const target::machine& m) {
      if (ir::print(f).find("j_1") == std::string::npos) return build(f, m);
      ++idle;
      return build(faulty::writes_parameter(f, f.params.size() - 1), m);
    };
    tuning_result r = tune(w, o, db);
    CHECK(idle > 0);
    CHECK(r.failures[failure::wrong_result] == idle);
    CHECK_FALSE(r.improved);
  }
}

TEST_CASE(
    "a faster candidate that computes something else is dropped, however long its calls are") {
  for (const std::int64_t size : {32, 256}) {
    database db(":memory:");
    workload w = product();
    w.function = reify(kernels::matmul_relu, {{"M", size}, {"N", size}, {"K", size}});
    w.space =
        space::design_space([](schedule& s) {  // lanes far apart in memory
          const auto [i, j, k] = s.loops<3>(s.get_block("C"));
          const auto [i0, i1] = s.split(i, {infer, 2});
          s.reorder(i0, j, k, i1);
          s.vectorize(i1);
        }) |
        space::design_space([](schedule& s) {  // sums products in half precision
          const block_rv sums = s.get_block("C");
          const auto [i, j, k] = s.loops<3>(sums);
          const auto [j0, j1] = s.split(j, {infer, s.sample_categorical({8, 16, 32}, {1, 1, 1})});
          s.reorder(i, j0, k, j1);
          s.vectorize(j1);
          s.unsafe_set_dtype(sums, 0, "float16");
        });
    tuning_result r = tune(w, few(3), db);
    CHECK(r.failures[failure::wrong_result] > 0);
    CHECK_FALSE(r.improved);
    CHECK(db.failed(w.key).size() == static_cast<std::size_t>(r.failures[failure::wrong_result]));
    for (const record& kept : db.all([](const record& x) { return x.chosen; }))
      CHECK(kept.trace.find("float16") == std::string::npos);
  }
}

TEST_CASE("a space that fails leaves the program as it stands") {
  database db(":memory:");
  workload w = product();
  w.space = refuses;
  const tuning_result r = tune(w, few(3), db);
  CHECK_FALSE(r.improved);
  REQUIRE_FALSE(r.remarks.empty());
  CHECK(r.remarks[0].find("the space failed") == 0);
}

TEST_CASE("a default schedule that computes something else is an internal error") {
  database db(":memory:");
  workload w = product();
  w.function = reify(kernels::matmul_relu, {{"M", 512}, {"N", 512}, {"K", 512}});
  w.shrunk = [] { return reify(kernels::matmul_relu, {{"M", 9}, {"N", 7}, {"K", 40}}); };
  w.space = [](schedule& s) {  // not what the kernel says: products are summed in half precision
    const block_rv sums = s.get_block("C");
    s.unsafe_set_dtype(sums, 0, "float16");
  };
  const auto message = [&] {
    try {
      tune(w, few(1), db);
    } catch (const internal_error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(message().find("disagrees with the interpreter") != std::string::npos);
  w.shrunk = nullptr;
  const std::string at_points = message();
  CHECK(at_points.find("disagrees with f64") != std::string::npos);
  CHECK(at_points.find("and with the program as written") != std::string::npos);
  CHECK(db.all().empty());
}

TEST_CASE("a session that finds its first candidate late measures it all the same") {
  // on a busy machine the search for candidates may take all the time
  struct slow : strategy {
    std::unique_ptr<strategy> inner = make_strategy("replay_traces");
    void start(const search_task& t, std::uint64_t seed) override { inner->start(t, seed); }
    std::vector<candidate> propose(std::size_t n, const std::function<bool()>& over) override {
      std::vector<candidate> out = inner->propose(n, {});
      while (!over()) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      return out;
    }
    void learn(std::span<const candidate> c, std::span<const double> s) override {
      inner->learn(c, s);
    }
    std::size_t refused() const override { return 0; }
  };
  database db(":memory:");
  session_options o = few(5);
  o.seconds = 2;  // also where a sanitizer slows what comes before the search
  o.method = [](std::uint64_t) { return std::make_unique<slow>(); };
  CHECK(tune(product(), o, db).trials == 1);
}

TEST_CASE("a session that measures nothing says why") {
  struct barren : strategy {
    void start(const search_task&, std::uint64_t) override {}
    std::vector<candidate> propose(std::size_t, const std::function<bool()>&) override {
      return {};
    }
    void learn(std::span<const candidate>, std::span<const double>) override {}
    std::size_t refused() const override { return 7; }
    std::string last_refusal() const override { return "split: no"; }
  };
  const auto remark = [](auto change) {
    database db(":memory:");
    session_options o = few(5);
    change(o);
    const tuning_result r = tune(product(), o, db);
    CHECK(r.trials == 0);
    return r.remarks.empty() ? std::string() : r.remarks.back();
  };
  const std::string found_none = remark([](session_options& o) {
    o.method = [](std::uint64_t) { return std::make_unique<barren>(); };
  });
  CHECK(found_none.find("no candidate was measured: none but the default schedule was found in") ==
        0);
  CHECK(found_none.find("7 traces were refused, the last one: split: no") != std::string::npos);
  CHECK(remark([](session_options& o) { o.target = 3600; }) ==
        "no candidate was measured: the default schedule meets the target");
  CHECK(remark([](session_options& o) { o.seconds = 0; }) ==
        "no candidate was measured: the budget has no room for one");
}

TEST_CASE("a session says how many draws were refused, and why the last one was") {
  struct picky : strategy {
    std::unique_ptr<strategy> inner = make_strategy("replay_traces");
    std::size_t asked = 0;
    void start(const search_task& t, std::uint64_t seed) override { inner->start(t, seed); }
    std::vector<candidate> propose(std::size_t n, const std::function<bool()>& over) override {
      ++asked;
      return inner->propose(n, over);
    }
    void learn(std::span<const candidate> c, std::span<const double> s) override {
      inner->learn(c, s);
    }
    std::size_t refused() const override { return asked > 0 ? 7 : 0; }
    std::string last_refusal() const override { return "split: no"; }
  };
  database db(":memory:");
  session_options o = few(2);
  o.method = [](std::uint64_t) { return std::make_unique<picky>(); };
  const tuning_result r = tune(product(), o, db);
  CHECK(r.trials > 0);
  CHECK(r.failures.at(failure::schedule) == 7);
  CHECK(std::count(r.remarks.begin(), r.remarks.end(),
                   "7 traces that were drawn beside the trials were refused, the last one: "
                   "split: no") == 1);
}

TEST_CASE("a space without choices has no candidates, and no trace of it was refused") {
  database db(":memory:");
  workload w = product();
  w.space = [](schedule& s) { s.get_loops(s.get_block("C_epilogue")); };
  const tuning_result r = tune(w, few(5), db);
  CHECK(r.trials == 0);
  CHECK(r.failures.empty());
  REQUIRE_FALSE(r.remarks.empty());
  CHECK(
      r.remarks.back() ==
      "no candidate was measured: none but the default schedule was found in 1 sketches; 0 traces "
      "were refused");
}

TEST_CASE("tiny products in all storage orders have a right default schedule and candidates") {
  support::random random(5);
  for (int n = 0; n < 16; ++n) {
    const auto extent = [&] { return 1 + static_cast<std::int64_t>(random.below(32)); };
    const std::int64_t rows = extent(), columns = extent(), depth = extent();
    const std::int64_t shapes[3][2] = {{rows, depth}, {depth, columns}, {rows, columns}};
    std::vector<dispatch::layout_class> layouts;
    for (int p = 0; p < 3; ++p) {
      const bool column_major = (n >> p) % 2 != 0;
      const std::int64_t strides[2] = {column_major ? 1 : shapes[p][1],
                                       column_major ? shapes[p][0] : 1};
      layouts.push_back(dispatch::classify(2, shapes[p], strides));
    }
    INFO(rows << " x " << depth << " x " << columns << ", orders " << n % 8);
    workload w = product();
    w.function = with_layouts(
        reify(kernels::matmul_relu, {{"M", rows}, {"N", columns}, {"K", depth}}), layouts);
    w.key.workload = ir::workload_key(w.function).hex();
    database db(":memory:");
    const tuning_result r = tune(w, few(2), db);
    CHECK(r.trials == 2);
    CHECK(r.failures.count(failure::wrong_result) == 0);
    for (const std::string& text : r.remarks) CHECK(text == "");
  }
}

TEST_CASE("a session does not build many programs that it has no time to measure") {
  database db(":memory:");
  std::atomic<int> builds{0};
  session_options o;
  o.seconds = 0.5;
  o.batch = 64;
  o.measuring.build = [&](const ir::function& f, const target::machine& where) {
    ++builds;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return build(f, where);
  };
  const tuning_result r = tune(product(), o, db);
  constexpr int defaults = 2, ahead = 8;  // builds of the default; what a queue has ready
  CHECK(builds <= defaults + r.trials + ahead + target::host().cores);
}

TEST_CASE("a kernel whose own rounding leads away from f64 is tuned, with a remark") {
  static constexpr auto rounded =
      kernel<"rounded">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
        using axes::i;
        return Y(i) = (X(i) + 1e8f) - 1e8f;
      });
  database db(":memory:");
  workload w = product();
  w.function = reify(rounded, {{"N", 300}});
  w.extents = {300, 300};
  const tuning_result r = tune(w, few(2), db);
  bool said = false;
  for (const std::string& remark : r.remarks)
    said |= remark.find("from which the kernel's own rounding leads away") != std::string::npos;
  CHECK(said);
}

TEST_CASE("a model sees candidates before, and times after, measuring") {
  database db(":memory:");
  session_options o = few(8);
  o.batch = 4;
  std::size_t scored = 0, learned = 0;
  o.model.oversample = 3;
  o.model.score = [&](const std::vector<candidate>& c) {
    scored += c.size();
    return std::vector<double>(c.size(), 0.0);
  };
  o.model.learn = [&](const std::vector<candidate>& c, const std::vector<measurement>& m) {
    CHECK(c.size() == m.size());
    learned += c.size();
  };
  tune(product(), o, db);
  CHECK(learned == 8);
  CHECK(scored >= 2 * learned);
}

TEST_CASE("mutation changes one decision, and stored traces replay to the same program") {
  const workload w = product();
  const space::context where{w.machine, 1};
  const std::vector<schedule> sketches = w.space.sketches(w.function, where, 1);
  support::random random(3);
  int replayed = 0;
  for (const schedule& s : sketches) {
    const auto again = replay(trace::parse(s.trace().print()), w.function, 99);
    REQUIRE(again);
    CHECK(again->identity == ir::workload_key(s.function()));
    for (int i = 0; i < 8; ++i) {
      const auto t = mutate(s.trace(), random);
      if (!t) continue;
      int changed = 0;
      for (std::size_t k = 0; k < t->size(); ++k) changed += (*t)[k].choice != s.trace()[k].choice;
      CHECK(changed <= 1);
      replayed += replay(*t, w.function, random.next()).has_value();
    }
  }
  CHECK(replayed > 0);
}

TEST_CASE("a session whose space is used up says so") {
  database db(":memory:");
  workload w = product();
  w.space = [](schedule& s) {
    const block_rv b = s.get_block("C");
    const expr_rv width = s.sample_categorical({8, 16, 32}, {1, 1, 1});
    s.split(s.get_loops(b).back(), {infer, width});
  };
  progress last;
  session_options o;
  o.seconds = 20;
  o.events = [&](const progress& p) { last = p; };
  const tuning_result r = tune(w, o, db);
  CHECK(r.trials >= 1);
  CHECK(r.trials <= 3);
  CHECK(last.end == session_end::space);
  CHECK(r.end == session_end::space);
  CHECK(progress_line(last).find("the space is used up") != std::string::npos);
  const std::string wanted = "the space is used up after " + std::to_string(r.trials) + " trials";
  CHECK(std::any_of(r.remarks.begin(), r.remarks.end(), [&](const std::string& remark) {
    return remark.find(wanted) != std::string::npos;
  }));
}

TEST_CASE(
    "a session ends where no gain is expected, and uses all of its budget where it is told to") {
  // one program that is as fast as the default, under many names
  const auto ended = [](double gain, int trials) {
    database db(":memory:");
    workload w = product();
    w.space = [](schedule& s) {
      const auto [i, j, k] = s.loops<3>(s.get_block("C"));
      s.split(i, {infer, s.sample_categorical({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 1, 1, 1, 1, 1, 1})});
      s.split(j, {infer, s.sample_categorical({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 1, 1, 1, 1, 1, 1})});
    };
    session_options o;
    o.seconds = 60;
    o.trials = trials;
    o.gain = gain;
    // every candidate takes as long as the first
    o.measuring.runner = [](const workload&) {
      return [](const built&, const measure_options&) {
        measurement m;
        m.seconds = {1e-3};
        return m;
      };
    };
    progress last;
    o.events = [&](const progress& p) { last = p; };
    const tuning_result r = tune(w, o, db);
    CHECK(last.trials == r.trials);
    CHECK(last.end == (r.end == session_end::gain ? session_end::gain : session_end::none));
    return std::pair(r.end, r.trials);
  };
  CHECK(ended(0.01, 60) == std::pair(session_end::gain, 32));
  CHECK(ended(0, 40) == std::pair(session_end::trials, 40));
  CHECK(ended(0.01, 20) == std::pair(session_end::trials, 20));
}
