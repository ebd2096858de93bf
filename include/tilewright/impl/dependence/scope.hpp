// What a scope's blocks do to each other: dependences, block properties, loop properties.
//
// A scope is a block with the blocks directly below it. Everything here is computed on demand from
// one walk over the scope (`block_scope`); nothing is kept between primitives but what bindings come
// to, which stays with their node, and no text is built. Blocks are named by their position among the
// scope's children, in program order.
//
// Dependences are found by region: two blocks that touch provably disjoint boxes of a buffer are
// independent (TVM compares buffers only). Reasons are numbered as TVM's messages number them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::ir {
class private_buffers;  // private_buffers.hpp
}

namespace tilewright::dependence {

struct bound_iters;  // footprint.hpp

/// A block directly below a scope, with the loops between the scope and the block.
struct child_block {
  const ir::block_realize_node* realize = nullptr;
  loop_nest loops;                                        // outermost first
  bool conditional = false;                               // an if or a let stands in between
  mutable std::shared_ptr<const bound_iters> bound = {};  // by these loops, of `bind_iters`
  /// The block with what is loaded around it among its reads, where a block of the scope writes that.
  std::shared_ptr<const ir::block_node> widened = {};

  const ir::block_node& block() const noexcept { return widened ? *widened : *realize->block; }
  /// Whether each iteration of that loop runs instances of its own: not threads that copy jointly.
  bool runs_alone(std::size_t loop) const { return !ir::copies_jointly(block(), *loops[loop]); }
};

/// One walk over a scope. Valid as long as the scope's block lives.
///
/// Only blocks say what they read; guards, values of iteration variables, bounds of loops and
/// conditions around a block may load too. What a block of the scope writes and these load counts as
/// read by the block, wherever in the buffer.
class block_scope {
 public:
  explicit block_scope(const ir::block_node& root);

  const ir::block_node& root() const noexcept { return *root_; }
  const std::vector<child_block>& children() const noexcept { return children_; }
  std::size_t size() const noexcept { return children_.size(); }
  template <std::integral Position>
  const child_block& operator[](Position i) const {
    return children_[static_cast<std::size_t>(i)];
  }
  /// Position of the child with that id; -1 when it is none of this scope.
  int find(std::uint64_t block_id) const noexcept;
  /// The same of one that is known to be a child.
  std::size_t position(std::uint64_t block_id) const noexcept {
    return static_cast<std::size_t>(find(block_id));
  }
  /// True when only loops, sequences and blocks stand between the scope and its children.
  bool schedulable() const noexcept { return schedulable_; }
  /// True when the scope's block allocates the buffer.
  bool allocates(const ir::buffer& b) const noexcept;
  /// Number of loops that enclose both children.
  std::size_t common_loops(std::size_t a, std::size_t b) const noexcept;

 private:
  void collect(const ir::stmt& s, bool conditional);
  void add_child(const ir::block_realize_node& realize, bool conditional);
  void widen();

