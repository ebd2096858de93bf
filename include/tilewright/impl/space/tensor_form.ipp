#pragma once

#include <utility>

#include <tilewright/impl/space/tensor_operands.hpp>
#include <tilewright/impl/space/tensor_transformation.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/tensor_form.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail::tensor_forms {

/// True when the block can become the intrinsic, once its operands and its result are in the scopes
/// that the description names.
inline bool can_tensorize(schedule s, block_rv block, const intrin::intrinsic& what) {
  try {
    const ir::block around = ir::root_block(what.description);
    const auto scope_of = [](const ir::buffer_region& r) { return r.buffer->scope; };
    const std::size_t reads = s.get(block).block->reads.size();
    std::size_t accumulator =
        0;  // the description reads what it updates, a block with init doesn't
    for (std::size_t r = 0; r < around->reads.size(); ++r) {
      const bool own = around->reads[r].buffer == around->writes[0].buffer;
      accumulator += own ? 1 : 0;
      const std::size_t at = r - accumulator;
      if (own || at >= reads || scope_of(around->reads[r]) == "global") continue;
      s.cache_read(block, static_cast<int>(at), scope_of(around->reads[r]), {block});
    }
    if (scope_of(around->writes[0]) != "global")
      s.cache_write(block, 0, scope_of(around->writes[0]));
    if (s.get(block).block->init) s.decompose_reduction(block, s.get_loops(block).at(0));
    s.tensorize(block, what.name);
    return true;
  } catch (const schedule_error&) {
    return false;
  }
}

/// Assignments of the description's loops to iteration variables of the block, those that take
/// inner ones first.
inline void assignments(const std::vector<ir::iter_var>& iters,
                        const std::vector<ir::iter_var>& loops, std::vector<std::size_t>& taken,
                        std::vector<tensor_mapping>& out) {
  if (taken.size() == loops.size()) {
    tensor_mapping found;
    for (std::size_t i = taken.size(); i-- > 0;) found.fused.push_back({taken[i]});
    out.push_back(std::move(found));
    return;
  }
  const ir::iter_var& next = loops[loops.size() - 1 - taken.size()];
  for (std::size_t i = iters.size(); i-- > 0;) {
    const ir::expr& extent = iters[i].dom.extent;
    if (iters[i].kind != next.kind || !ir::is_int(extent) ||
        extent->integer % next.dom.extent->integer != 0 || support::contains(taken, i))
      continue;
    taken.push_back(i);
    assignments(iters, loops, taken, out);
    taken.pop_back();
  }
}

/// The mappings to try for a form.
inline std::vector<tensor_mapping> mappings(const ir::block_node& block,
                                            const intrin::intrinsic& what, tensor_form form) {
  std::vector<tensor_mapping> out;
  if (form == tensor_form::as_is) {
    std::vector<std::size_t> taken;
    assignments(block.iters, described(what)->iters, taken, out);
  } else if (std::optional<tensor_mapping> one = propose_mapping(block, what)) {
    out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace detail::tensor_forms

TILEWRIGHT_INLINE std::optional<tensor_mapping> propose_mapping(const ir::block_node& block,
                                                                const intrin::intrinsic& what) {
  namespace forms = detail::tensor_forms;
  const ir::block_node* described = forms::described(what);
  if (!described || block.writes.size() != 1) return std::nullopt;
  const std::vector<ir::buffer_region> mine = forms::operands_of(block),
                                       theirs = forms::operands_of(*described);
  if (mine.size() != theirs.size()) return std::nullopt;
  for (std::size_t o = 0; o < mine.size(); ++o)
    if (mine[o].buffer->type != theirs[o].buffer->type) return std::nullopt;
  tensor_mapping out;
  out.fused.resize(described->iters.size());
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    const std::vector<bool> key = forms::signature(block.iters[i], mine);
    std::size_t found = 0, of = 0;
    for (std::size_t v = 0; v < described->iters.size(); ++v)
      if (forms::signature(described->iters[v], theirs) == key) {
        ++found;
        of = v;
      }
    if (found > 1) return std::nullopt;
    (found == 1 ? out.fused[of] : out.outer).push_back(i);
  }
  if (support::any(out.fused, [](const auto& group) { return group.empty(); })) return std::nullopt;
  return out;
}

TILEWRIGHT_INLINE std::optional<block_rv> give_tensor_form(schedule& s, const std::string& name,
                                                           const intrin::intrinsic& what,
                                                           tensor_form form,
                                                           const std::vector<std::int64_t>& tiles) {
  namespace forms = detail::tensor_forms;
  if (!forms::described(what) || !is_trivially_bound(s, name)) return std::nullopt;
  const ir::block block = named_block(s, name).block;
  if (block->writes.size() != 1) return std::nullopt;
  for (tensor_mapping& mapping : forms::mappings(*block, what, form)) {
    try {
      schedule attempt = s;
      const std::optional<block_rv> outer =
          forms::transformation(attempt, name, what, std::move(mapping), form, tiles).run();
      if (!outer || !forms::can_tensorize(attempt, *outer, what)) continue;
      attempt.annotate(*outer, "meta_schedule.auto_tensorize", what.name);
      s = std::move(attempt);
      return outer;
    } catch (const schedule_error&) {
      continue;
    }
  }
  return std::nullopt;
}

}  // namespace tilewright::space
