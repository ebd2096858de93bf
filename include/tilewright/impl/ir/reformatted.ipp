#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include <tilewright/impl/ir/algorithm.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::ir {
namespace detail::several {

/// The functions of texts that this thread has parsed lately: a search begins every replay with one of a
/// few algorithms.
class parsed_texts {
 public:
  function get(const std::string& text) {
    for (const auto& [known, f] : all_)
      if (known == text) return f;
    if (all_.size() == most) all_.erase(all_.begin());
    all_.emplace_back(text, parse(text));
    return all_.back().second;
  }

 private:
  static constexpr std::size_t most = 32;
  std::vector<std::pair<std::string, function>> all_;
};

/// The function that a script defines.
inline std::string_view defined_name(std::string_view script) {
  constexpr std::string_view word = "def ";
  const std::size_t at = script.find(word);
  if (at == std::string_view::npos) return {};
  script.remove_prefix(at + word.size());
  return script.substr(0, std::min(script.find('('), script.size()));
}

/// Calls `use` with each script beside the function, until it says true.
template <class Use>
void each_script(const function& f, const Use& use) {
  const auto found = f.attrs.find(alternatives_attribute);
  if (found == f.attrs.end()) return;
  if (const auto* texts = std::get_if<attr::list>(&found->second.value))
    for (const attr& text : *texts)
      if (const auto* script = std::get_if<std::string>(&text.value))
        if (use(*script)) return;
}

}  // namespace detail::several

TILEWRIGHT_INLINE function with_reformatted(function first, const std::vector<function>& others) {
  std::vector<function> all = alternatives(first);
  attr::list texts;
  for (const function& more : others)
    for (function& f : alternatives(more)) all.push_back(std::move(f));
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k)
      if (all[k].name == all[i].name)
        detail::several::refuse(all[k], all[i],
                                "share a name; give each algorithm its own (requirement 1)");
    texts.emplace_back(print(all[i]));
  }
  if (!texts.empty()) first.attrs[alternatives_attribute] = std::move(texts);
  return first;
}

TILEWRIGHT_INLINE std::optional<function> alternative(const function& f, std::string_view name) {
  if (f.name == name) return detail::several::alone(f);
  thread_local detail::several::parsed_texts known;
  std::optional<function> out;
  detail::several::each_script(f, [&](const std::string& script) {
    if (detail::several::defined_name(script) == name)
      out = detail::several::alone(known.get(script));
    return out.has_value();
  });
  return out;
}

TILEWRIGHT_INLINE std::vector<std::string> algorithm_names(const function& f) {
  std::vector<std::string> out{f.name};
  detail::several::each_script(f, [&](const std::string& script) {
    out.emplace_back(detail::several::defined_name(script));
    return false;
  });
  return out;
}

TILEWRIGHT_INLINE std::vector<std::int64_t> sizes_in(const annotations& notes) {
  std::vector<std::int64_t> out;
  const auto found = notes.find(sizes_attribute);
  const auto* list = found == notes.end() ? nullptr : std::get_if<attr::list>(&found->second.value);
  if (!list) return out;
  for (const attr& each : *list)
    if (const auto* size = std::get_if<std::int64_t>(&each.value)) out.push_back(*size);
  return out;
}

TILEWRIGHT_INLINE std::string sized_name(const std::string& family,
                                         const std::vector<std::int64_t>& sizes) {
  std::string out = family;
  for (const std::int64_t size : sizes) out += "_" + std::to_string(size);
  return out;
}

TILEWRIGHT_INLINE std::vector<algorithm_family> algorithm_families(const function& f) {
  std::vector<algorithm_family> out;
  for (const function& one : alternatives(f)) {
    std::vector<std::int64_t> sizes = sizes_in(one.attrs);
    const std::string end = sized_name({}, sizes);
    std::string name = one.name;
    if (name.ends_with(end))
      name.resize(name.size() - end.size());
    else
      sizes.clear();
    const auto known = support::find(out, [&](const algorithm_family& a) {
      return a.name == name && a.sizes[0].size() == sizes.size() && !sizes.empty();
    });
    if (known == out.end())
      out.push_back({std::move(name), {std::move(sizes)}});
    else
      known->sizes.push_back(std::move(sizes));
  }
  return out;
}

}  // namespace tilewright::ir
