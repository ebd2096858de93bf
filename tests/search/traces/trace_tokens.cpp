#include <tilewright/search/trace_tokens.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <tilewright/cost/draft.hpp>
#include <tilewright/cost/ensemble.hpp>
#include <tilewright/cost/fallback.hpp>
#include <tilewright/cost/residual.hpp>
#include <tilewright/learning.hpp>
#include <tilewright/schedule/instruction.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/search/strategy.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;
using cost::trace_token;

namespace {

ir::function product() { return reify(kernels::matmul_relu, {{"M", 96}, {"N", 128}, {"K", 192}}); }

std::string_view kind_of(const trace_token& t) { return instruction_kinds()[t.kind].name; }

float logarithm(double x) { return static_cast<float>(std::log2(x + 1)); }

/// Notes whether it was shown traces; scores depend on the program alone.
struct noting_model final : cost::model {
  bool reads = true;
  std::size_t with = 0, without = 0, empty = 0;

  void note(std::span<const cost::sample> programs) {
    for (const cost::sample& s : programs) {
      ++(s.trace ? with : without);
      if (s.trace && s.trace->empty()) ++empty;
    }
  }
  bool reads_traces() const override { return reads; }
  void update(std::span<const cost::sample> measured) override { note(measured); }
  std::string save() const override { return {}; }
  void load(std::string_view) override {}
  std::vector<double> predict(std::span<const cost::sample> programs) override {
    note(programs);
    std::vector<double> out;
    for (const cost::sample& s : programs) out.push_back(static_cast<double>(s.key.lo >> 40));
    return out;
  }
};

}  // namespace

TEST_CASE("trace tokens: one a primitive, with what was drawn and given, and none for queries") {
  schedule s(product());
  const block_rv c = s.get_block("C");
  const auto [i, j, k] = s.loops<3>(c);
  const auto rows = s.sample_categorical({2, 4, 8}, {0, 0, 1});
  s.require(ge(rows, 2));
  const auto [i0, i1] = s.split(i, {infer, rows * 2});
  const block_rv staged = s.cache_read(c, 0, "local");
  s.reorder(j, i1);
  s.annotate(k, "pragma_unroll_explicit", 16);
  s.bind(i0, "blockIdx.x");
  const std::vector<trace_token> all = tokens_of(s);

  std::vector<std::string_view> kinds;
  for (const trace_token& t : all) kinds.push_back(kind_of(t));
  CHECK(kinds == std::vector<std::string_view>{"sample_categorical", "split", "cache_read",
                                               "reorder", "annotate", "bind"});
  CHECK(all[0].numbers[0] == logarithm(8));
  CHECK(all[0].numbers[8] == 1);
  CHECK(all[1].numbers[0] == 0);  // the factor that follows
  CHECK(all[1].numbers[1] == logarithm(16));
  CHECK(all[1].numbers[8] == 2);
  CHECK(all[1].numbers[9] == 1);   // preserve_unit_iters
  CHECK(all[1].numbers[12] == 1);  // one loop, the first of three, of the first block
  CHECK(all[1].numbers[13] == 0);
  CHECK(all[1].numbers[14] == 3);
  CHECK(all[1].numbers[15] == 0);
  CHECK(all[3].numbers[12] == 2);
  CHECK(all[3].numbers[13] == 1);
  CHECK(all[4].numbers[0] == logarithm(16));
  CHECK(all[4].numbers[13] == 2);
  CHECK(all[5].numbers[14] == 2);  // of what the split has made
  CHECK(all[2].word != 0);
  CHECK(all[4].word != all[5].word);
  for (const trace_token& t : all) {
    CHECK(t.word < cost::token_words);
    CHECK(support::all(t.numbers, [](float x) { return std::isfinite(x); }));
  }
  s.unroll(s.get_loops(staged).back());
  CHECK(tokens_of(s).back().numbers[15] == 1);  // of the second block
}

TEST_CASE("trace tokens: every kind has a code of its own, and room is left") {
  CHECK(instruction_kinds().size() <= cost::token_kinds);
}

