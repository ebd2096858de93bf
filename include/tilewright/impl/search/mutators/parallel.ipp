#pragma once

#include <algorithm>

#include <tilewright/impl/search/mutators/choice.hpp>
#include <tilewright/search/mutators/parallel.hpp>

namespace tilewright::search {
namespace detail {

/// The integer in the annotation `meta_schedule.parallel`; null when `s` is none.
inline const std::int64_t* parallel_jobs(const trace::step& s) {
  if (!is_kind(s, "annotate")) return nullptr;
  bool right_key = false;
  const std::int64_t* jobs = nullptr;
  for (const argument& a : s.what->args) {
    if (const auto* key = std::get_if<std::string>(&a))
      right_key = *key == "meta_schedule.parallel";
    if (const auto* note = std::get_if<annotation_value>(&a))
      if (const auto* value = std::get_if<ir::attr>(&note->value))
        jobs = std::get_if<std::int64_t>(&value->value);
  }
  return right_key ? jobs : nullptr;
}

}  // namespace detail

TILEWRIGHT_INLINE std::optional<trace> mutate_parallel(const trace& t, const ir::function&,
                                                       support::random& random) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (detail::parallel_jobs(t[i])) at.push_back(i);
  if (at.empty()) return std::nullopt;
  const std::size_t chosen = at[random.below(at.size())];
  const std::int64_t jobs = *detail::parallel_jobs(t[chosen]);
  const bool more = jobs <= 1 || (jobs < 4096 && random.below(2) == 0);
  auto* changed = new instruction(*t[chosen].what);
  const support::ref<const instruction> shared(changed);
  for (argument& a : changed->args)
    if (std::holds_alternative<annotation_value>(a))
      a = annotation_value(more ? std::max<std::int64_t>(jobs, 1) * 2 : jobs / 2);
  trace out;
  for (std::size_t i = 0; i < t.size(); ++i)
    out.append(i == chosen ? shared : t[i].what, t[i].choice);
  return out;
}

}  // namespace tilewright::search
