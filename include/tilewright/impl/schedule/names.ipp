#pragma once

#include <unordered_set>

#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/names.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE std::string fresh_block_name(const ir::function& f, const std::string& base) {
  std::unordered_set<std::string> taken;
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    if (const ir::block_realize_node* realize = ir::as_realize(s))
      taken.insert(realize->block->name);
  });
  std::string name = base;
  for (int n = 1; taken.count(name) != 0; ++n) name = base + "_" + std::to_string(n);
  return name;
}

}  // namespace tilewright::primitive
