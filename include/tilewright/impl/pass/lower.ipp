#pragma once

#include <tilewright/impl/pass/scalar_function.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/hoist_invariants.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/name_bounds.hpp>
#include <tilewright/pass/order_dimensions.hpp>
#include <tilewright/pass/peel_tails.hpp>
#include <tilewright/pass/plan_workspace.hpp>
#include <tilewright/pass/prefetch_gathers.hpp>
#include <tilewright/pass/prepare_weights.hpp>
#include <tilewright/pass/promote_accumulators.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/sink_vectors.hpp>
#include <tilewright/pass/skip_identities.hpp>
#include <tilewright/pass/split_vectors.hpp>
#include <tilewright/pass/trim_loops.hpp>
#include <tilewright/pass/unroll_loops.hpp>
#include <tilewright/pass/vectorize_reductions.hpp>
#include <tilewright/pass/vectorize_unmarked.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {

namespace detail::lower {

/// Loops instead of blocks, with buffers as small as they can be.
inline ir::function to_loops(const ir::function& f, const target::cpu& target) {
  const ir::function marked = vectorize_unmarked(detail::scalar_function(f), target);
  return compact_buffers(order_dimensions(simplify_loops(lower_blocks(marked))));
}

inline ir::function to_code(const ir::function& f, const target::cpu& target) {
  ir::function out = simplify_loops(unroll_loops(name_bounds(f), target));
  // guards become bounds where they can, then code of constant size
  out = trim_loops(simplify_loops(skip_identities(sink_vectors(out))));
  out = simplify_loops(peel_tails(out));
  out = simplify_loops(trim_loops(out));
  // what is reduced lives in registers
  out = vectorize_reductions(out, target);
  accumulator_limits registers;
  registers.register_bytes = std::int64_t{target.vector_registers} * target.vector_bits / 8;
  out = promote_accumulators(out, registers);
  out = prefetch_gathers(split_vectors(unroll_reductions(out, target), target));
  out = hoist_invariants(simplify_loops(out));
  workspace_options memory;
  memory.workers = target.cores;
  out = plan_workspace(out, memory);
  out.attrs["tilewright.lowered"] = 1;
  return out;
}

}  // namespace detail::lower

TILEWRIGHT_INLINE ir::function lower(const ir::function& f, const target::cpu& target) {
  return detail::lower::to_code(detail::lower::to_loops(f, target), target);
}

TILEWRIGHT_INLINE prepared lower_prepared(const ir::function& f, const target::cpu& target) {
  prepared out = prepare_weights(detail::lower::to_loops(f, target));
  out.main = detail::lower::to_code(out.main, target);
  if (out.preparation.body) out.preparation = detail::lower::to_code(out.preparation, target);
  return out;
}

}  // namespace tilewright::pass
