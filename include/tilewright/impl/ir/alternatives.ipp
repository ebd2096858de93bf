#pragma once

#include <variant>

#include <tilewright/impl/ir/algorithm.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::ir {
namespace detail::several {

inline std::string signature(const param& p) {
  if (!p.buffer) return std::string(name(p.scalar.type()));
  std::string out(name(p.buffer->type));
  for (const expr& extent : p.buffer->shape) out += " x " + print(extent);
  return out;
}

inline void need_same_signature(const function& a, const function& b) {
  if (a.name == b.name) refuse(a, b, "share a name; give each algorithm its own (requirement 1)");
  if (a.params.size() != b.params.size())
    refuse(a, b, "differ in the number of parameters (requirement 2)");
  for (std::size_t i = 0; i < a.params.size(); ++i)
    if (const std::string x = signature(a.params[i]), y = signature(b.params[i]); x != y)
      refuse(
          a, b,
          "differ in parameter " + std::to_string(i) + ": " + x + " and " + y + " (requirement 2)");
}

}  // namespace detail::several

TILEWRIGHT_INLINE bool has_alternatives(const function& f) {
  return f.attrs.count(alternatives_attribute) > 0;
}

TILEWRIGHT_INLINE function with_alternatives(function first, const std::vector<function>& others) {
  std::vector<function> all = alternatives(first);
  attr::list texts;
  for (const function& more : others)
    for (function& f : alternatives(more)) all.push_back(std::move(f));
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) detail::several::need_same_signature(all[k], all[i]);
    texts.emplace_back(print(all[i]));
  }
  if (!texts.empty()) first.attrs[alternatives_attribute] = std::move(texts);
  return first;
}

TILEWRIGHT_INLINE std::vector<function> alternatives(const function& f) {
  std::vector<function> out{detail::several::alone(f)};
  const auto found = f.attrs.find(alternatives_attribute);
  if (found == f.attrs.end()) return out;
  if (const auto* texts = std::get_if<attr::list>(&found->second.value))
    for (const attr& text : *texts)
      if (const auto* script = std::get_if<std::string>(&text.value))
        out.push_back(detail::several::alone(parse(*script)));
  return out;
}

TILEWRIGHT_INLINE function
map_alternatives(const function& f, support::function_ref<function(const function&)> change) {
  if (!has_alternatives(f)) return change(f);
  std::vector<function> all = alternatives(f);
  for (function& each : all) each = change(each);
  return with_alternatives(all.front(), {all.begin() + 1, all.end()});
}

}  // namespace tilewright::ir
