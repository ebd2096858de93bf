// The text of saved trees, read word by word; nothing in it is trusted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::cost::detail {

/// Words of a saved model.
class model_reader {
 public:
  explicit model_reader(std::string_view text) : rest_(text) {}

  std::string_view word() {
    const std::size_t from = rest_.find_first_not_of(" \n");
    if (from == std::string_view::npos) return {};
    const std::size_t to = std::min(rest_.find_first_of(" \n", from), rest_.size());
    const std::string_view out = rest_.substr(from, to - from);
    rest_.remove_prefix(to);
    return out;
  }
  std::size_t count(std::size_t most) {
    const auto n = support::read_number<std::size_t>(word());
    if (!n || *n > most) throw argument_error("gbt: damaged model");
    return *n;
  }
  /// Thresholds are infinite where nothing is split.
  float threshold() {
    const auto x = support::read_number<float>(word());
    if (!x || std::isnan(*x)) throw argument_error("gbt: damaged model");
    return *x;
  }
  float number() {
    const float x = threshold();
    constexpr float most = 1e9f;  // sums stay finite
    if (!(std::abs(x) <= most)) throw argument_error("gbt: damaged model");
    return x;
  }

 private:
  std::string_view rest_;
};

}  // namespace tilewright::cost::detail
