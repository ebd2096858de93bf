// Places in a function: find a loop by its variable or a block by its id, and replace what stands
// there.
//
// Paths are found by one descent over the tree, which has tens of nodes; nothing is cached, so
// there is nothing to keep consistent. Blocks inside `init` do not exist and init is not entered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/node_memory.hpp>

namespace tilewright::primitive {

/// Result of a primitive that creates a block.
struct new_block {
  ir::function function;
  std::uint64_t block = 0;  // id
};
/// Result of a primitive that creates several blocks.
struct new_blocks {
  ir::function function;
  std::vector<std::uint64_t> blocks;  // ids
};
/// Result of a primitive that creates one loop.
struct new_loop {
  ir::function function;
  ir::var loop;
};
/// Result of a primitive that creates loops.
struct new_loops {
  ir::function function;
  std::vector<ir::var> loops;
};

/// The statements from a function's body down to a place. Valid as long as the function's body
/// lives.
struct path {
  // [0] is the body of the function; each slot lies inside the node of the one before.
  std::vector<const ir::stmt*, support::node_allocator<const ir::stmt*>> slots;

  explicit operator bool() const noexcept { return !slots.empty(); }
  const ir::stmt& target() const noexcept { return *slots.back(); }
  /// The loops strictly above the target and below its scope, outermost first.
  std::vector<const ir::loop_node*> loops() const;
  /// The loops strictly above the target up to the root, through enclosing blocks.
  std::vector<const ir::loop_node*> all_loops() const;
  /// The innermost block realize strictly above the target: its scope; null for the root realize.
  const ir::block_realize_node* scope() const noexcept;
};

/// Path to the loop whose variable is `loop`, or to the realize of the block; empty when there is
/// none.
path find_loop(const ir::function& f, const ir::var& loop);
path find_block(const ir::function& f, std::uint64_t block_id);

/// Requirement 0 of every primitive: its loops and blocks exist.
/// @throws schedule_error (requirement 0) naming the primitive
path need_loop(const ir::function& f, const ir::var& loop, const char* primitive);
path need_block(const ir::function& f, std::uint64_t block_id, const char* primitive);

/// The function with the statement at the end of `at` replaced; everything beside the path is
/// shared. A null statement removes the place together with the loops, sequences and branches left
/// empty.
/// @throws internal_error when the removal would leave a block without body
ir::function replace(const ir::function& f, const path& at, ir::stmt with);
/// The function with another version of the block whose realize is the end of `realize`; the
/// binding stays.
ir::function replace_block(const ir::function& f, const path& realize, ir::block with);

/// Direct child blocks: the outermost block realizes inside `s`, in program order.
std::vector<const ir::block_realize_node*> child_blocks(const ir::stmt& s);
/// All blocks strictly inside `s`, in program order, nested ones after the block that holds them.
std::vector<const ir::block_realize_node*> all_blocks(const ir::stmt& s);

}  // namespace tilewright::primitive
