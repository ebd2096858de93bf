// Names of algorithms in another form: the name of the algorithm, and what stands behind it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tilewright::primitive {

/// With reductions over one domain joined in one; no name of an algorithm has a dot.
inline constexpr std::string_view joined_suffix = ".joined";
/// With sums of products taken apart.
inline constexpr std::string_view factored_suffix = ".factored";
/// With reductions over what stands before an element as scans.
inline constexpr std::string_view scans_suffix = ".scans";
/// With a cascade of reductions in parts; the length of a part follows.
inline constexpr std::string_view parts_suffix = ".parts";
/// With a cascade of reductions in parts that are added to what is there; rows of a tile and the length of a part
/// follow.
inline constexpr std::string_view running_suffix = ".running";
/// With a cascade padded; multiples that its rows and its axis grow to follow.
inline constexpr std::string_view padded_suffix = ".padded";

/// What stands before the suffix; nothing where the name does not end with it.
inline std::optional<std::string> before_suffix(const std::string& name, std::string_view suffix) {
  if (!std::string_view(name).ends_with(suffix)) return std::nullopt;
  return name.substr(0, name.size() - suffix.size());
}

/// The algorithm of which `name` is a form with reductions joined, factored or scanned, or the name itself.
inline std::string without_forms(std::string name) {
  for (;;) {
    std::optional<std::string> plain = before_suffix(name, factored_suffix);
    if (!plain) plain = before_suffix(name, joined_suffix);
    if (!plain) plain = before_suffix(name, scans_suffix);
    if (!plain) return name;
    name = std::move(*plain);
  }
}

}  // namespace tilewright::primitive
