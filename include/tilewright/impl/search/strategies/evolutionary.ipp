#pragma once

#include <algorithm>
#include <cmath>
#include <map>

#include <tilewright/impl/search/replay_memory.hpp>
#include <tilewright/impl/search/sketch.hpp>
#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/impl/search/strategies/sample_maker.hpp>
#include <tilewright/impl/search/strategies/slots.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail {

/// Decisions of `a` and `b`, each from one of both; nothing when their sketches differ, or when
/// what comes out is one of them.
inline std::optional<trace> cross(const trace& a, const trace& b, support::random& random) {
  if (a.size() != b.size()) return std::nullopt;
  trace out;
  bool from_a = false, from_b = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].what->kind != b[i].what->kind) return std::nullopt;
    const bool differs = a[i].choice != b[i].choice, takes_b = differs && random.below(2) != 0;
    from_a |= differs && !takes_b;
    from_b |= takes_b;
    out.append(a[i].what, takes_b ? b[i].choice : a[i].choice);
  }
  return from_a && from_b ? std::optional(std::move(out)) : std::nullopt;
}

class evolver final : public drawing_strategy {
 public:
  evolver(std::shared_ptr<cost::model> model, const evolution_options& options)
      : model_(std::move(model)), options_(options) {}

  void start(const search_task& task, std::uint64_t seed) override {
    drawing_strategy::start(task, seed);
    shown_ = sample_maker(model_.get(), task.function);
    sieve_shown_ = sample_maker(options_.sieve.get(), task.function);
    for (const trace& t : task_.sketches) sketches_.push_back(sketch_of(t));
  }

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    met_.clear();
    chains_.clear();
    populate(over);
    score_all();
    meet_neighbours(over);
    keep_best_chains();
    double temperature = options_.temperature;
    for (int g = 0; g < options_.generations && !(over && over()); ++g) {
      advance(temperature, over);
      temperature *= options_.cooling;
    }
    return picks(count);
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    drawing_strategy::learn(measured, seconds);
    for (std::size_t i = 0; i < measured.size(); ++i)
      if (std::isfinite(seconds[i]))
        elite_.push_back({measured[i], seconds[i], sketch_of(measured[i].scheduled.trace())});
    support::stable_sort(
        elite_, [](const survivor& a, const survivor& b) { return a.seconds < b.seconds; });
    const auto kept = static_cast<std::size_t>(static_cast<double>(options_.population) *
                                               options_.measured_share);
    if (elite_.size() > kept)
      elite_.erase(elite_.begin() + static_cast<std::ptrdiff_t>(kept), elite_.end());
    model_->update(shown_(measured, seconds));
    if (options_.sieve) options_.sieve->update(sieve_shown_(measured, seconds));
  }

 private:
  static constexpr std::size_t neighbours_tried = 12;  // of each of the fastest programs

  struct survivor {
    candidate program;
    double seconds;
    support::hash128 sketch;
  };
  struct chain {
    candidate program;
    support::hash128 sketch;
    double score = 0;
  };
  /// A program that some chain has met and nobody measured.
  struct meeting {
    candidate program;
    double score;
    bool drawn;         // from the prior
    bool near = false;  // one change beside one of the fastest measured programs
  };

  /// Independent streams, drawn before any of them is used.
  std::vector<support::random> streams(std::size_t n) {
    std::vector<support::random> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(random_.split());
    return out;
  }

  void populate(const std::function<bool()>& over) {
    for (const survivor& s : elite_) chains_.push_back({s.program, s.sketch});
    elders_ = chains_.size();
    std::size_t missing = options_.population - std::min(options_.population, chains_.size());
    for (int round = 0; round < 5 && missing > 0; ++round) {
      draw_chains(missing, over);
      missing = options_.population - std::min(options_.population, chains_.size());
    }
  }

  /// `n` draws from the prior, in slots that may run at the same time.
  void draw_chains(std::size_t n, const std::function<bool()>& over) {
    const std::vector<support::random> draws = streams(n);
    std::vector<std::optional<candidate>> made(n);
    std::vector<std::string> why(n);
    const support::stage at("replay");
    const std::size_t first = next_sketch_;
    next_sketch_ += n;
    const std::size_t ran = for_slots(n, options_.threads, over, [&](std::size_t i) {
      support::random r = draws[i];
      const trace& sketch = task_.sketches[(first + i) % task_.sketches.size()];
      const trace drawn = task_.drawn(sketch, r);
      made[i] = replay(drawn, task_.function, r.next(), &why[i], task_.finish);
    });
    for (std::size_t i = 0; i < ran; ++i) {
      if (made[i]) {
        chains_.push_back({std::move(*made[i]), sketches_[(first + i) % sketches_.size()]});
        continue;
      }
      ++refused_;
      last_refusal_ = std::move(why[i]);
    }
  }

  std::vector<double> scores_of(const std::vector<const candidate*>& programs) {
    const support::stage at("score");
    return model_->predict(shown_(programs));
  }

  void score_all() {
    std::vector<const candidate*> programs;
    for (const chain& c : chains_) programs.push_back(&c.program);
    const std::vector<double> scores = scores_of(programs);
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      chains_[i].score = scores[i];
      meet(chains_[i].program, scores[i], i >= elders_);
    }
  }

  /// Most of a search's own time goes into replays of changed traces, which are worth most where they
  /// begin well.
  void keep_best_chains() {
    const double share = std::clamp(options_.changed, 0.0, 1.0);
    const auto kept =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(chains_.size())));
    support::stable_sort(chains_, [](const chain& a, const chain& b) { return a.score > b.score; });
    chains_.erase(chains_.begin() + static_cast<std::ptrdiff_t>(kept), chains_.end());
  }

  void meet(const candidate& c, double score, bool drawn) {
    if (!seen_.count(c.identity)) met_.try_emplace(c.identity, meeting{c, score, drawn});
  }

  /// Single changes of the fastest measured programs.
  void meet_neighbours(const std::function<bool()>& over) {
    const std::size_t n = neighbours_tried * std::min(options_.nearest, elite_.size());
    if (options_.near <= 0 || n == 0 || (over && over())) return;
    std::vector<support::random> draws = streams(n);
    std::vector<std::optional<candidate>> made(n);
    std::optional<support::stage> replaying("replay");
    for_slots(n, options_.threads, over, [&](std::size_t i) {
      const trace& from = elite_[i / neighbours_tried].program.scheduled.trace();
      if (const auto t = mutate_by(options_.changes, from, task_.function, draws[i]))
        made[i] = replayed_unless_known(*t, elite_[i / neighbours_tried].sketch, draws[i]);
    });
    replaying.reset();
    std::vector<const candidate*> programs;
    for (const auto& c : made)
      if (c && !seen_.count(c->identity)) programs.push_back(&*c);
    const std::vector<double> scores = scores_of(programs);
    for (std::size_t i = 0; i < programs.size(); ++i) {
      meet(*programs[i], scores[i], false);
      met_.at(programs[i]->identity).near = true;
    }
  }

  /// The trace replayed, unless what comes of it is known. Draws the same either way.
  std::optional<candidate> replayed_unless_known(const trace& t, const support::hash128& of_chain,
                                                 support::random& r) {
    const std::uint64_t seed = r.next();
    const support::hash128 sketch = sketch_after(t, of_chain);
    if (options_.refused_early && !options_.refused_early(t).empty()) return std::nullopt;
    if (task_.finish) return replay(t, task_.function, seed, nullptr, task_.finish);
    replay_memory::answer before = memory_.find(sketch, t);
    if (before.refused || before.known) return std::move(before.known);
    replay_refusal refusal;
    std::optional<candidate> out = memory_.replay(sketch, t, task_.function, seed, refusal);
    if (out)
      memory_.add(sketch, out->scheduled.trace(), *out);
    else if (refusal.instruction)
      memory_.add_refusal(sketch, t, *refusal.instruction);
    return out;
  }

  /// The sketch of what changes have made of a trace of `before`: another algorithm is another sketch.
  support::hash128 sketch_after(const trace& t, const support::hash128& before) const {
    return ir::has_alternatives(task_.function) ? sketch_of(t) : before;
  }

  double spread() const {
    double mean = 0, square = 0;
    const auto n = static_cast<double>(chains_.size());
    for (const chain& c : chains_) mean += c.score / n;
    for (const chain& c : chains_) square += (c.score - mean) * (c.score - mean) / n;
    return std::max(std::sqrt(square), 1e-9);
  }

  /// One step of every chain, or of those whose turn comes before it is over.
  void advance(double temperature, const std::function<bool()>& over) {
    const std::size_t n = chains_.size();
    std::map<support::hash128, std::vector<std::size_t>> of_sketch;
    for (std::size_t i = 0; i < n; ++i) of_sketch[chains_[i].sketch].push_back(i);
    std::vector<support::random> draws = streams(n);
    const std::vector<std::vector<trace>> chosen = sieved(of_sketch, draws);
    std::vector<std::optional<candidate>> next(n);
    std::vector<int> failures(n, 0);
    const auto step = [&](std::size_t i) {
      for (int attempt = 0; attempt < options_.attempts && !next[i]; ++attempt) {
        const auto at = static_cast<std::size_t>(attempt);
        const std::optional<trace> t =
            at < chosen[i].size() ? std::optional(chosen[i][at])
                                  : changed(chains_[i], of_sketch.at(chains_[i].sketch), draws[i]);
        if (!t) continue;  // nothing to change: no trace was refused
        next[i] = replayed_unless_known(*t, chains_[i].sketch, draws[i]);
        if (!next[i]) ++failures[i];
      }
    };
    std::optional<support::stage> replaying("replay");
    for_slots(n, options_.threads, over, step);
    replaying.reset();
    std::vector<const candidate*> programs;
    for (const auto& c : next)
      if (c) programs.push_back(&*c);
    const std::vector<double> scores = scores_of(programs);
    const double scale = 1 / (spread() * std::max(temperature, 1e-6));
    std::size_t at = 0;
    for (std::size_t i = 0; i < n; ++i) {
      refused_ += static_cast<std::size_t>(failures[i]);
      if (!next[i]) continue;
      const double score = scores[at++];
      meet(*next[i], score, false);
      chain& c = chains_[i];
      const double gain =
          (score - c.score) * scale + options_.prior * (next[i]->log_prior - c.program.log_prior);
      if (!accepted(gain, draws[i])) continue;
      const support::hash128 sketch = sketch_after(next[i]->scheduled.trace(), c.sketch);
      c = {std::move(*next[i]), sketch, score};
    }
  }

  /// Changes of each chain that are to be tried first, what the sieve likes best before the others.
  std::vector<std::vector<trace>> sieved(
      const std::map<support::hash128, std::vector<std::size_t>>& of_sketch,
      std::vector<support::random>& draws) {
    std::vector<std::vector<trace>> out(chains_.size());
    if (!options_.sieve) return out;
    const support::stage at("score");
    std::vector<cost::sample> samples;
    for (std::size_t i = 0; i < chains_.size(); ++i)
      for (std::size_t k = 0; k < options_.sieved; ++k)
        if (auto t = changed(chains_[i], of_sketch.at(chains_[i].sketch), draws[i])) {
          cost::sample s;
          s.trace = std::make_shared<const std::vector<cost::trace_token>>(
              tokens_of(*t, chains_[i].program.scheduled));
          samples.push_back(std::move(s));
          out[i].push_back(std::move(*t));
        }
    const std::vector<double> scores = options_.sieve->predict(samples);
    std::size_t first = 0;
    for (std::vector<trace>& traces : out) {
      std::vector<std::pair<double, trace>> ranked;
      for (trace& t : traces) ranked.emplace_back(scores[first++], std::move(t));
      support::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
      for (std::size_t k = 0; k < traces.size(); ++k) traces[k] = std::move(ranked[k].second);
    }
    return out;
  }

  /// @param mates the chains of the same sketch
  std::optional<trace> changed(const chain& c, const std::vector<std::size_t>& mates,
                               support::random& r) const {
    const trace& t = c.program.scheduled.trace();
    if (r.unit() < options_.crossover) {
      const chain& other = chains_[mates[r.below(mates.size())]];
      if (std::optional<trace> crossed = cross(t, other.program.scheduled.trace(), r))
        return crossed;
    }
    std::optional<trace> out = mutate_by(options_.changes, t, task_.function, r);
    if (out && r.below(4) == 0)
      if (std::optional<trace> twice = mutate_by(options_.changes, *out, task_.function, r))
        return twice;
    return out;
  }

  /// With probability min(1, exp(gain)), compared as integers of 20 bits so that mathematical
  /// libraries that differ in the last place decide alike.
  static bool accepted(double gain, support::random& r) {
    const std::uint64_t ticket = r.next() >> 44;
    if (gain >= 0) return true;
    return ticket < static_cast<std::uint64_t>(std::exp(gain) * 0x1.0p20);
  }

  std::vector<candidate> picks(std::size_t count) {
    std::vector<const meeting*> ranked;
    for (const auto& [key, m] : met_) ranked.push_back(&m);
    support::stable_sort(ranked,
                         [](const meeting* a, const meeting* b) { return a->score > b->score; });
    const auto part = [&](double share) {
      return static_cast<std::size_t>(std::ceil(share * static_cast<double>(count)));
    };
    const std::size_t near = part(options_.near);
    const std::size_t greedy = part(elite_.empty() ? options_.first_greedy : options_.greedy);
    std::vector<candidate> out;
    for (std::size_t i = 0; i < ranked.size() && out.size() < near; ++i)
      if (ranked[i]->near) take(*ranked[i], out);
    std::size_t next = 0;
    for (; next < ranked.size() && out.size() < greedy; ++next) take(*ranked[next], out);
    std::vector<const meeting*> drawn;
    for (std::size_t i = next; i < ranked.size(); ++i)
      if (ranked[i]->drawn) drawn.push_back(ranked[i]);
    while (out.size() < count && !drawn.empty()) {
      const std::size_t i = random_.below(drawn.size());
      take(*drawn[i], out);
      drawn.erase(drawn.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (; next < ranked.size() && out.size() < count; ++next) take(*ranked[next], out);
    return out;
  }

  void take(const meeting& m, std::vector<candidate>& out) {
    if (seen_.insert(m.program.identity).second) out.push_back(m.program);
  }

  std::shared_ptr<cost::model> model_;
  evolution_options options_;
  sample_maker shown_, sieve_shown_;
  std::vector<support::hash128> sketches_;  // [sketches of the task]
  std::vector<survivor> elite_;
  std::vector<chain> chains_;
  std::size_t elders_ = 0;  // chains that start from measured programs
  std::map<support::hash128, meeting> met_;
  replay_memory memory_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> evolutionary(std::shared_ptr<cost::model> model,
                                                         const evolution_options& options) {
  return std::make_unique<detail::evolver>(std::move(model), options);
}

}  // namespace tilewright::search
