// The blocks of a program's root scope, by name: asking costs no trace entry.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright::space {

/// The realize of the block of that name.
/// @throws internal_error when there is none
const ir::block_realize_node& named_block(const schedule& s, const std::string& name);
/// Names of the blocks in the root scope, in program order.
std::vector<std::string> root_block_names(const schedule& s);
/// True when the block is still there.
bool has_block(const schedule& s, const std::string& name);
/// True when the block writes a buffer that the function does not allocate.
bool is_output(const schedule& s, const std::string& name);
/// Names of the blocks that read what the block writes.
std::vector<std::string> consumer_names(const schedule& s, const std::string& name);
/// Names of the blocks that write what the block reads.
std::vector<std::string> producer_names(const schedule& s, const std::string& name);
/// Number of loops around the block up to its scope.
std::size_t loop_count(const schedule& s, const std::string& name);

}  // namespace tilewright::space
