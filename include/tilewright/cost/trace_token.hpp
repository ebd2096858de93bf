// What a model sees of how a program came about: a token for every primitive, after TLP (Zhai et
// al., ASPLOS 2023). What makes tokens of a trace stands in search/trace_tokens.hpp, since models
// know nothing of schedules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::cost {

/// Numbers of a token.
inline constexpr std::size_t token_width = 16;
/// Kinds and words of tokens are below these: one-hot codes and tables of a model are this wide.
inline constexpr std::size_t token_kinds = 96;
inline constexpr std::size_t token_words = 64;

/// One primitive. L(x) is log2(|x| + 1) with the sign of x.
///
///   0  L of the first eight integers that were drawn or given: factors of a tile or a split (0: the
///      one that follows from the others), the candidate that was chosen, a place, an annotation
///   8  how many such integers there were
///   9  L of the first three numbers among the other arguments; a truth value is 0 or 1
///  12  loops and blocks among the arguments
///  13  of the first of them: its place among what was made together with it, from 0, how many
///      these are, and the number of its block in the order in which the trace has met blocks
struct trace_token {
  std::uint8_t kind = 0;  // position of the primitive in the table of kinds
  std::uint8_t word = 0;  // of the first text among the arguments, hashed; 0: there is none
  std::array<float, token_width> numbers{};
  friend bool operator==(const trace_token&, const trace_token&) = default;
};

/// The tokens of a trace, in its order.
using trace_tokens = std::shared_ptr<const std::vector<trace_token>>;

}  // namespace tilewright::cost
