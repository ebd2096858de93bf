#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/mutators/choice.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/search/mutators/format.hpp>

namespace tilewright::search {
namespace detail {

/// A name without its digits.
inline std::string family_of_algorithm(std::string name) {
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return name;
}

}  // namespace detail

TILEWRIGHT_INLINE std::optional<trace> mutate_format(const trace& t, const ir::function& f,
                                                     support::random& random) {
  if (t.empty() || !detail::is_kind(t[0], "work_on") || !ir::has_alternatives(f))
    return std::nullopt;
  const auto* now = std::get_if<std::string>(&t[0].what->args[0]);
  if (!now) return std::nullopt;
  const std::string family = detail::family_of_algorithm(*now);
  std::vector<std::string> others;
  for (const std::string& name : ir::algorithm_names(f))
    if (name != *now && detail::family_of_algorithm(name) == family) others.push_back(name);
  if (others.empty()) return std::nullopt;
  auto* changed = new instruction(*t[0].what);
  const support::ref<const instruction> first(changed);
  changed->args[0] = others[random.below(others.size())];
  trace out;
  out.append(first, t[0].choice);
  for (std::size_t i = 1; i < t.size(); ++i) out.append(t[i].what, t[i].choice);
  return out;
}

}  // namespace tilewright::search
