// Compile-time errors whose first line carries both the sentence and the offender.
//
// clang repeats the condition of a failed static_assert with its template arguments; g++ 12 prints
// the literal alone, but spells the arguments of an incomplete type. The macro takes what the
// compiler at hand is good at. It stands in branches that are instantiated only for a mistake.
#pragma once

#include <tilewright/config.hpp>
#include <tilewright/meta/fixed_string.hpp>

namespace tilewright {

/// Never defined: naming its size is the error.
template <fixed_string Text, class... Offender>
struct mistake;

}  // namespace tilewright

/// PREDICATE is a variable template, false for the offenders that follow TEXT.
#if TILEWRIGHT_ASSERT_ECHOES
#define TILEWRIGHT_MISTAKE(PREDICATE, TEXT, ...) static_assert(PREDICATE<__VA_ARGS__>, TEXT)
#else
#define TILEWRIGHT_MISTAKE(PREDICATE, TEXT, ...) \
  static_cast<void>(sizeof(::tilewright::mistake<TEXT, __VA_ARGS__>))
#endif
