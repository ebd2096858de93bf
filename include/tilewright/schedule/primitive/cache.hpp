// cache_read and cache_write: stage a buffer through a copy in another scope.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// @param consumers ids of the blocks that read the copy; all readers when empty
new_block cache_read(const ir::function& f, std::uint64_t block, int read_index, const std::string& scope,
                     const std::vector<std::uint64_t>& consumers = {});
new_block cache_write(const ir::function& f, std::uint64_t block, int write_index, const std::string& scope,
                      const std::vector<std::uint64_t>& consumers = {});

}  // namespace tilewright::primitive
