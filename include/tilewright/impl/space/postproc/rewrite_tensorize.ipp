#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/schedule/path.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void rewrite_tensorize::operator()(schedule& s, const context&) const {
  constexpr const char* key = "meta_schedule.auto_tensorize";
  std::vector<std::pair<std::string, std::string>> wanted;  // block, intrinsic
  for (const ir::block_realize_node* realize : primitive::all_blocks(s.function().body)) {
    const auto note = realize->block->annotations.find(key);
    if (note == realize->block->annotations.end()) continue;
    const auto* intrinsic = std::get_if<std::string>(&note->second.value);
    wanted.emplace_back(realize->block->name, intrinsic ? *intrinsic : std::string());
  }
  for (const auto& [name, intrinsic] : wanted) {
    const block_rv block = s.get_block(name);
    s.unannotate(block, key);
    if (!intrinsic.empty())
      s.tensorize(block, intrinsic);
    else if (const auto loops = s.get_loops(block); vectorize_init_loop && !loops.empty())
      s.vectorize(loops.back());
  }
}

}  // namespace tilewright::space
