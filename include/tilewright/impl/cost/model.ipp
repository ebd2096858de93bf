#pragma once

#include <algorithm>

#include <tilewright/cost/model.hpp>
#include <tilewright/impl/cost/trees/tree_training.hpp>
#include <tilewright/impl/support/stage_clock.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::cost {

TILEWRIGHT_INLINE random_model::random_model(std::uint64_t seed) : draws_(seed), seed_(seed) {}

TILEWRIGHT_INLINE std::vector<double> random_model::predict(std::span<const sample> programs) {
  std::vector<double> out;
  for (std::size_t i = 0; i < programs.size(); ++i) out.push_back(draws_.unit());
  taken_ += programs.size();
  return out;
}

TILEWRIGHT_INLINE std::string random_model::save() const {
  return "random " + std::to_string(seed_) + " " + std::to_string(taken_);
}

TILEWRIGHT_INLINE void random_model::load(std::string_view text) {
  constexpr std::string_view start = "random ";
  const std::string_view numbers = text.substr(std::min(start.size(), text.size()));
  const std::size_t space = std::min(numbers.find(' '), numbers.size());
  const auto seed = support::read_number<std::uint64_t>(numbers.substr(0, space)),
             taken = support::read_number<std::uint64_t>(
                 numbers.substr(std::min(space + 1, numbers.size())));
  constexpr std::uint64_t most = std::uint64_t{1} << 28;  // draws are made again one by one
  if (text.substr(0, start.size()) != start || !seed || !taken || *taken > most)
    throw argument_error("random_model: this is no saved random model");
  seed_ = *seed;
  taken_ = *taken;
  draws_ = support::random(seed_);
  for (std::uint64_t i = 0; i < taken_; ++i) draws_.next();
}

TILEWRIGHT_INLINE tree_model::tree_model(tree_model_options options, gbt prior)
    : options_(std::move(options)), prior_(std::move(prior)), draws_(options_.seed) {
  if (!prior_.empty() && prior_.columns() != columns())
    throw argument_error("tree_model: the prior was trained on other features");
  trees_ = prior_;
}

TILEWRIGHT_INLINE std::size_t tree_model::columns() const {
  return options_.extractor.rows ? options_.extractor.columns : feature_count;
}

TILEWRIGHT_INLINE tree_model::row_list tree_model::rows_of(const sample& s) {
  const support::stage at("features");
  if (!options_.extractor.rows) {
    const feature_cache::rows rows = features_.of(*s.program, s.key, options_.features);
    if (rows->empty()) return {};
    return {{rows, rows->front().data()}, rows->size()};
  }
  constexpr std::size_t most = 1 << 14;
  if (const auto known = extracted_.find(s.key); known != extracted_.end()) return known->second;
  auto x = std::make_shared<const std::vector<float>>(options_.extractor.rows(*s.program));
  if (columns() == 0 || x->size() % columns() != 0)
    throw argument_error("tree_model: the feature extractor gave " + std::to_string(x->size()) +
                         " numbers, which are no rows of " + std::to_string(columns()));
  if (extracted_.size() >= most) extracted_.clear();
  const row_list out{{x, x->data()}, x->size() / columns()};
  extracted_.emplace(s.key, out);
  return out;
}

TILEWRIGHT_INLINE std::vector<double> tree_model::predict(std::span<const sample> programs) {
  std::vector<double> out;
  for (const sample& s : programs) {
    if (trees_.empty()) {
      out.push_back(draws_.unit());
      continue;
    }
    const row_list rows = rows_of(s);
    out.push_back(rows.count == 0 ? 0.0
                                  : static_cast<double>(trees_.score(rows.x.get(), rows.count)));
  }
  return out;
}

TILEWRIGHT_INLINE void tree_model::update(std::span<const sample> measured) {
  for (const sample& s : measured) {
    row_list rows = rows_of(s);
    if (rows.count == 0) continue;
    known_.push_back({std::move(rows), s.workload, s.seconds});
    ++fresh_;
  }
  if (known_.size() > options_.most_data)
    known_.erase(known_.begin(), known_.end() - static_cast<std::ptrdiff_t>(options_.most_data));
  const bool enough = known_.size() >= options_.warmup || !prior_.empty();
  if (enough && detail::training_is_due(fresh_, trained_, options_.retrain_share)) train();
}

TILEWRIGHT_INLINE dataset tree_model::data() const {
  return detail::training_set(known_, columns());
}

TILEWRIGHT_INLINE void tree_model::train() {
  if (known_.empty()) return;
  gbt next = prior_;
  next.boost(data(), prior_.empty() ? options_.trees
                                    : detail::correction_by(known_.size(), options_.trees));
  trees_ = std::move(next);
  trained_ = known_.size();
  fresh_ = 0;
}

TILEWRIGHT_INLINE void tree_model::load(std::string_view text) {
  gbt loaded = gbt::load(text);
  if (!loaded.empty() && loaded.columns() != columns())
    throw argument_error("tree_model: the trees were trained on other features");
  prior_ = loaded;
  trees_ = std::move(loaded);
  trained_ = 0;
  fresh_ = known_.size();
}

}  // namespace tilewright::cost
