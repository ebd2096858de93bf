// Questions about all elements of a range, as plain loops.
//
// libstdc++ writes the loops of any_of, all_of, none_of and find out sevenfold, and the predicate with
// them; this library asks such questions in hundreds of places, none of them hot for its loop.
#pragma once

namespace tilewright::support {

template <class Range, class Predicate>
constexpr bool any(const Range& range, const Predicate& holds) {
  for (const auto& element : range)
    if (holds(element)) return true;
  return false;
}

template <class Range, class Predicate>
constexpr bool none(const Range& range, const Predicate& holds) {
  return !any(range, holds);
}

template <class Range, class Predicate>
constexpr bool all(const Range& range, const Predicate& holds) {
  for (const auto& element : range)
    if (!holds(element)) return false;
  return true;
}

template <class Range, class Value>
constexpr bool contains(const Range& range, const Value& value) {
  for (const auto& element : range)
    if (element == value) return true;
  return false;
}

}  // namespace tilewright::support
