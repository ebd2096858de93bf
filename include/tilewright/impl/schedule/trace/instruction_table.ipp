// The table of instruction kinds: what the list (schedule/instruction_list.hpp) makes of each.
#pragma once

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/trace/kind_traits.hpp>
#include <tilewright/impl/schedule/trace/primitive_headers.hpp>
#include <tilewright/schedule/instruction_list.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright {
namespace kind_traits {

// Wrappers where an instruction takes more kinds of arguments than the primitive.

inline std::uint64_t get_block(const ir::function& f, const std::string& name, const std::string&) {
  return primitive::get_block(f, name);
}

inline std::vector<std::uint64_t> get_child_blocks(const ir::function& f, const block_or_loop& at) {
  return at.is_block ? primitive::get_child_blocks(f, at.block)
                     : primitive::get_child_blocks(f, at.loop);
}

inline primitive::new_loop add_unit_loop(const ir::function& f, const block_or_loop& at) {
  return at.is_block ? primitive::add_unit_loop(f, at.block) : primitive::add_unit_loop(f, at.loop);
}

inline ir::function annotate(const ir::function& f, const block_or_loop& at, const std::string& key,
                             const ir::attr& value) {
  return at.is_block ? primitive::annotate_block(f, at.block, key, value)
                     : primitive::annotate_loop(f, at.loop, key, value);
}

inline ir::function unannotate(const ir::function& f, const block_or_loop& at,
                               const std::string& key) {
  return at.is_block ? primitive::unannotate_block(f, at.block, key)
                     : primitive::unannotate_loop(f, at.loop, key);
}

inline ir::function annotate_buffer_access(const ir::function& f, std::uint64_t block,
                                           int buffer_index, const std::string& buf_type,
                                           const index_ranges& ranges) {
  return primitive::annotate_buffer_access(f, block, buffer_index, buf_type, ranges.map);
}

inline primitive::new_block blockize(const ir::function& f, const loop_or_blocks& target,
                                     bool preserve_unit_iters) {
  return target.loop ? primitive::blockize(f, target.loop, preserve_unit_iters)
                     : primitive::blockize(f, target.blocks, preserve_unit_iters);
}

inline ir::function tensorize(const ir::function& f, const block_or_loop& at,
                              const std::string& intrinsic, bool preserve_unit_iters) {
  return at.is_block ? primitive::tensorize(f, at.block, intrinsic)
                     : primitive::tensorize(f, at.loop, intrinsic, preserve_unit_iters);
}

/// Moves a block to a loop, or does what a compute location stands for.
template <auto Move, auto Inline>
ir::function move_to(const ir::function& f, std::uint64_t block, const place& to,
                     bool preserve_unit_loops, int index) {
  if (!to.loop && to.marker == root_location) return f;
  if (!to.loop && to.marker == inline_location) return Inline(f, block);
  return Move(f, block, to.loop, preserve_unit_loops, index);
}

inline chosen sample_categorical(support::random& random, const ir::function&,
                                 const std::vector<std::int64_t>& candidates,
                                 const std::vector<double>& probs, const decision& given) {
  const std::int64_t index = primitive::sample_categorical(random, candidates, probs, given);
  return {index, candidates[static_cast<std::size_t>(index)]};
}

/// Ends a trace whose random choices do not go together.
inline ir::function require(const ir::function& f, std::int64_t condition) {
  if (condition == 0) primitive::refusal{"assert"}(1, "the condition does not hold");
  return f;
}

inline ir::function enter_postproc(const ir::function& f) { return f; }

inline instruction_kind renamed(instruction_kind kind, std::string_view alias) {
  kind.alias = alias;
  return kind;
}

inline std::vector<instruction_kind> make_table() {
  using namespace primitive;
#define TILEWRIGHT_KIND(NAME, ...) __VA_ARGS__,
  return {TILEWRIGHT_INSTRUCTIONS(TILEWRIGHT_KIND)};
#undef TILEWRIGHT_KIND
}

inline const std::vector<instruction_kind>& table() {
  const support::fork_pass inside;
  static const std::vector<instruction_kind> kinds = make_table();
  return kinds;
}

}  // namespace kind_traits

TILEWRIGHT_INLINE std::span<const instruction_kind> instruction_kinds() {
  return kind_traits::table();
}

TILEWRIGHT_INLINE const instruction_kind* find_instruction_kind(std::string_view name) {
  for (const instruction_kind& kind : instruction_kinds())
    if (kind.name == name || (!kind.alias.empty() && kind.alias == name)) return &kind;
  return nullptr;
}

}  // namespace tilewright
