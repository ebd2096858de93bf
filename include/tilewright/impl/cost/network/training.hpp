// Training that all networks share: data by workload, pretraining, tuning, and their text.
//
// A network is a class `Pass` with the type `input` of a program, built from weights and a list of
// inputs, with `scores()` and `backward(by_score, whole)`, the derivatives by the weights; without
// `whole`, by those of the last layers alone. The weights of these stand behind all others, from
// `Pass::last()` on; what they look at is `embeddings()`, and `Pass::last_layers` are they alone.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/cost/model.hpp>
#include <tilewright/cost/network_options.hpp>
#include <tilewright/impl/cost/network/score_loss.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::cost::detail {

template <class Pass>
class network_training {
 public:
  using input = typename Pass::input;
  struct datum {
    std::shared_ptr<const input> program;
    support::hash128 workload;
    double seconds;
  };
  /// Programs of one workload with their labels, the best time over the own one.
  struct group {
    std::vector<std::shared_ptr<const input>> programs;
    std::vector<double> labels;
  };
  struct slope {
    double loss;
    layer_vector by_weight;
  };

  explicit network_training(const network_options& options, layer_vector first)
      : base(first), weights(std::move(first)), options_(options) {}

  layer_vector base, weights;  // pretrained; tuned

  /// Failed programs are left out.
  static std::vector<group> groups(const std::vector<datum>& data) {
    std::map<support::hash128, group> by_workload;
    std::map<support::hash128, double> best;
    for (const datum& d : data) {
      if (!std::isfinite(d.seconds) || !(d.seconds > 0)) continue;
      const auto [at, first] = best.try_emplace(d.workload, d.seconds);
      at->second = std::min(at->second, d.seconds);
    }
    for (const datum& d : data) {
      if (!std::isfinite(d.seconds) || !(d.seconds > 0)) continue;
      group& g = by_workload[d.workload];
      g.programs.push_back(d.program);
      g.labels.push_back(best[d.workload] / d.seconds);
    }
    std::vector<group> out;
    for (auto& [key, g] : by_workload) out.push_back(std::move(g));
    return out;
  }

  slope at(const layer_vector& w, const group& g, const std::vector<std::size_t>& chosen,
           bool whole) const {
    std::vector<const input*> programs;
    std::vector<double> labels;
    for (const std::size_t i : chosen) {
      programs.push_back(g.programs[i].get());
      labels.push_back(g.labels[i]);
    }
    const Pass pass(w, programs);
    const score_loss l(pass.scores(), labels, options_.goal);
    return {l.value, pass.backward(l.by_score, whole)};
  }

  static std::vector<std::size_t> all_of(const group& g) {
    std::vector<std::size_t> out(g.programs.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    return out;
  }

  std::vector<double> scores(const std::vector<const input*>& programs) const {
    if (programs.empty()) return {};
    const Pass pass(weights, programs);
    return {pass.scores().data(), pass.scores().data() + pass.scores().size()};
  }

  /// Learns a measured program; `tune_if_due` tells when the last of them has come.
  void add(datum d) {
    data_.push_back(std::move(d));
    ++fresh_;
  }
  void tune_if_due() {
    if (data_.size() > options_.most_data)
      data_.erase(data_.begin(), data_.end() - static_cast<std::ptrdiff_t>(options_.most_data));
    const double wanted = options_.retrain_share * static_cast<double>(tuned_);
    if (static_cast<double>(fresh_) >= std::max(1.0, wanted)) tune();
  }
  void forget() {
    data_.clear();
    tuned_ = fresh_ = 0;
  }

  /// Trains from `first` on; these become the weights that tuning starts from.
  /// @returns the mean loss of each epoch
  std::vector<double> pretrain(const std::vector<datum>& data, layer_vector first) {
    forget();
    const std::vector<group> all = groups(data);
    adam steps(first.size(), options_.rate, options_.decay, options_.clip);
    support::random draws(options_.seed + 1);
    std::vector<double> losses;
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      double sum = 0, count = 0;
      for (const group& g : all) {
        // as many batches as see each program about once
        const std::size_t batches = (g.programs.size() + options_.batch - 1) / options_.batch;
        for (std::size_t b = 0; b < batches && g.programs.size() > 1; ++b) {
          const slope now = at(first, g, batch_of(g, draws), true);
          steps.step(first, now.by_weight);
          sum += now.loss;
          ++count;
        }
      }
      losses.push_back(count > 0 ? sum / count : 0);
    }
    base = weights = std::move(first);
    return losses;
  }

