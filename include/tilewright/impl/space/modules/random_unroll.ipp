#pragma once

#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/random_unroll.hpp>
#include <tilewright/space/root_blocks.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void random_unroll::operator()(schedule& s, const std::string& name,
                                                 const context& /*where*/, chooser& choices) const {
  if (max_steps.empty()) return;
  const std::vector<double> weights(max_steps.size(), 1.0);
  const auto draw = [&] { return choices.categorical(s, max_steps, weights); };
  if (name == ir::root_block(s.function())->name) {
    if (is_spatial(s.function())) return;
    const block_rv root = s.get_block(name);
    const char* key =
        written_out ? "meta_schedule.unroll_explicit" : "meta_schedule.unroll_implicit";
    return s.annotate(root, key, draw());
  }
  if (!has_block(s, name) || !named_block(s, name).block->init) return;
  const primitive::path at = primitive::find_block(s.function(), named_block(s, name).block->id);
  const std::vector<const ir::loop_node*> around = at.loops();
  if (around.empty() || around[0]->annotations.count(ir::unroll_note) > 0) return;
  const loop_rv outermost = s.get_loops(s.get_block(name))[0];
  s.annotate(outermost, ir::unroll_note, draw());
  s.annotate(outermost, ir::explicit_unroll_note, written_out ? 1 : 0);
}

}  // namespace tilewright::space
