#include <tilewright/search/session.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/space/cpu.hpp>

#include <doctest/doctest.h>

#include <set>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

workload product(std::int64_t m = 48) {
  workload w;
  w.function = reify(kernels::matmul_relu, {{"M", m}, {"N", 64}, {"K", 32}});
  w.key = {ir::workload_key(w.function).hex(), "test", "", 1};
  w.family = "product";
  w.extents = {m, 32, 32, 64, m, 64};
  w.cpu = &target::host();
  w.exec = &backend::serial_executor();
  w.space = space::default_cpu();
  return w;
}

session_options few(int trials) {
  session_options o;
  o.trials = trials;
  o.seconds = 60;
  return o;
}

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
  CHECK(stored->trace == r.trace);
  CHECK(db.code(w.key, r.trace, stored->from.revision).has_value());
  CHECK(db.all().size() >= 12);
}

TEST_CASE("candidates of the first round depend on the seed alone, and no program is measured twice") {
  std::vector<std::set<std::string>> seen;
  for (const std::uint64_t seed : {1u, 1u, 2u}) {
    database db(":memory:");
    session_options o = few(10);
    o.seed = seed;
    tune(product(), o, db);
    std::set<std::string> traces;
    for (const record& r : db.all([](const record& x) { return !x.chosen; })) traces.insert(r.trace);
    seen.push_back(traces);
  }
  CHECK(seen[0] == seen[1]);
  CHECK(seen[0] != seen[2]);
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
  const space::context where{w.cpu, 1};
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

TEST_CASE("a progress line says what matters") {
  progress p;
  p.trials = 320;
  p.best = 1e-3;
  p.baseline = 2e-3;
  p.left = 4;
  const std::string line = progress_line(p);
  CHECK(line.find("320 trials") != std::string::npos);
  CHECK(line.find("best 1 ms (2.00x") != std::string::npos);
}
