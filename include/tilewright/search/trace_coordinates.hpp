// Traces as points: one coordinate for every choice, so that distances between candidates mean
// something to a model that never looks at programs.
//
// A choice has the same coordinate in every sketch of a space: its key is the kind of sampling
// instruction, how many of that kind came before it in the trace, and the factor.
//   tile factors         log2(factor) / log2(product of the factors), all but the outermost one,
//                        which follows from the others
//   ascending numbers    rank of the chosen candidate, over the number of the others
//   places               position of the loop, -2 (inline) and -1 (where it is) below them, over 12
//   other candidates     a category
// The sketch is a category, too. A choice that a sketch does not have lies in the middle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

#include <tilewright/config.hpp>
#include <tilewright/cost/gaussian_process.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search {

/// The coordinates of a space.
class trace_coordinates {
 public:
  /// @param sketches the traces of the space, with or without decisions
  explicit trace_coordinates(std::span<const trace> sketches);

  /// The point of a trace; decisions of instructions that no sketch has are left out.
  cost::mixed_point of(const trace& t) const;

  std::size_t ordered() const noexcept { return ordered_.size(); }
  std::size_t categories() const noexcept { return categories_.size() + 1; }

 private:
  using key = std::tuple<std::string_view, std::size_t, std::size_t>;  // kind, which one, factor
  template <class Visit>
  static void for_choices(const trace& t, const Visit& visit);

  std::map<key, std::size_t> ordered_, categories_;
  std::map<support::hash128, std::int64_t> sketches_;
};

}  // namespace tilewright::search
