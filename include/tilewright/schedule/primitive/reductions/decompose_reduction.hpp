// decompose_reduction: the initialisation of a reduction as a block of its own.
#pragma once

#include <cstdint>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Splits a reduction into a block that initialises, before `loop`, and one that accumulates.
///
/// ```
/// for i, j, k in grid(128, 128, 64):            for i in range(128):
///     with block("C"):                              for j_init in range(128):
///         with init(): C[vi, vj] = 0                    with block("C_init"): C[vi, vj] = 0
///         C[vi, vj] = C[vi, vj] + ...      ->       for j, k in grid(128, 64):
///                                                       with block("C_update"):
///                                                           C[vi, vj] = C[vi, vj] + ...
///                                               (at loop j)
/// ```
/// The loops from `loop` inwards that drive spatial variables are repeated for the init with the
/// suffix
/// `_init`, kind, thread and annotations kept; so are the block's annotations. Conjuncts of the
/// predicate about reduce loops stay with the update. The update is no reduction block any more:
/// most primitives refuse it, so this comes last.
///
/// Requires:
/// 1. the loop is around the block, in its scope, and no if, while or let stands between the two;
/// 2. the block is a reduction;
/// 3. no loop further out drives a reduce variable;
/// 4. no conjunct of the predicate mixes loops that the init keeps with loops that it drops, unless
///    it lets the first iteration of the latter run in all of the former, and neither loops nor domains of the init follow loops that it drops; the init uses no buffer that
///    the block allocates or matches;
/// 5. from the loop inwards each instance runs once: every loop longer than 1 drives a variable,
///    and the bindings are affine; loops that the init drops have an iteration, and the predicate lets
///    the first one run;
/// 6. nobody uses the result before the block, nor, below the loop, elements that a later iteration
///    initialises; neither the init nor what says where it runs loads what is written there;
/// 7. no loop bound to threads drives a reduce variable: threads share declared reductions only.
/// @returns the id of the init block; `block` names the update block from then on
/// @throws schedule_error; nothing is changed then
new_block decompose_reduction(const ir::function& f, std::uint64_t block, const ir::var& loop);

}  // namespace tilewright::primitive
