#pragma once

#include <memory>
#include <optional>

#include <tilewright/impl/space/tiles/tiler.hpp>
#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/space/modules/multi_level_tiling_with_intrinsic.hpp>
#include <tilewright/space/tensor_form.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void multi_level_tiling_with_intrinsic::operator()(schedule& s,
                                                                     const std::string& name,
                                                                     const context& /*where*/,
                                                                     chooser& choices) const {
  const std::shared_ptr<const intrin::intrinsic> what = intrin::find(intrinsic);
  if (!what)
    throw argument_error("multi_level_tiling_with_intrinsic: no intrinsic is called \"" +
                         intrinsic + "\"; intrin::add makes one known");
  if (!has_block(s, name) || is_tiled(s, name)) return;
  std::optional<block_rv> outer = give_tensor_form(s, name, *what, tensor_form::as_is);
  if (!outer && reindex) outer = give_tensor_form(s, name, *what, tensor_form::reindexed);
  if (!outer) return;
  const std::string around = s.get(*outer).block->name;
  detail::tiler(s, around, tiling, choices).run();
}

}  // namespace tilewright::space
