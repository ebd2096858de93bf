// How calls in the middle of tuning or compiling are told to end, and what such a call says where it may do neither.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include <tilewright/impl/dispatch/specialization/specialization_table.hpp>

namespace tilewright::dispatch::detail {

using instance_clock = std::chrono::steady_clock;

inline constexpr std::int64_t instance_ticks(double seconds) {
  return std::chrono::duration_cast<instance_clock::duration>(
             std::chrono::duration<double>(seconds))
      .count();
}

inline void specialization_table::end_visits() noexcept {
  visits_.end([this] {
    for (const auto& [name, s] : all_) s->cancelled = true;
    return !handler_is_slow();
  });
}

/// What to do about a call for which nothing is stored.
inline std::string specialization_table::tune_first(const search::workload& w) const {
  if (db_->chosen(w.key))
    return "make the code again, by warm() of an op with mode::now where LLVM can be opened, or "
           "write "
           "mode::off";
  std::string text = "tune ";
  std::set<std::string> said;
  std::size_t at = 0;
  for (const parameter_signature& p : kernel_.params)
    for (std::size_t k = 0; k < p.extent_count(); ++k, ++at)
      if (const std::string& name = p.dim(k).name; !name.empty() && said.insert(name).second)
        text += (said.size() > 1 ? ", " : "") + name + " = " + std::to_string(w.extents[at]);
  if (said.empty()) text += kernel_.name;
  const std::string file = db_->path();
  return text + " before, by warm() of an op with mode::now, the same database (" +
         (file.empty() ? "none" : file) + ") and " + std::to_string(w.key.threads) +
         (w.key.threads == 1 ? " thread" : " threads") + ", or write mode::off";
}

}  // namespace tilewright::dispatch::detail
