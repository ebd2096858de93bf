#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <tilewright/impl/pass/accumulators/scattered_terms.hpp>
#include <tilewright/impl/pass/scalar_function.hpp>
#include <tilewright/impl/pass/vector/joined_channels.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/compensate_dots.hpp>
#include <tilewright/pass/hoist_invariants.hpp>
#include <tilewright/pass/hoist_statements.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/name_bounds.hpp>
#include <tilewright/pass/order_dimensions.hpp>
#include <tilewright/pass/peel_tails.hpp>
#include <tilewright/pass/pipeline.hpp>
#include <tilewright/pass/plan_workspace.hpp>
#include <tilewright/pass/prefetch_gathers.hpp>
#include <tilewright/pass/promote_accumulators.hpp>
#include <tilewright/pass/rows/divide_rows.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/skip_identities.hpp>
#include <tilewright/pass/trim_loops.hpp>
#include <tilewright/pass/unroll_loops.hpp>
#include <tilewright/pass/vector/join_products.hpp>
#include <tilewright/pass/vector/narrow_lanes.hpp>
#include <tilewright/pass/vector/sink_vectors.hpp>
#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/pass/vector/vectorize_copies.hpp>
#include <tilewright/pass/vector/vectorize_reductions.hpp>
#include <tilewright/pass/vector/vectorize_staged.hpp>
#include <tilewright/pass/vector/vectorize_unmarked.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {
namespace detail::pipelines {

inline constexpr const char* cut = "prepare_weights";

/// A pass that asks nothing of the target.
template <ir::function (*Pass)(const ir::function&)>
ir::function plain(const ir::function& f, const target::machine&) {
  return Pass(f);
}

/// One with limits of its own.
template <auto Pass>
ir::function targeted(const ir::function& f, const target::machine& where) {
  return Pass(f, *where.cpu, {});
}

/// One that knows what it needs of the target.
template <auto Pass>
ir::function on_cpu(const ir::function& f, const target::machine& where) {
  return Pass(f, *where.cpu);
}

inline ir::function in_registers(const ir::function& f, const target::machine& where) {
  accumulator_limits registers;
  registers.vector_bytes = std::max(where.cpu->vector_bits / 8, 1);
  // one is left for an operand: where there is none, each accumulator is spilled and fetched, as in memory, and operands too
  registers.register_bytes = (where.cpu->vector_registers - 1) * registers.vector_bytes;
  return promote_accumulators(f, registers);
}

inline ir::function in_workspace(const ir::function& f, const target::machine& where) {
  workspace_options memory;
  memory.workers = where.cpu->cores;
  return plan_workspace(f, memory);
}

inline std::vector<named_pass> standard() {
  return {
      // loops instead of blocks, with buffers as small as they can be
      {"scalar_function", &plain<&detail::scalar_function>},
      {"hoist_statements", &plain<&hoist_statements>},
      {"vectorize_unmarked", &on_cpu<&vectorize_unmarked>},
      {"lower_blocks", &plain<&lower_blocks>},
      {"simplify_loops", &plain<&simplify_loops>},
      {"scatter_terms", &plain<&detail::scatter_terms>},
      {"join_products", &on_cpu<&join_products>},
      {"order_dimensions", &plain<&order_dimensions>},
      {"compact_buffers", &plain<&compact_buffers>},
      {"vectorize_copies", &on_cpu<&vectorize_copies>},
      {"vectorize_staged", &on_cpu<&vectorize_staged>},
      {"order_dimensions.2", &plain<&order_dimensions>},
      {"compensate_dots", &on_cpu<&compensate_dots>},
      {cut, nullptr},
      {"name_bounds", &plain<&name_bounds>},
      {"unroll_loops", &targeted<&unroll_loops>},
      {"simplify_loops.2", &plain<&simplify_loops>},
      // guards become bounds where they can, then code of constant size
      {"sink_vectors", &plain<&sink_vectors>},
      {"skip_identities", &plain<&skip_identities>},
      {"simplify_loops.3", &plain<&simplify_loops>},
      {"trim_loops", &plain<&trim_loops>},
      {"peel_tails", [](const ir::function& f, const target::machine&) { return peel_tails(f); }},
      {"simplify_loops.4", &plain<&simplify_loops>},
      {"trim_loops.2", &plain<&trim_loops>},
      {"simplify_loops.5", &plain<&simplify_loops>},
      {"divide_rows", &plain<&divide_rows>},
      // what is reduced lives in registers
      {"vectorize_reductions", &on_cpu<&vectorize_reductions>},
      {"promote_accumulators", &in_registers},
      {"unroll_reductions", &targeted<&unroll_reductions>},
      {"join_channels", &plain<&detail::join_channels>},
      {"split_vectors", &on_cpu<&split_vectors>},
      {"prefetch_gathers", &plain<&prefetch_gathers>},
      {"simplify_loops.6", &plain<&simplify_loops>},
      {"narrow_lanes", &plain<&narrow_lanes>},
      {"hoist_invariants", &plain<&hoist_invariants>},
      {"plan_workspace", &in_workspace},
  };
}

}  // namespace detail::pipelines

