#pragma once

#include <algorithm>
#include <cmath>

#include <tilewright/impl/search/sketch.hpp>
#include <tilewright/search/trace_coordinates.hpp>

namespace tilewright::search {
namespace detail {

/// The argument of that name; null where the kind has none.
inline const argument* argument_named(const instruction& what, std::string_view name) {
  for (std::size_t i = 0; i < what.kind->parameters.size() && i < what.args.size(); ++i)
    if (what.kind->parameters[i].name == name) return &what.args[i];
  return nullptr;
}

/// Factors of a tile that an instruction draws; 0 where it draws something else.
inline std::size_t drawn_factors(const instruction& what) {
  if (what.kind->choice != decision_shape::many) return 0;
  const argument* n = argument_named(what, "n");
  const std::int64_t* count = n ? std::get_if<std::int64_t>(n) : nullptr;
  return count && *count > 0 ? static_cast<std::size_t>(*count) : 0;
}

inline const std::vector<std::int64_t>* candidates_of(const instruction& what) {
  const argument* a = argument_named(what, "candidates");
  return a ? std::get_if<std::vector<std::int64_t>>(a) : nullptr;
}

inline bool is_ascending(const std::vector<std::int64_t>& v) {
  return std::adjacent_find(v.begin(), v.end(),
                            [](std::int64_t a, std::int64_t b) { return a >= b; }) == v.end();
}

}  // namespace detail

/// Calls `visit(step, kind, which one of its kind)` for each instruction that draws.
template <class Visit>
inline void trace_coordinates::for_choices(const trace& t, const Visit& visit) {
  std::map<std::string_view, std::size_t> met;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const instruction_kind& kind = *t[i].what->kind;
    if (kind.choice != decision_shape::none && !t.is_fixed(i))
      visit(t[i], kind.name, met[kind.name]++);
  }
}

TILEWRIGHT_INLINE trace_coordinates::trace_coordinates(std::span<const trace> sketches) {
  for (const trace& t : sketches) {
    sketches_.try_emplace(detail::sketch_of(t), static_cast<std::int64_t>(sketches_.size()));
    for_choices(t, [&](const trace::step& s, std::string_view kind, std::size_t which) {
      const std::size_t factors = detail::drawn_factors(*s.what);
      for (std::size_t f = 1; f < factors; ++f)
        ordered_.try_emplace({kind, which, f}, ordered_.size());
      if (factors > 0) return;
      const std::vector<std::int64_t>* list = detail::candidates_of(*s.what);
      auto& sort = list && !detail::is_ascending(*list) ? categories_ : ordered_;
      sort.try_emplace({kind, which, 0}, sort.size());
    });
  }
}

TILEWRIGHT_INLINE cost::mixed_point trace_coordinates::of(const trace& t) const {
  cost::mixed_point out;
  out.ordered.assign(ordered_.size(), 0.5);
  out.categories.assign(categories_.size() + 1, -1);
  const auto sketch = sketches_.find(detail::sketch_of(t));
  if (sketch != sketches_.end()) out.categories.back() = sketch->second;
  const auto place = [&](const key& k, double value) {
    if (const auto at = ordered_.find(k); at != ordered_.end()) out.ordered[at->second] = value;
  };
  for_choices(t, [&](const trace::step& s, std::string_view kind, std::size_t which) {
    if (s.choice.empty()) return;
    if (const std::size_t factors = detail::drawn_factors(*s.what)) {
      double whole = 0;
      for (const std::int64_t f : s.choice)
        whole += std::log2(static_cast<double>(std::max<std::int64_t>(f, 1)));
      for (std::size_t f = 1; f < factors && f < s.choice.size(); ++f)
        place({kind, which, f},
              std::log2(static_cast<double>(std::max<std::int64_t>(s.choice[f], 1))) /
                  std::max(whole, 1.0));
      return;
    }
    const std::int64_t chosen = s.choice.front();
    const std::vector<std::int64_t>* list = detail::candidates_of(*s.what);
    if (!list)
      return place({kind, which, 0}, std::clamp(static_cast<double>(chosen + 2) / 12, 0.0, 1.0));
    if (const auto at = categories_.find({kind, which, 0}); at != categories_.end())
      out.categories[at->second] = chosen;
    place({kind, which, 0}, static_cast<double>(chosen) /
                                static_cast<double>(std::max<std::size_t>(list->size() - 1, 1)));
  });
  return out;
}

}  // namespace tilewright::search