TEST_CASE("trace tokens: equal decisions give equal tokens, others give others") {
  static const target::cpu cpu = target::named("haswell");
  const ir::function f = product();
  for (const schedule& s : space::default_cpu().sketches(f, {&cpu, 1}, 1)) {
    const trace open = s.trace().without_decisions();
    const auto a = replay(open, f, 3);
    if (!a) continue;
    const auto again = replay(a->scheduled.trace(), f, 9);
    CHECK(tokens_of(a->scheduled) == tokens_of(again->scheduled));
    std::set<support::hash128> programs{a->identity};
    for (std::uint64_t seed = 4; seed < 12; ++seed)
      if (const auto b = replay(open, f, seed); b && programs.insert(b->identity).second)
        CHECK(tokens_of(b->scheduled) != tokens_of(a->scheduled));
  }
}

TEST_CASE("trace tokens: a program that is met again keeps the tokens it has") {
  const ir::function f = product();
  schedule s(f);
  s.parallel(s.loops<3>(s.get_block("C"))[0]);
  const auto c = replay(s.trace(), f, 1);
  token_cache cache(1);
  const cost::trace_tokens first = cache.of(*c);
  CHECK(*first == tokens_of(c->scheduled));
  CHECK(cache.of(*c) == first);
  CHECK(cache.size() == 1);
  cache.of(*replay(trace(), f, 1));
  cache.of(*c);
  CHECK(cache.size() <= 2);
}

TEST_CASE("trace tokens: strategies show them to models that read them, and to no others") {
  static const target::cpu cpu = target::named("haswell");
  search_task task;
  task.function = product();
  for (const schedule& s : space::default_cpu().sketches(task.function, {&cpu, 1}, 1))
    task.sketches.push_back(s.trace().without_decisions());
  for (const strategy_kind& kind : strategy_kinds()) {
    const std::string_view name = kind.name;
    if (name != "evolutionary" && name != "annealing" && name != "bayesian" && name != "ppo")
      continue;
    INFO(name);
    for (const bool reads : {true, false}) {
      const auto model = std::make_shared<noting_model>();
      model->reads = reads;
      const auto s = kind.make(model);
      s->start(task, 5);
      for (int round = 0; round < 2; ++round) {
        const std::vector<candidate> batch = s->propose(4, {});
        s->learn(batch, std::vector<double>(batch.size(), 1e-3));
      }
      CHECK((reads ? model->with : model->without) > 4);
      CHECK((reads ? model->without : model->with) == 0);
      CHECK(model->empty == 0);
    }
  }
}

TEST_CASE("trace tokens: a model of models reads traces where one of them does") {
  const auto plain = std::make_shared<cost::random_model>();
  const auto reader = std::make_shared<noting_model>();
  using list = std::vector<std::shared_ptr<cost::model>>;
  CHECK_FALSE(plain->reads_traces());
  CHECK(cost::draft_model(plain, reader).reads_traces());
  CHECK(cost::residual_model(plain, reader).reads_traces());
  CHECK(cost::fallback_model(plain, reader).reads_traces());
  CHECK(cost::ensemble_model(list{plain, reader}).reads_traces());
  CHECK_FALSE(cost::draft_model(plain, plain).reads_traces());
  CHECK_FALSE(cost::ensemble_model(list{plain, plain}).reads_traces());
}

TEST_CASE("trace tokens: a changed trace has those that its replay gives") {
  static const target::cpu cpu = target::named("haswell");
  const ir::function f = product();
  support::random r(5);
  std::size_t compared = 0, differ = 0;
  for (const schedule& s : space::default_cpu().sketches(f, {&cpu, 1}, 1)) {
    const auto from = replay(s.trace().without_decisions(), f, 3);
    if (!from) continue;
    CHECK(tokens_of(from->scheduled.trace(), from->scheduled) == tokens_of(from->scheduled));
    for (int n = 0; n < 8; ++n) {
      const std::optional<trace> t = mutate_by(mutators(), from->scheduled.trace(), f, r);
      if (!t) continue;
      const auto to = replay(*t, f, 7);
      // a decision that was left out is drawn, and what a place in a loop nest means may move
      if (!to || to->scheduled.trace().print() != t->print()) continue;
      ++compared;
      CHECK(tokens_of(*t, from->scheduled) == tokens_of(to->scheduled));
      differ += tokens_of(*t, from->scheduled) != tokens_of(from->scheduled) ? 1 : 0;
    }
  }
  CHECK(compared > 10);
  CHECK(differ > 5);
}
