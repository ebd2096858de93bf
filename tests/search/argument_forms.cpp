// A session over algorithms that take their arguments in forms of their own.
#include <tilewright/search/argument_forms.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

constexpr int length = 64;

/// Doubles what it reads at `index`.
ir::function doubled(const std::string& name, const std::string& index) {
  const std::string n = std::to_string(length);
  return ir::parse("@T.prim_func\ndef " + name + "(A: T.Buffer((" + n +
                   ",), \"float32\"), B: T.Buffer((" + n +
                   ",), \"float32\")):\n    for i in range(" + n +
                   "):\n        with T.block(\"B\"):\n            vi = T.axis.spatial(" + n +
                   ", i)\n            B[vi] = A[" + index + "] * T.float32(2)\n");
}

ir::function backwards() { return doubled("twice_in_reverse", "63 - vi"); }

/// The elements of A in their order, or from the last to the first.
search::formed_arguments formed(const search::runner& plain, bool reversed) {
  const auto* from = reinterpret_cast<const float*>(plain.memory().sealed(0) +
                                                    plain.memory().places()[0].element0);
  std::vector<float> values(from, from + length);
  if (reversed) std::reverse(values.begin(), values.end());
  search::formed_arguments out{backwards(), std::vector<search::argument_layout>(2), {}};
  out.given.resize(2);
  out.given[0].resize(length * sizeof(float));
  std::memcpy(out.given[0].data(), values.data(), out.given[0].size());
  return out;
}

struct session_outcome {
  search::tuning_result result;
  std::map<std::string, double> fastest;  // s, by algorithm, with what is charged
  std::vector<search::record> records;
  std::vector<std::string> traces;  // in the order in which they were measured
};

session_outcome tuned_with(double charge, bool reversed,
                           const std::vector<std::string>& known = {}) {
  search::workload w;
  w.function = ir::with_reformatted(doubled("twice", "vi"), {backwards()});
  w.machine = target::host();
  w.exec = &backend::pool::shared().view(1);
  w.space = space::default_cpu();
  w.family = search::family_of(w.function);
  w.extents = {length, length};
  w.key = {ir::workload_key(w.function).hex(), "isa", "r r", 1};
  session_outcome out;
  search::session_options o;
  o.seconds = 60;
  o.trials = 4;
  o.callbacks.after_run = [&](const search::candidate& c, const search::built&,
                              const search::measurement& m) {
    out.traces.push_back(c.scheduled.trace().print());
    double& best =
        out.fastest.try_emplace(search::algorithm_of(c.scheduled.trace()), 1e9).first->second;
    if (m.ok()) best = std::min(best, m.best());
    return search::verdict::go_on;
  };
  search::argument_form form;
  form.algorithm = "twice_in_reverse";
  form.charge = charge;
  form.make = [=](const search::runner& plain) { return formed(plain, reversed); };
  search::database db(":memory:");
  out.result = search::tune(w, o, db, {form}, known);
  out.records = db.top(w.key, 100);
  return out;
}

}  // namespace

TEST_CASE("an algorithm computes with arguments of its own form") {
  const session_outcome out = tuned_with(0, true);
  CHECK(out.result.failures.empty());
  CHECK(out.fastest.count("twice_in_reverse") == 1);
  CHECK(out.fastest.at("twice_in_reverse") < 1);
  bool named = false;
  for (const search::record& r : out.records)
    named = named || r.trace.rfind("sch.work_on(func_name=\"twice_in_reverse\")", 0) == 0;
  CHECK(named);
}

TEST_CASE("what its form costs counts with each call") {
  const session_outcome out = tuned_with(1, true);
  CHECK(out.fastest.at("twice_in_reverse") > 1);
  CHECK(out.result.best < 1);
  CHECK(out.result.trace.find("twice_in_reverse") == std::string::npos);
}

TEST_CASE("a form that gives other results is refused before anything is measured") {
  CHECK_THROWS_WITH_AS(tuned_with(0, false),
                       doctest::Contains("kernel twice: algorithm twice_in_reverse computes "
                                         "something else: B["),
                       argument_error);
}

TEST_CASE("what is known is measured first, and what does not replay is left out") {
  const std::string known =
      "sch.work_on(func_name=\"twice\")\n"
      "b0 = sch.get_block(name=\"B\", func_name=\"twice\")\n"
      "l1, = sch.get_loops(block=b0)\n"
      "l2, l3 = sch.split(loop=l1, factors=[None, 2], preserve_unit_iters=True, "
      "disable_predication=False)\n"
      "sch.unroll(loop=l3)\n";
  const session_outcome out =
      tuned_with(0, true, {"sch.of_another_version()", "b0 = sch.get_block(name=\"gone\")", known});
  REQUIRE_FALSE(out.traces.empty());
  CAPTURE(out.traces.front());
  CHECK(out.traces.front().find("factors=[None, 2]") != std::string::npos);
  CHECK(out.traces.front().find("sch.unroll(") != std::string::npos);
  CHECK(out.result.failures.empty());
}

TEST_CASE("the algorithm of a trace is its first instruction") {
  CHECK(search::algorithm_of(trace::parse("sch.work_on(func_name=\"by_sum\")")) == "by_sum");
  CHECK(search::algorithm_of(trace::parse("b0 = sch.get_block(name=\"B\")")).empty());
  CHECK(search::algorithm_of(trace()).empty());
}
