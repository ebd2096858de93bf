#include <tilewright/search/database/transfer.hpp>

#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/strategy.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

ir::function product(std::int64_t m) {
  return reify(kernels::matmul_relu, {{"M", m}, {"N", 64}, {"K", 64}});
}

record_key key_of(const ir::function& f) { return {ir::workload_key(f).hex(), "test", "", 1}; }

/// Pretended times of `count` candidates.
void fill(database& db, const ir::function& f, std::size_t count, bool with_program) {
  static const target::cpu cpu = target::named("haswell");
  search_task task;
  task.function = f;
  for (const schedule& s : space::default_cpu().sketches(f, {&cpu, 1}, 1))
    task.sketches.push_back(s.trace().without_decisions());
  auto s = make_strategy("replay_traces");
  s->start(task, 1);
  double seconds = 1;
  for (const candidate& c : s->propose(count, {}))
    db.add({key_of(f), "product", {}, c.scheduled.trace().print(), {seconds += 0.01}, {}, false});
  if (with_program) db.add_workload(key_of(f).workload, ir::print(f));
}

}  // namespace

TEST_CASE("a model learns the records of other workloads") {
  database db(":memory:");
  fill(db, product(32), 20, true);
  fill(db, product(48), 20, true);
  fill(db, product(64), 10, false);  // its program is not known
  fill(db, product(96), 10, true);
  cost::tree_model model;
  CHECK(learn_records(model, db, key_of(product(96))) == 40);
  CHECK(model.size() == 40);
  CHECK_FALSE(model.trees().empty());
  cost::tree_model few;
  CHECK(learn_records(few, db, key_of(product(96)), 5) <= 5);
}

TEST_CASE("a poisoned database teaches what is right in it, and no more") {
  database db(":memory:");
  fill(db, product(32), 20, true);
  const std::string copied = db.all().front().trace;
  const double none[] = {-1.0, 0.0, std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()};
  for (const double seconds : none)
    db.add({key_of(product(32)), "product", {}, copied, {seconds}, {}, false});
  for (int i = 0; i < 500; ++i)
    db.add({key_of(product(32)), "product", {}, copied, {1 + 1e-3 * i}, {}, false});
  const recorded_programs known = programs_of(db, key_of(product(48)), 600);
  CHECK(known.samples.size() == 20);
  // the copies, which are the newest, leave room for the others
  CHECK(programs_of(db, key_of(product(48)), 10).samples.size() == 10);
  for (const cost::sample& s : known.samples) CHECK((std::isfinite(s.seconds) && s.seconds > 0));
  cost::tree_model model;
  learn_records(model, db, key_of(product(48)));
  for (const double score : model.predict(known.samples)) CHECK(std::isfinite(score));
}

TEST_CASE("records of another machine, and damaged ones, teach nothing") {
  database db(":memory:");
  fill(db, product(32), 5, true);
  db.add({key_of(product(32)), "product", {}, "no trace at all", {1.0}, {}, false});
  cost::tree_model model;
  CHECK(learn_records(model, db, key_of(product(48))) == 5);
  record_key elsewhere = key_of(product(48));
  elsewhere.isa = "other";
  CHECK(learn_records(model, db, elsewhere) == 0);
  elsewhere.isa = "test";
  elsewhere.threads = 2;
  CHECK(learn_records(model, db, elsewhere) == 0);
}

TEST_CASE("a schedule of other extents runs where it is ranked well above the default one") {
  static const target::cpu cpu = target::named("znver4");
  const ir::function f = product(96);
  std::vector<candidate> all;
  for (const schedule& s : space::default_cpu().sketches(f, {&cpu, 1}, 1))
    for (std::uint64_t seed = 1; seed < 24; ++seed)
      if (auto c = replay(s.trace().without_decisions(), f, seed)) all.push_back(std::move(*c));
  REQUIRE(all.size() > 8);
  const std::vector<double> scores = estimated_scores(all);
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin(),
             worst = std::min_element(scores.begin(), scores.end()) - scores.begin();
  const candidate &fast = all[static_cast<std::size_t>(best)],
                  &slow = all[static_cast<std::size_t>(worst)];
  REQUIRE(scores[static_cast<std::size_t>(best)] > scores[static_cast<std::size_t>(worst)] + 1);
  CHECK(is_worth_adapting(fast, slow));
  CHECK_FALSE(is_worth_adapting(slow, fast));
  CHECK_FALSE(is_worth_adapting(fast, fast));           // no lead, no change
  CHECK(is_worth_adapting(slow, fast, cost::prior{}));  // it was measured somewhere
}
