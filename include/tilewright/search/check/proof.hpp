// Whether a schedule computes what the program says, by exact arithmetic instead of tolerances.
//
// A comparison of floats has to allow for sums in another order, and overlooks what hides in there:
// a term left out of a thousand. Modulo a prime the order does not matter. What the lowering does to a
// schedule is not seen here; outputs of the code are compared for that.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search {

struct exact_comparison {
  enum class result : std::uint8_t { equal, different, unknown };
  result is = result::unknown;
  std::string text;  // where they differ, or why it is not known; else empty
};

/// Interprets both programs on the same random numbers modulo 2^61 - 1 (ir/interpret/modular.hpp) and compares
/// all elements that they write. Different programs pass with a probability of at most d / 2^61, d
/// being the degree of an output as a polynomial of the inputs.
/// @param scheduled has the parameters of `original`
exact_comparison compare_exactly(const ir::function& original, const ir::function& scheduled,
                                 std::uint64_t seed);

/// Compares what a trace makes of the function of `w` with that function: at full extents where the
/// interpreter needs less than `seconds` for them, else at the small extents of `w`, where they exist
/// and the trace replays on them.
/// @param at receives which of the two it was
exact_comparison prove(const workload& w, const std::string& trace, std::uint64_t seed,
                       double seconds, std::string* at = nullptr);

}  // namespace tilewright::search
