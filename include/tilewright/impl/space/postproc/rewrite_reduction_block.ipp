#pragma once

#include <optional>
#include <string>
#include <variant>

#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail::inits {

inline bool drives_reduction(const ir::loop_node& loop, const ir::block_realize_node& realize) {
  for (std::size_t i = 0; i < realize.values.size(); ++i)
    if (realize.block->iters[i].kind == ir::iter_kind::reduce &&
        ir::uses_var(realize.values[i], loop.var))
      return true;
  return false;
}

/// Position of the outermost loop around the block that drives a reduce variable; nothing when
/// there is none or threads run one of them.
inline std::optional<std::size_t> place(const schedule& s, const ir::block_realize_node& realize) {
  const std::vector<const ir::loop_node*> loops =
      primitive::find_block(s.function(), realize.block->id).loops();
  std::optional<std::size_t> out;
  for (std::size_t l = loops.size(); l-- > 0;) {
    if (!drives_reduction(*loops[l], realize)) continue;
    if (loops[l]->loop == ir::loop_kind::thread_binding) return std::nullopt;
    out = l;
  }
  return out;
}

/// The init is no instance of the update's intrinsic: it has its own, or an empty name.
inline void move_annotations(schedule& s, const std::string& update, const std::string& init) {
  constexpr const char *now = "meta_schedule.auto_tensorize",
                       *then = "meta_schedule.auto_tensorize_init";
  const ir::annotations notes = named_block(s, update).block->annotations;
  const auto note = notes.find(then);
  if (note == notes.end() && notes.count(now) == 0) return;
  const auto* text = note == notes.end() ? nullptr : std::get_if<std::string>(&note->second.value);
  if (note != notes.end()) s.unannotate(s.get_block(update), then);
  for (const char* key : {now, then})
    if (named_block(s, init).block->annotations.count(key)) s.unannotate(s.get_block(init), key);
  s.annotate(s.get_block(init), now, text ? *text : std::string());
}

inline void decompose(schedule& s, const std::string& name, std::size_t at) {
  schedule trial = s;
  try {
    const block_rv block = trial.get_block(name);
    const block_rv init = trial.decompose_reduction(block, trial.get_loops(block)[at]);
    // copies: the blocks change
    const std::string update = trial.get(block).block->name, first = trial.get(init).block->name;
    move_annotations(trial, update, first);
  } catch (const schedule_error&) {
    return;
  }
  s = std::move(trial);
}

}  // namespace detail::inits

TILEWRIGHT_INLINE void rewrite_reduction_block::operator()(schedule& s, const context&) const {
  std::vector<std::string> names;
  for (const ir::block_realize_node* realize : primitive::all_blocks(s.function().body))
    if (realize->block->init) names.push_back(realize->block->name);
  for (const std::string& name : names)
    if (const auto at = detail::inits::place(s, named_block(s, name)))
      detail::inits::decompose(s, name, *at);
}

}  // namespace tilewright::space
