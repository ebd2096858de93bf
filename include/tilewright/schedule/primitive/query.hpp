// Queries: which blocks and loops a program has. They change nothing and are recorded, since a
// trace needs the variables they give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// The block of that name, or else, for a name as "#2", the block at that place of the program's text:
/// the root is number 0. A trace also names a function, for TVM, where a module has several; here
/// there is one, whatever it is called. Requires: 1. exactly one block has the name, or none has and
/// there is a block at the place.
std::uint64_t get_block(const ir::function& f, const std::string& name);

/// The place of a block as `get_block` understands it, "#2"; nothing where there is no such block.
std::string place_of_block(const ir::function& f, std::uint64_t block);

/// The loops around a block up to its scope block, outermost first; none for the root.
std::vector<ir::var> get_loops(const ir::function& f, std::uint64_t block);

/// The blocks directly below a block or a loop, in program order; nested ones are not listed.
std::vector<std::uint64_t> get_child_blocks(const ir::function& f, std::uint64_t block);
std::vector<std::uint64_t> get_child_blocks(const ir::function& f, const ir::var& loop);

/// The blocks of the same scope that write what the block reads or writes (producers), or that read
/// or write what it writes (consumers): neighbours by read-after-write and write-after-write, each
/// once. Producers come in the order of the buffers that the block reads, then of those it writes,
/// and for each of these in program order; consumers in program order.
std::vector<std::uint64_t> get_producers(const ir::function& f, std::uint64_t block);
std::vector<std::uint64_t> get_consumers(const ir::function& f, std::uint64_t block);

/// The blocks below `scope` that write a buffer which `scope` does not allocate, in program order.
std::vector<std::uint64_t> get_output_blocks(const ir::function& f, std::uint64_t scope);

}  // namespace tilewright::primitive
