#pragma once

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <tilewright/cost/adapted_trees.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/transfer.hpp>
#include <tilewright/search/trace_tokens.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {
namespace detail {

/// The program of a workload; nothing where the database has none that it can be.
inline std::optional<ir::function> stored_program(const database& db, const std::string& key) {
  const std::optional<std::string> text = db.workload(key);
  if (!text) return std::nullopt;
  try {
    ir::function f = ir::parse(*text);
    if (ir::has_workload_key(f, key)) return f;
  } catch (const error&) {  // written by another version
  }
  return std::nullopt;
}

}  // namespace detail

TILEWRIGHT_INLINE recorded_programs programs_of(const database& db, const record_key& but,
                                                std::size_t most,
                                                const std::function<bool()>& over) {
  // what is no time teaches nothing, and a program teaches once, however often it was recorded
  std::set<support::hash128> texts, met;
  const auto text_of = [](const record& r) {
    support::hasher h;
    h.add(std::string_view(r.key.workload));
    h.add(std::string_view(r.trace));
    return h.finish();
  };
  const std::vector<record> records = db.all([&](const record& r) {
    return r.key.workload != but.workload && r.key.isa == but.isa && r.key.threads == but.threads &&
           std::isfinite(r.best()) && r.best() > 0;
  });
  std::map<std::string, std::optional<ir::function>> programs;
  recorded_programs out;
  for (auto newest = records.rbegin();
       newest != records.rend() && out.samples.size() < most && !(over && over()); ++newest) {
    const record& r = *newest;
    if (!texts.insert(text_of(r)).second) continue;
    const auto [at, fresh] = programs.try_emplace(r.key.workload);
    if (fresh) at->second = detail::stored_program(db, r.key.workload);
    const auto workload = support::hash128::from_hex(r.key.workload);
    if (!at->second || !workload) continue;
    try {
      std::optional<candidate> c = replay(trace::parse(r.trace), *at->second, 1);
      if (!c || !met.insert(c->identity).second) continue;
      out.made.push_back(std::move(*c));
    } catch (const error&) {  // a trace of another version
      continue;
    }
    const candidate& made = out.made.back();
    out.samples.push_back(
        {&made.scheduled.function(), made.identity, *workload, r.best(),
         std::make_shared<const std::vector<cost::trace_token>>(tokens_of(made.scheduled))});
  }
  std::reverse(out.samples.begin(), out.samples.end());  // a model forgets what comes first
  return out;
}

TILEWRIGHT_INLINE std::size_t learn_records(cost::model& model, const database& db,
                                            const record_key& but, std::size_t most,
                                            const std::function<bool()>& over) {
  const recorded_programs known = programs_of(db, but, most, over);
  if (!known.samples.empty()) model.update(known.samples);
  return known.samples.size();
}

TILEWRIGHT_INLINE std::shared_ptr<cost::model> experienced_model(const database& db,
                                                                 const record_key& but,
                                                                 std::uint64_t seed,
                                                                 const std::function<bool()>& over,
                                                                 const cost::prior& start) {
  cost::tree_model_options options;
  options.seed = seed;
  auto out = std::make_shared<cost::adapted_trees>(start.trees, options);
  learn_records(*out, db, but, 600, over);
  return out;
}

TILEWRIGHT_INLINE std::vector<double> estimated_scores(const std::vector<candidate>& all,
                                                       const cost::prior& start) {
  cost::tree_model model({}, start.trees);
  std::vector<cost::sample> samples;
  for (const candidate& c : all) samples.push_back({&c.scheduled.function(), c.identity, {}});
  return model.predict(samples);
}

TILEWRIGHT_INLINE bool is_worth_adapting(const candidate& stored, const candidate& standard,
                                         const cost::prior& start) {
  if (start.trees.empty()) return true;
  // Of 14 products and 14 convolutions (bench_unseen), adapted schedules that were faster by 5 % or
  // more led by 0.56 and more; one led by 0.25 that took half as long again.
  constexpr double error = 0.4;
  const std::vector<double> scores = estimated_scores({stored, standard}, start);
  return scores[0] > scores[1] + error;
}

}  // namespace tilewright::search
