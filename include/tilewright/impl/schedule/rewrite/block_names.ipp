#pragma once

#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE block_names::block_names(const ir::stmt& body) {
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    if (const ir::block_realize_node* realize = ir::as_realize(s))
      taken_.insert(realize->block->name);
  });
}

TILEWRIGHT_INLINE void block_names::remove(const ir::stmt& part) {
  ir::for_each_stmt(part, [&](const ir::stmt& s) {
    if (const ir::block_realize_node* realize = ir::as_realize(s))
      taken_.erase(realize->block->name);
  });
}

TILEWRIGHT_INLINE std::string block_names::fresh(const std::string& base) {
  std::string name = base;
  for (int n = 1; !taken_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
  return name;
}

TILEWRIGHT_INLINE std::string fresh_block_name(const ir::function& f, const std::string& base) {
  return block_names(f.body).fresh(base);
}

}  // namespace tilewright::primitive
