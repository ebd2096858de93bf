// Random choices that schedules make, and how a stored choice is fitted to another program.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/instruction.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::primitive {

/// Index into `weights`, drawn by them, or the decision.
/// Requires: 1. weights are finite, not negative, and not all zero, and there is one per candidate;
/// 2. a decision is an index in range.
/// @returns the index, which is the decision
/// @throws argument_error
std::int64_t sample_categorical(support::random& random,
                                const std::vector<std::int64_t>& candidates,
                                const std::vector<double>& weights, const decision& given = {});

/// `n` factors whose product is the extent of the loop, the last one at most `max_innermost_factor`
/// (-1: no limit); uniform over all such ordered factorizations, by exact counting.
///
/// A decision made for another extent is repaired from the innermost factor outwards: a factor that
/// does not divide what is left takes all of it, the outermost what remains; the innermost one then
/// becomes the largest divisor within the limit, which TVM exceeds. A symbolic extent gives {-1, 1,
/// ..., 1}: infer. With n = 1 there is nothing to choose and the limit is ignored. Prime factors
/// above 2^21 are not told apart. Requires: 1. 1 <= n <= 10, and max_innermost_factor is positive
/// or -1; 2. a decision has n entries.
/// @returns the decision: the factors, outermost first
/// @throws argument_error; schedule_error when the loop does not exist
decision sample_perfect_tile(support::random& random, const ir::function& f, const ir::var& loop,
                             int n, int max_innermost_factor = 16, const decision& given = {});
/// What sample_perfect_tile draws for a loop of that extent, which is positive.
decision draw_perfect_tile(support::random& random, std::int64_t extent, int n,
                           int max_innermost_factor);

/// `n` factors whose product is the extent, and the product of those from `partition_pos` on a
/// multiple of `innerpart_factor`; uniform over all such factorizations, by exact counting.
///
/// A stale decision is repaired as that of sample_perfect_tile, without a limit; if its inner part
/// does not fit, it becomes {extent / innerpart_factor, 1, ..., innerpart_factor, 1, ...}. An
/// extent that is symbolic or no multiple of `innerpart_factor` gives {-1, 1, ..., 1}. Requires: 1.
/// 1 <= n <= 10, 0 <= partition_pos < n, and innerpart_factor is positive; 2. a decision has n entries.
/// @throws argument_error; schedule_error when the loop does not exist
decision sample_partitioned_tile(support::random& random, const ir::function& f,
                                 const ir::var& loop, int n, int partition_pos = 0,
                                 int innerpart_factor = 1, const decision& given = {});

/// `n` factors that need not divide the extent: the last one is drawn from `innermost` (a register
/// tile, say; candidates above the extent count as the extent), the middle ones from the powers of
/// two, the divisors and the even parts of what is left, the outermost is ceildiv(extent, the
/// others), so that split covers the extent and no factor leaves a whole outer iteration empty.
///
/// A decision made for another extent is clamped factor by factor to what is left; its last factor
/// stays where it is (clamped to the extent), also when it is no candidate. A symbolic extent gives
/// {-1, 1, ..., 1, first candidate}.
/// Requires: 1. 2 <= n <= 10, there is at least one candidate, and all are positive; 2. a decision has n positive
/// entries (the first one is recomputed and may be anything).
/// @returns the decision: the factors, outermost first
/// @throws argument_error
decision sample_tile(support::random& random, const ir::function& f, const ir::var& loop, int n,
                     const std::vector<std::int64_t>& innermost, const decision& given = {});

/// A place to which compute_at can move a block: -2 inline, -1 where it is, else the position of a
/// loop among the loops of its first consumer (0 outermost).
struct compute_location {
  std::int64_t index = -1;
  ir::var loop;  // null for -2 and -1
};
/// All legal places, ascending: inline if legal, root always, then loops from the outermost one
/// down to the lowest common loop of all consumers. Unit loops are skipped; the walk stops at the
/// first spatial loop after a loop of another kind, and at a loop of another kind without a spatial
/// one further in; loops at which compute_at refuses are skipped.
std::vector<compute_location> compute_locations(const ir::function& f, std::uint64_t block);

/// @name Natural logarithm of the probability that drawing gives the decision; minus infinity for
/// one that is never drawn, 0 where there is nothing to draw
/// @{
double log_probability_categorical(const std::vector<double>& weights, const decision& d);
double log_probability_perfect_tile(const ir::function& f, const ir::var& loop, int n,
                                    int max_innermost_factor, const decision& d);
double log_probability_partitioned_tile(const ir::function& f, const ir::var& loop, int n,
                                        int partition_pos, int innerpart_factor, const decision& d);
double log_probability_tile(const ir::function& f, const ir::var& loop, int n,
                            const std::vector<std::int64_t>& innermost, const decision& d);
double log_probability_compute_location(const ir::function& f, std::uint64_t block,
                                        const decision& d);
/// @}

/// One of `compute_locations`, uniformly; a stale decision gives the largest legal index that is
/// not above it.
compute_location sample_compute_location(support::random& random, const ir::function& f,
                                         std::uint64_t block, const decision& given = {});

}  // namespace tilewright::primitive