  const ir::block_node* root_;
  std::vector<child_block> children_;
  loop_nest stack_;
  std::vector<ir::expr> around_;  // what stands around the statement and loads
  std::vector<std::pair<std::size_t, ir::buffer>> loaded_around_;  // a child, a buffer
  bool schedulable_ = true;
};

/// Whether the statement is, or holds directly in its scope, the realize of that block.
bool holds_block(const ir::stmt& s, std::uint64_t block_id);

enum class dependence_kind : std::uint8_t { read_after_write, write_after_write, write_after_read };

/// `target` comes after `source` in program order and must stay there.
struct dependence_edge {
  std::size_t source = 0;
  std::size_t target = 0;
  dependence_kind kind = dependence_kind::read_after_write;
  friend bool operator==(const dependence_edge&, const dependence_edge&) = default;
};

/// @name Dependences of a scope
/// @{
/// All of them; edges of a block to itself are left out.
std::vector<dependence_edge> dependences(const block_scope& scope);
/// Neighbours by read-after-write and write-after-write, each once: producers in the order of what
/// `child` reads and then writes, and for each buffer in program order, as consumers are.
std::vector<std::size_t> producers(const block_scope& scope, std::size_t child);
std::vector<std::size_t> consumers(const block_scope& scope, std::size_t child);
/// The blocks that read something that `child` writes, wherever they stand.
std::vector<std::size_t> readers(const block_scope& scope, std::size_t child);
/// True unless the boxes of the two accesses are provably disjoint over the whole run of the
/// blocks.
bool may_overlap(const ir::block_node& a, const ir::buffer_region& of_a, const ir::block_node& b,
                 const ir::buffer_region& of_b);
/// The same of any of the accesses of each.
bool meet_anywhere(const ir::block_node& a, const std::vector<ir::buffer_region>& of_a,
                   const ir::block_node& b, const std::vector<ir::buffer_region>& of_b);
/// The box of a region over the whole domain of the block's iteration variables, cut to the buffer.
std::vector<arith::bounds> constant_box(const ir::block_node& block,
                                        const ir::buffer_region& region);
/// True when the child writes a buffer that the scope does not allocate.
bool is_output(const block_scope& scope, std::size_t child);
/// @}

/// @name Properties of a block: 0, or the number of the first condition that does not hold
/// @{
/// Complete block: 1. all iteration variables are spatial; 2. it is dominant: no other block of the
/// scope writes what it writes; 3. what it reads and what it writes are different buffers; 4. it
/// writes once (TVM does not ask).
int complete_violation(const block_scope& scope, std::size_t child);
/// Reduction block: 1. it has an init; 2. its bindings are affine; 3. its iteration variables are
/// spatial or reduce; 4. it is dominant; 5. no reduce variable occurs in the indices of its stores;
/// 6. it writes once; 7. of its results it reads only the element that it updates (TVM does not ask
/// these two).
///
/// Affine is asked of the innermost loops from the outermost one on which a reduce variable
/// depends: a reduction that is recomputed as a whole, as compute_at leaves it at a halo, still is
/// a reduction.
/// With `guards`, its guard may leave out terms, those behind the end of the last of several parts, where it is about loops alone.
enum class guards : std::uint8_t { none, terms };
int reduction_violation(const block_scope& scope, std::size_t child, guards may = guards::none);
std::string_view complete_reason(int violation);
std::string_view reduction_reason(int violation);
inline bool is_complete(const block_scope& scope, std::size_t child) {
  return complete_violation(scope, child) == 0;
}
inline bool is_reduction(const block_scope& scope, std::size_t child) {
  return reduction_violation(scope, child) == 0;
}
/// No other block of the scope writes what the child writes.
bool is_dominant(const block_scope& scope, std::size_t child);
/// @}

/// Whether the expression has a loop around the block in it, from position `first` on.
bool uses_loops_from(const ir::expr& e, const child_block& child, std::size_t first);

/// True when the iteration variables visit exactly their domains while all loops of the scope run,
/// and the leading term of each binding has scale 1.
bool is_affine_binding(const child_block& child);
/// The same for the loops from position `first` on: the others are constants.
bool is_affine_binding(const child_block& child, std::size_t first);
/// No two iterations of the loops from position `first` on run the same instance, as they do which
/// compute_at leaves below loops that the block does not follow. A complete block may run again; a
/// reduction may only as a whole, init included.
bool runs_once(const child_block& child, std::size_t first);
/// Affine, and each iteration variable reaches both ends of its domain, which a guard or the padding
/// of a domain can keep it from; symbolic domains are believed.
bool visits_domains(const child_block& child);
/// The iteration variables are bound to exactly the loops, in order.
bool is_trivial_binding(const child_block& child);

/// How well it is known that no two of several write the same element: they may do so; nothing speaks
/// against it, and the program says so by its spatial variables; or it is certain.
enum class apartness : std::uint8_t { none, believed, proved };

/// Instances that differ in a variable that does not reduce write different elements, as the declared
/// regions say; where the places are no sums of digits, instances are run through, up to 4096. Where
/// that are not all, where an index is loaded, or a variable is in no index of a region that is larger
/// than an element, they are believed to.
bool writes_once(const child_block& child);
/// Different iterations of the loop at that position run different instances.
bool instances_apart(const child_block& child, std::size_t loop);
/// Different iterations of the loop at that position write different elements of the region, or of
/// all that the block writes, as far as `writes_once` tells.
bool iterations_apart(const child_block& child, std::size_t loop, const ir::buffer_region& region);
bool iterations_apart(const child_block& child, std::size_t loop);
/// Whether the child may write other values to an element in different iterations of a loop around it:
/// the iterations write the same elements, and what they write there follows from the loop, or from
/// what is itself rewritten below it.
bool rewrites(const block_scope& scope, std::size_t child, const ir::var& loop);
/// Whether iterations of the loop at that position may run at once as far as they write this region:
/// each has the buffer for itself, or they write different elements, or add to them as different
/// instances of one reduction.
apartness writes_apart(const child_block& child, std::size_t loop, const ir::buffer_region& region,
                       ir::private_buffers& own);
/// For a block with reduce variables: while the loops run from the first one on that drives a
/// reduce variable, each instance runs once and the reduce variables see their whole domains.
bool reduces_affinely(const child_block& child);
/// A child with its block as it would run without a guard.
struct unguarded {
  explicit unguarded(const child_block& child);
  ir::stmt open;
  child_block child;
};
/// Whether the block would reduce affinely if it had no guard: one that leaves out terms of some results, as those behind the
/// last group of a number that groups do not divide. Terms of one result stay in their order.
bool reduces_without_guard(const child_block& child);
/// Positions of the loops longer than 1 that drive both spatial and reduce variables, as a loop
/// does that was fused from both. Their relative order decides which reduce instance of a result
/// comes first, so it must stay as it is.
std::vector<std::size_t> mixed_loops(const child_block& child);
/// Whether the first instance of each result to run is the one that initialises it: `vk = k`, not
/// `vk = 2 - k`, nor a part that is told from outside; mixed loops run through the sums that they are
/// digits of in increasing order.
bool init_comes_first(const child_block& child);

/// Whether all that a block reads from other blocks of its scope is written before, in the same
/// iteration of the loops that reader and writer share. Reads are cut to the buffer, writes to what
/// the predicate lets happen; a reduction counts as written only where its reduce loops are done,
/// unless partial sums will do. Loops bound to threads are widened over as the storage
/// scope demands.
enum class sums : std::uint8_t { finished, partial };
bool region_covered(const block_scope& scope, std::size_t child, sums needed = sums::finished);
/// The same of what it reads of one buffer.
bool region_covered(const block_scope& scope, std::size_t child, const ir::buffer& x);
/// A block below the loop that reads what another block below it writes in another iteration of the
/// loop, before or after; -1 if there is none. What it reads of earlier blocks these write in its own
/// iteration, all of it; what later ones overwrite are elements that only its own iteration touches.
/// Threads wait for what they copy jointly: these blocks are not looked at.
/// TVM does not ask.
int carried_dependence(const block_scope& scope, const ir::var& loop);
/// Whether that block is one by that region of its reads.
bool is_carried(const block_scope& scope, std::size_t child, const ir::buffer_region& read,
                const ir::var& loop);
/// Whether an iteration of the loop that has the buffer of that region for itself lacks what the block
/// reads: blocks before it write that in other iterations, not in its own.
bool is_lacking(const block_scope& scope, std::size_t child, const ir::buffer_region& read,
                const ir::var& loop);
/// Whether blocks inside of the block read nothing of the buffer, or of its view of it, that others
/// inside of it have not written before, there.
bool reads_own_writes(const ir::block_node& block, const ir::buffer& x);
/// Whether a block writes all of a region that it declares: the blocks inside of it certainly write
/// all of the box, or its stores do. Fewer stores than the box has elements do not; where else that
/// cannot be said of stores, as behind loaded indices and conditions, the declaration is believed.
bool writes_declared(const ir::block_node& block, const ir::buffer_region& region);
/// What TVM asks of some scopes: every block is covered in what it declares to read, and none declares
/// to read a buffer that a later one writes.
bool is_stage_pipeline(const block_scope& scope);

/// @name Loops
/// @{
enum class loop_iter_kind : std::uint8_t { spatial, reduce, mixed };
/// Which kind of iteration variables the loop drives, over all blocks below it in its scope, and those
/// inside of them that follow the loop themselves, as a block that loop_partition made leaves its blocks;
/// spatial when it drives none; mixed for several kinds or kinds other than spatial and reduce.
loop_iter_kind iter_kind_of(const block_scope& scope, const ir::var& loop);
/// An iteration variable that a loop drives, and its block.
struct driven_iter {
  const ir::block_node* block;
  ir::iter_kind kind;
};
/// Those variables, block by block.
std::vector<driven_iter> driven_iters(const block_scope& scope, const ir::var& loop);
/// The first block below the loop that is neither complete nor a reduction as far as the loop's
/// subtree is concerned; -1 when the dataflow below the loop is compact. Updates in place,
/// `Y[i] = Y[i] + X[i]`, count as complete where iterations of the loop update different elements,
/// other than in TVM.
///
/// A block whose iterations of the loop write the same elements is accepted only when nobody
/// outside the loop sees its result, which then is private to an iteration.
/// @param atomics  one that adds atomically (ir/analysis/atomic_update.hpp) is accepted, whatever elements it adds to
int compact_dataflow_violation(const block_scope& scope, const ir::var& loop,
                               ir::private_buffers& own, bool atomics = false);
/// One of the variables around a block on which its body depends by more than iteration variables, as
/// that of a block does which loop_partition made; null when there is none.
ir::var used_inside(const ir::block_node& block, const ir::var_set& around);
/// The same of the loops around the child.
ir::var used_inside(const child_block& child);
/// @}

}  // namespace tilewright::dependence