 private:
  std::vector<std::size_t> batch_of(const group& g, support::random& draws) const {
    std::vector<std::size_t> out = all_of(g);
    for (std::size_t i = out.size(); i-- > 1;) std::swap(out[i], out[draws.below(i + 1)]);
    out.resize(std::min(out.size(), options_.batch));
    return out;
  }

  void tune() {
    const std::vector<group> all = groups(data_);
    weights = base;
    tuned_ = data_.size();
    fresh_ = 0;
    if (all.empty()) return;
    data_.size() >= options_.whole_from ? tune_whole(all) : tune_last(all);
    base += options_.momentum * (weights - base);
  }

  void tune_whole(const std::vector<group>& all) {
    adam steps(weights.size(), options_.tuning_rate * 0.3, options_.decay, options_.clip);
    support::random draws(options_.seed);
    for (int i = 0; i < options_.tuning_steps; ++i) {
      const group& g = all[static_cast<std::size_t>(i) % all.size()];
      if (g.programs.size() < 2) continue;
      steps.step(weights, at(weights, g, batch_of(g, draws), true).by_weight);
    }
  }

  /// The last layers alone, while the others stay: what these make of each program is computed once.
  void tune_last(const std::vector<group>& all) {
    std::vector<layer_matrix> known;
    for (const group& g : all) {
      std::vector<const input*> programs;
      for (const auto& p : g.programs) programs.push_back(p.get());
      known.push_back(Pass(weights, programs).embeddings());
    }
    layer_vector last = weights.tail(weights.size() - Pass::last());
    adam steps(last.size(), options_.tuning_rate, options_.decay, options_.clip);
    support::random draws(options_.seed);
    for (int i = 0; i < options_.tuning_steps; ++i) {
      const std::size_t which = static_cast<std::size_t>(i) % all.size();
      if (all[which].programs.size() < 2) continue;
      const std::vector<std::size_t> chosen = batch_of(all[which], draws);
      layer_matrix x(static_cast<Eigen::Index>(chosen.size()), known[which].cols());
      std::vector<double> labels;
      for (const std::size_t c : chosen) {
        x.row(static_cast<Eigen::Index>(labels.size())) =
            known[which].row(static_cast<Eigen::Index>(c));
        labels.push_back(all[which].labels[c]);
      }
      const typename Pass::last_layers pass(last.data(), x);
      const score_loss l(pass.scores(), labels, options_.goal);
      layer_vector by_weight = layer_vector::Zero(last.size());
      pass.backward(l.by_score, by_weight.data());
      steps.step(last, std::move(by_weight));
    }
    weights.tail(last.size()) = last;
  }

  network_options options_;
  std::vector<datum> data_;
  std::size_t tuned_ = 0, fresh_ = 0;  // programs of the last tuning; since then
};

/// Numbers as text in single precision, 16 on a line.
class number_writer {
 public:
  explicit number_writer(std::string& to) : to_(to) {}
  void put(double x) {
    char text[32];
    to_.append(text, std::to_chars(text, text + sizeof text, static_cast<float>(x)).ptr);
    to_ += ++count_ % 16 == 0 ? '\n' : ' ';
  }

 private:
  std::string& to_;
  std::size_t count_ = 0;
};

/// Reads them back, and trusts nothing.
class number_reader {
 public:
  /// @param who begins the texts of errors
  number_reader(std::string_view text, std::string_view who)
      : start_(text.data()), at_(start_), end_(start_ + text.size()), who_(who) {}

  /// @throws argument_error where a number is missing or not finite
  double next() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n')) ++at_;
    float x = 0;
    const auto [stop, problem] = std::from_chars(at_, end_, x);
    constexpr float most = 1e6f;  // scores stay finite
    if (problem != std::errc() || !(std::abs(x) <= most))
      throw argument_error(std::string(who_) +
                           ": a number is missing, too large or not finite at byte " +
                           std::to_string(at_ - start_));
    at_ = stop;
    return static_cast<double>(x);
  }
  double positive() {
    const double x = next();
    if (!(x > 1e-9)) throw argument_error(std::string(who_) + ": a deviation is not positive");
    return x;
  }
  void fill(layer_vector& to) {
    for (Eigen::Index i = 0; i < to.size(); ++i) to[i] = next();
  }

 private:
  const char *start_, *at_, *end_;
  std::string_view who_;
};

}  // namespace tilewright::cost::detail
