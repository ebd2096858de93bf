// Models whose scores are known, for tests of models that are made of models.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/cost/model.hpp>
#include <tilewright/support/error.hpp>

namespace factor_models {

using namespace tilewright;
using namespace tilewright::cost;

/// Scores are the numbers of the programs times a factor; nothing is learned.
struct factor_model final : model {
  double factor;
  std::size_t learned = 0;
  explicit factor_model(double f) : factor(f) {}
  std::vector<double> predict(std::span<const sample> programs) override {
    std::vector<double> out;
    for (const sample& s : programs) out.push_back(factor * static_cast<double>(s.key.lo));
    return out;
  }
  void update(std::span<const sample> measured) override { learned += measured.size(); }
  std::string save() const override { return "factor " + std::to_string(static_cast<int>(factor)); }
  void load(std::string_view text) override {
    if (text.substr(0, 7) != "factor ") throw argument_error("factor_model: no");
  }
};

/// Program number n runs at speed n.
inline std::vector<sample> programs(std::uint64_t from, std::uint64_t to) {
  std::vector<sample> out;
  for (std::uint64_t n = from; n < to; ++n)
    out.push_back({nullptr, {0, n}, {1, 0}, 1 / static_cast<double>(n)});
  return out;
}

inline std::shared_ptr<factor_model> factor(double f) { return std::make_shared<factor_model>(f); }

}  // namespace factor_models
