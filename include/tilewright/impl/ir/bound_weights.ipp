#pragma once

#include <cstdint>
#include <variant>

#include <tilewright/ir/bound_weights.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE std::vector<buffer> bound_weights(const function& f) {
  std::vector<buffer> out;
  const auto found = f.attrs.find(bound_attribute);
  if (found == f.attrs.end()) return out;
  const auto* list = std::get_if<attr::list>(&found->second.value);
  if (!list) return out;
  for (const attr& entry : *list) {
    const auto* i = std::get_if<std::int64_t>(&entry.value);
    if (!i || *i < 0 || *i >= static_cast<std::int64_t>(f.params.size())) continue;
    if (const buffer& b = f.params[static_cast<std::size_t>(*i)].buffer) out.push_back(b);
  }
  return out;
}

}  // namespace tilewright::ir
