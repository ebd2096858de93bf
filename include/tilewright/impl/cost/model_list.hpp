// What models that are made of models share: their text, and how well a batch was ranked.
#pragma once

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/cost/model.hpp>
#include <tilewright/cost/ranking.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::cost::detail {

using model_list = std::vector<std::shared_ptr<model>>;

/// @throws argument_error where one is null
inline void check_members(const model_list& members, std::string_view who) {
  for (const auto& m : members)
    if (!m) throw argument_error(std::string(who) + ": a member is null (requirement 1)");
}

inline bool any_reads_traces(const model_list& members) {
  return support::any(members, [](const auto& m) { return m->reads_traces(); });
}

/// Each member: "member BYTES" and its text.
inline std::string saved_members(const model_list& members) {
  std::string out;
  for (const auto& m : members) {
    const std::string own = m->save();
    out += "member " + std::to_string(own.size()) + "\n" + own;
  }
  return out;
}

/// All members read their texts, or none does.
/// @throws argument_error
inline void load_members(const model_list& members, std::string_view text, std::string_view who) {
  const auto damaged = [&] {
    return argument_error(std::string(who) + ": this is no saved text of these members");
  };
  std::vector<std::string_view> parts;
  for (std::size_t m = 0; m < members.size(); ++m) {
    constexpr std::string_view mark = "member ";
    if (text.substr(0, mark.size()) != mark) throw damaged();
    text.remove_prefix(mark.size());
    std::size_t size = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (problem != std::errc()) throw damaged();
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || text.front() != '\n' || size > text.size() - 1) throw damaged();
    parts.push_back(text.substr(1, size));
    text.remove_prefix(1 + size);
  }
  if (!text.empty()) throw damaged();
  std::vector<std::string> before;
  for (const auto& m : members) before.push_back(m->save());
  try {
    for (std::size_t m = 0; m < members.size(); ++m) members[m]->load(parts[m]);
  } catch (...) {
    for (std::size_t m = 0; m < members.size(); ++m) members[m]->load(before[m]);
    throw;
  }
}

/// Rank correlation of a model on measured programs; nothing where fewer than four are valid.
inline std::optional<double> correlation(model& m, std::span<const sample> measured) {
  std::vector<sample> valid;
  std::vector<double> speed;
  for (const sample& s : measured)
    if (std::isfinite(s.seconds) && s.seconds > 0) {
      valid.push_back(s);
      speed.push_back(1 / s.seconds);
    }
  if (valid.size() < 4) return std::nullopt;
  return 2 * pairwise_accuracy(m.predict(valid), speed) - 1;
}

}  // namespace tilewright::cost::detail
