// annotate and unannotate: notes on blocks and loops for later stages.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Adds an annotation to a block or a loop.
/// Requires: 1. there is no annotation of that key with another value (TVM keeps it silently); 2. the key is not
/// `tilewright.rising`, which says what lowering knows of arguments and nothing would check.
/// @throws schedule_error
ir::function annotate_block(const ir::function& f, std::uint64_t block, const std::string& key,
                            const ir::attr& value);
ir::function annotate_loop(const ir::function& f, const ir::var& loop, const std::string& key,
                           const ir::attr& value);

/// Removes an annotation of a block or a loop.
/// Requires: 1. there is an annotation of that key; 2. the key is not `tilewright.atomic`, on which loops that are
/// bound to threads may rely.
/// @throws schedule_error
ir::function unannotate_block(const ir::function& f, std::uint64_t block, const std::string& key);
ir::function unannotate_loop(const ir::function& f, const ir::var& loop, const std::string& key);

}  // namespace tilewright::primitive
