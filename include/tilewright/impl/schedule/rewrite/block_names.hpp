// Names for new blocks: traces find blocks by name, so no two blocks may share one.
#pragma once

#include <string>
#include <unordered_set>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// The names of blocks, inits included.
class block_names {
 public:
  explicit block_names(const ir::stmt& body);
  /// Forgets the names of blocks that are about to go.
  void remove(const ir::stmt& part);
  /// `base`, or `base_1`, `base_2`, ... when it is taken; the name is taken from now on.
  std::string fresh(const std::string& base);

 private:
  std::unordered_set<std::string> taken_;
};

/// `base`, or `base_1`, `base_2`, ... when blocks of the function, inits included, have the name
/// already.
std::string fresh_block_name(const ir::function& f, const std::string& base);

}  // namespace tilewright::primitive