TILEWRIGHT_INLINE pipeline pipeline::standard() {
  pipeline out;
  out.passes_ = detail::pipelines::standard();
  return out;
}

TILEWRIGHT_INLINE std::vector<std::string> pipeline::names() const {
  std::vector<std::string> out;
  for (const named_pass& p : passes_) out.push_back(p.name);
  return out;
}

TILEWRIGHT_INLINE std::size_t pipeline::position(std::string_view name) const {
  std::string there;
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    if (passes_[i].name == name) return i;
    there += (i ? ", " : "") + passes_[i].name;
  }
  throw argument_error("there is no pass \"" + std::string(name) + "\"; there are " + there);
}

TILEWRIGHT_INLINE std::size_t pipeline::changeable(std::string_view name) const {
  if (name == detail::pipelines::cut)
    throw argument_error(
        "\"prepare_weights\" says where weights come apart, and stays; insert a "
        "pass before or after it");
  return position(name);
}

TILEWRIGHT_INLINE void pipeline::check_new(const named_pass& p, std::string_view instead_of) const {
  if (p.name.empty() || !p.run)
    throw argument_error("pass \"" + p.name + "\" needs a name and a function");
  for (const named_pass& other : passes_)
    if (other.name == p.name && p.name != instead_of)
      throw argument_error("there is a pass \"" + p.name +
                           "\" already; give the new one another "
                           "name, or replace that one");
}

TILEWRIGHT_INLINE pipeline& pipeline::insert_before(std::string_view name, named_pass p) {
  check_new(p, {});
  passes_.insert(passes_.begin() + static_cast<std::ptrdiff_t>(position(name)), std::move(p));
  return *this;
}

TILEWRIGHT_INLINE pipeline& pipeline::insert_after(std::string_view name, named_pass p) {
  check_new(p, {});
  passes_.insert(passes_.begin() + static_cast<std::ptrdiff_t>(position(name)) + 1, std::move(p));
  return *this;
}

TILEWRIGHT_INLINE pipeline& pipeline::replace(std::string_view name, named_pass p) {
  const std::size_t at = changeable(name);
  check_new(p, name);
  passes_[at] = std::move(p);
  return *this;
}

TILEWRIGHT_INLINE pipeline& pipeline::drop(std::string_view name) {
  passes_.erase(passes_.begin() + static_cast<std::ptrdiff_t>(changeable(name)));
  return *this;
}

TILEWRIGHT_INLINE pipeline& pipeline::verify(bool after_each_pass) {
  verify_ = after_each_pass;
  return *this;
}

TILEWRIGHT_INLINE void pipeline::check_target(const ir::function& f,
                                              const target::machine& where) const {
  if (for_gpu_ && ir::keeps_term_order(f))
    throw argument_error(f.name +
                         ": reductions in order are for CPUs; lower it for one, or take \"" +
                         ir::reductions_attribute + "\" out of its attributes");
  if (for_gpu_ == (where.gpu != nullptr)) return;
  throw argument_error(for_gpu_ ? "these passes lower for GPUs, and the target is a CPU; take "
                                  "pipeline::standard()"
                                : "these passes lower for CPUs, and the target is a GPU; take "
                                  "pipeline::standard_gpu()");
}

/// Where functions come apart; the end where they do not.
TILEWRIGHT_INLINE std::size_t pipeline::cut() const {
  return for_gpu_ ? passes_.size() : position(detail::pipelines::cut);
}

TILEWRIGHT_INLINE ir::function pipeline::run_range(const ir::function& f,
                                                   const target::machine& where, std::size_t first,
                                                   std::size_t end) const {
  ir::function out = f;
  for (std::size_t i = first; i < end; ++i) {
    out = passes_[i].run(out, where);
    if (!verify_) continue;
    try {
      ir::verify(out);
    } catch (const error& e) {
      throw build_error("pass \"" + passes_[i].name + "\" leaves function \"" + f.name +
                        "\" not well formed: " + e.what());
    }
  }
  return out;
}

/// The passes behind the cut.
TILEWRIGHT_INLINE ir::function pipeline::run_to_code(const ir::function& f,
                                                     const target::machine& where) const {
  const std::size_t end = passes_.size();
  ir::function out = run_range(f, where, std::min(cut() + 1, end), end);
  out.attrs["tilewright.lowered"] = 1;
  return out;
}

TILEWRIGHT_INLINE ir::function pipeline::run(const ir::function& f,
                                             const target::machine& where) const {
  check_target(f, where);
  return run_to_code(run_range(f, where, 0, cut()), where);
}

TILEWRIGHT_INLINE prepared pipeline::run_prepared(const ir::function& f,
                                                  const target::machine& where) const {
  check_target(f, where);
  prepared out;
  out.main = run_range(f, where, 0, cut());
  if (!for_gpu_) out = prepare_weights(out.main);
  out.main = run_to_code(out.main, where);
  if (out.preparation.body) out.preparation = run_to_code(out.preparation, where);
  return out;
}

}  // namespace tilewright::pass
