#pragma once

#include <cstdint>
#include <iterator>
#include <utility>

#include <tilewright/impl/pass/scalar_function.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/compensate_dots.hpp>
#include <tilewright/pass/hoist_invariants.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/name_bounds.hpp>
#include <tilewright/pass/order_dimensions.hpp>
#include <tilewright/pass/peel_tails.hpp>
#include <tilewright/pass/pipeline.hpp>
#include <tilewright/pass/plan_workspace.hpp>
#include <tilewright/pass/prefetch_gathers.hpp>
#include <tilewright/pass/promote_accumulators.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/skip_identities.hpp>
#include <tilewright/pass/trim_loops.hpp>
#include <tilewright/pass/unroll_loops.hpp>
#include <tilewright/pass/vector/sink_vectors.hpp>
#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/pass/vector/vectorize_reductions.hpp>
#include <tilewright/pass/vector/vectorize_unmarked.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {
namespace detail::pipelines {

inline constexpr const char* cut = "prepare_weights";

/// A pass that asks nothing of the target.
template <ir::function (*Pass)(const ir::function&)>
ir::function plain(const ir::function& f, const target::cpu&) {
  return Pass(f);
}

/// One with limits of its own.
template <auto Pass>
ir::function targeted(const ir::function& f, const target::cpu& target) {
  return Pass(f, target, {});
}

inline ir::function in_registers(const ir::function& f, const target::cpu& target) {
  accumulator_limits registers;
  registers.register_bytes = std::int64_t{target.vector_registers} * target.vector_bits / 8;
  return promote_accumulators(f, registers);
}

inline ir::function in_workspace(const ir::function& f, const target::cpu& target) {
  workspace_options memory;
  memory.workers = target.cores;
  return plan_workspace(f, memory);
}

inline std::vector<named_pass> standard() {
  return {
      // loops instead of blocks, with buffers as small as they can be
      {"scalar_function", &plain<&detail::scalar_function>},
      {"vectorize_unmarked", &vectorize_unmarked},
      {"lower_blocks", &plain<&lower_blocks>},
      {"simplify_loops", &plain<&simplify_loops>},
      {"order_dimensions", &plain<&order_dimensions>},
      {"compact_buffers", &plain<&compact_buffers>},
      {"compensate_dots", &compensate_dots},
      {cut, nullptr},
      {"name_bounds", &plain<&name_bounds>},
      {"unroll_loops", &targeted<&unroll_loops>},
      {"simplify_loops.2", &plain<&simplify_loops>},
      // guards become bounds where they can, then code of constant size
      {"sink_vectors", &plain<&sink_vectors>},
      {"skip_identities", &plain<&skip_identities>},
      {"simplify_loops.3", &plain<&simplify_loops>},
      {"trim_loops", &plain<&trim_loops>},
      {"peel_tails", [](const ir::function& f, const target::cpu&) { return peel_tails(f); }},
      {"simplify_loops.4", &plain<&simplify_loops>},
      {"trim_loops.2", &plain<&trim_loops>},
      {"simplify_loops.5", &plain<&simplify_loops>},
      // what is reduced lives in registers
      {"vectorize_reductions", &vectorize_reductions},
      {"promote_accumulators", &in_registers},
      {"unroll_reductions", &targeted<&unroll_reductions>},
      {"split_vectors", &split_vectors},
      {"prefetch_gathers", &plain<&prefetch_gathers>},
      {"simplify_loops.6", &plain<&simplify_loops>},
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

TILEWRIGHT_INLINE ir::function pipeline::run_part(const ir::function& f, const target::cpu& target,
                                                  bool to_code) const {
  const std::size_t cut = position(detail::pipelines::cut);
  const std::size_t first = to_code ? cut + 1 : 0, end = to_code ? passes_.size() : cut;
  ir::function out = f;
  for (std::size_t i = first; i < end; ++i) {
    out = passes_[i].run(out, target);
    if (!verify_) continue;
    try {
      ir::verify(out);
    } catch (const error& e) {
      throw build_error("pass \"" + passes_[i].name + "\" leaves function \"" + f.name +
                        "\" not well formed: " + e.what());
    }
  }
  if (to_code) out.attrs["tilewright.lowered"] = 1;
  return out;
}

TILEWRIGHT_INLINE ir::function pipeline::run(const ir::function& f,
                                             const target::cpu& target) const {
  return run_part(run_part(f, target, false), target, true);
}

TILEWRIGHT_INLINE prepared pipeline::run_prepared(const ir::function& f,
                                                  const target::cpu& target) const {
  prepared out = prepare_weights(run_part(f, target, false));
  out.main = run_part(out.main, target, true);
  if (out.preparation.body) out.preparation = run_part(out.preparation, target, true);
  return out;
}

}  // namespace tilewright::pass
