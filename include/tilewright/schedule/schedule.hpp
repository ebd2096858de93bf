// The schedule: a program, the primitives that change it, and the trace of what was done.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/instruction.hpp>
#include <tilewright/schedule/rv.hpp>
#include <tilewright/schedule/state.hpp>
#include <tilewright/schedule/trace.hpp>

namespace tilewright {

/// A program under transformation.
///
/// Every member function that is recorded either succeeds as a whole or throws and leaves the
/// program, the trace, the symbol table and the random stream as they were. The requirements of a
/// primitive stand at the function of the same name in schedule/primitive/; number 0 of all of them
/// is that the loops and blocks still exist: a loop that was split, fused or removed has expired.
///
/// A copy (`copy`) shares the program and costs a few pointers; random variables of the original
/// are valid in it.
class schedule {
 public:
  /// Starts from a function whose body is the realize of a root block.
  /// @throws argument_error when the function is none of a schedulable form
  explicit schedule(ir::function f, std::uint64_t seed = 42);
  schedule(const schedule&);
  schedule(schedule&&) noexcept;
  schedule& operator=(const schedule&);
  schedule& operator=(schedule&&) noexcept;
  ~schedule();

  const ir::function& function() const noexcept { return state_.function; }
  const tilewright::trace& trace() const noexcept { return trace_; }
  const schedule_state& state() const noexcept { return state_; }
  /// The program as text.
  std::string show() const;
  /// Same program, trace and variables; its random stream is split off from this one's, so that
  /// both draw different numbers from now on.
  schedule copy();
  /// Restarts the random stream.
  void seed(std::uint64_t value) { state_.random = support::random(value); }

  /// Goes on with one of the algorithms that the function carries; the first thing to be done.
  void work_on(std::string func_name);

  /// @name Sparse iterations
  /// They come before everything else; the block that comes back takes the place of the one that was given.
  /// @{
  block_rv sparse_reorder(block_rv block, std::vector<std::int64_t> new_order);
  block_rv sparse_fuse(block_rv block, std::vector<std::int64_t> axes);
  block_rv sparse_decompose(block_rv block);
  /// @}

  /// @name Queries
  /// @{
  /// The only block of that name.
  block_rv get_block(std::string_view name);
  block_rv block(std::string_view name) { return get_block(name); }
  /// The loops around the block up to its scope, outermost first.
  std::vector<loop_rv> get_loops(block_rv block);
  /// The same where their number is known: `auto [i, j, k] = s.loops<3>(b);`
  /// @throws argument_error when there are not N loops; nothing is recorded
  template <int N>
  std::array<loop_rv, N> loops(block_rv block);
  std::vector<block_rv> get_child_blocks(block_rv block);
  std::vector<block_rv> get_child_blocks(loop_rv loop);
  std::vector<block_rv> get_producers(block_rv block);
  std::vector<block_rv> get_consumers(block_rv block);
  std::vector<block_rv> get_output_blocks(block_rv scope);
  /// Value of an integer, realize of a block, loop of a loop variable; not recorded.
  /// @throws argument_error for an integer that stands for `infer`, schedule_error when expired
  std::int64_t get(expr_rv v) const;
  const ir::block_realize_node& get(block_rv b) const;
  const ir::loop_node& get(loop_rv l) const;
  /// @}

  /// @name Loops
  /// @{
  /// `auto [i0, i1] = s.split(i, {infer, 32});`
  template <std::size_t N>
  std::array<loop_rv, N> split(loop_rv loop, const factor (&factors)[N],
                               bool preserve_unit_iters = true, bool disable_predication = false);
  /// The same for a list made at run time, of factors, integers or integer variables.
  template <class List>
  requires requires(const List& l) { factor(*l.begin()); }
  std::vector<loop_rv> split(loop_rv loop, const List& factors, bool preserve_unit_iters = true,
                             bool disable_predication = false) {
    return split_list(loop, std::vector<factor>(factors.begin(), factors.end()),
                      preserve_unit_iters, disable_predication);
  }
  loop_rv fuse(const std::vector<loop_rv>& loops, bool preserve_unit_iters = true);
  template <std::same_as<loop_rv>... Loops>
  loop_rv fuse(loop_rv first, Loops... rest) {
    return fuse(std::vector<loop_rv>{first, rest...});
  }
  std::vector<loop_rv> loop_partition(loop_rv loop, std::vector<factor> factors,
                                      bool preserve_unit_iters = true);
  loop_rv merge(const std::vector<loop_rv>& loops);
  void reorder(const std::vector<loop_rv>& loops);
  template <std::same_as<loop_rv>... Loops>
  void reorder(loop_rv first, Loops... rest) {
    reorder(std::vector<loop_rv>{first, rest...});
  }
  void parallel(loop_rv loop);
  void vectorize(loop_rv loop);
  void bind(loop_rv loop, std::string thread_axis);
  void unroll(loop_rv loop);
  loop_rv add_unit_loop(block_rv block);
  loop_rv add_unit_loop(loop_rv loop);
  /// @}

  /// @name Movement
  /// A location from sample_compute_location may stand for the loop: "root" does nothing, "inline"
  /// inlines the block.
  /// @{
  block_rv cache_read(block_rv block, int read_index, std::string scope,
                      const std::vector<block_rv>& consumers = {});
  block_rv cache_write(block_rv block, int write_index, std::string scope,
                       const std::vector<block_rv>& consumers = {});
  std::array<block_rv, 2> cache_inplace(block_rv block, int read_index, std::string scope);
  std::vector<block_rv> cache_index(block_rv block, std::string scope, int cse_thresh = 0);
  block_rv reindex(block_rv block, buffer_selector buffer);
  block_rv reindex_cache_read(block_rv block, int read_index, std::string scope, map_argument map);
  block_rv reindex_cache_write(block_rv block, int write_index, std::string scope,
                               map_argument map);
  block_rv read_at(loop_rv loop, block_rv block, int read_index, std::string scope);
  block_rv write_at(loop_rv loop, block_rv block, int write_index, std::string scope);
  void compute_at(block_rv block, loop_rv loop, bool preserve_unit_loops = false, int index = -1);
  void reverse_compute_at(block_rv block, loop_rv loop, bool preserve_unit_loops = false,
                          int index = -1);
  void compute_inline(block_rv block);
  void reverse_compute_inline(block_rv block);
  block_rv decompose_reduction(block_rv block, loop_rv loop);
  block_rv rfactor(loop_rv loop, int factor_axis);
  void add_atomically(block_rv block);
  void fuse_reduction_epilogue(block_rv reduction, block_rv epilogue);
  void pad_einsum(block_rv block, std::vector<std::int64_t> padding);
  void rolling_buffer(block_rv block, int write_buffer_index);
  /// @}

  /// @name Layout
  /// @{
  /// `pad_value`: none, an integer, a real number or an index map, as an argument.
  void transform_layout(block_rv block, buffer_selector buffer, map_argument index_map,
                        argument pad_value = {}, bool assume_injective_transform = false);
  void transform_block_layout(block_rv block, map_argument index_map);
  void reorder_block_iter_var(block_rv block, std::vector<std::int64_t> new_order);
  /// @}

  /// @name Blocks
  /// @{
  block_rv blockize(loop_rv loop, bool preserve_unit_iters = true);
  block_rv blockize(const std::vector<block_rv>& blocks, bool preserve_unit_iters = true);
  void tensorize(loop_rv loop, std::string intrinsic, bool preserve_unit_iters = true);
  void tensorize(block_rv block, std::string intrinsic);
  block_rv decompose_padding(block_rv block, loop_rv loop);
  /// Whether decompose_padding would not refuse; not recorded.
  bool can_decompose_padding(block_rv block, loop_rv loop) const;
  /// @}

  /// @name Buffers
  /// @{
  void set_scope(block_rv block, int buffer_index, std::string storage_scope);
  void unsafe_set_dtype(block_rv block, int buffer_index, std::string dtype);
  void storage_align(block_rv block, int buffer_index, int axis, int factor, int offset = 0);
  void set_axis_separator(block_rv block, buffer_selector buffer,
                          std::vector<std::int64_t> axis_separators = {});
  void unsafe_hide_buffer_access(block_rv block, std::string buf_type,
                                 std::vector<std::int64_t> buf_index_array);
  void annotate_buffer_access(block_rv block, int buffer_index, std::string buf_type,
                              map_argument ranges);
  /// @}

  /// @name Annotations
  /// @{
  void annotate(block_rv block, std::string key, annotation_value value);
  void annotate(loop_rv loop, std::string key, annotation_value value);
  void unannotate(block_rv block, std::string key);
  void unannotate(loop_rv loop, std::string key);
  /// @}

  /// @name Sampling
  /// Drawn when no decision is given; the decision that was used is recorded.
  /// @{
  expr_rv sample_categorical(std::vector<std::int64_t> candidates, std::vector<double> probs,
                             std::optional<std::int64_t> choice = {});
  std::vector<expr_rv> sample_perfect_tile(loop_rv loop, int n, int max_innermost_factor = 16,
                                           std::optional<std::vector<std::int64_t>> choice = {});
  std::vector<expr_rv> sample_partitioned_tile(
      loop_rv loop, int n, int partition_pos, int innerpart_factor,
      std::optional<std::vector<std::int64_t>> choice = {});
  std::vector<expr_rv> sample_tile(loop_rv loop, int n, std::vector<std::int64_t> innermost,
                                   std::optional<std::vector<std::int64_t>> choice = {});
  loop_rv sample_compute_location(block_rv block, std::optional<std::int64_t> choice = {});
  /// @}

  /// Goes on only if the condition on integers of the schedule holds: `s.require(le(v * w, 64))`.
  /// In a trace it is `sch.assert_(condition=v3 * v4 <= 64)`; a search counts the refused
  /// candidates.
  /// @throws schedule_error when it does not hold
  void require(factor condition);

  /// Marks the end of the search space; what follows belongs to post-processing.
  void enter_postproc();

  /// Runs one instruction of any kind and records it: the door for replay and for kinds that have
  /// no member function here.
  /// @returns the outputs
  std::vector<rv> apply(const instruction_kind& kind, std::vector<argument> args,
                        const decision& choice = {});
  /// The same for a recorded instruction whose arguments are variables of this schedule; the
  /// instruction is shared when its outputs get the numbers that it has recorded.
  /// @throws argument_error when the number of outputs differs from the recorded one
  const std::vector<rv>& apply(const support::ref<const instruction>& what, const decision& choice);

 private:
  friend class tilewright::trace;
  /// Makes room for the results of a trace that is about to be applied.
  void expect(const tilewright::trace& t);
  const std::vector<rv>& commit(outcome&& result, support::ref<const instruction> what);
  std::vector<loop_rv> split_list(loop_rv loop, std::vector<factor> factors,
                                  bool preserve_unit_iters, bool disable_predication);
  std::vector<loop_rv> loops_counted(block_rv block, int n);

  schedule_state state_;
  tilewright::trace trace_;
};

template <int N>
std::array<loop_rv, N> schedule::loops(block_rv block) {
  const std::vector<loop_rv> list = loops_counted(block, N);
  std::array<loop_rv, N> out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = list[i];
  return out;
}

template <std::size_t N>
std::array<loop_rv, N> schedule::split(loop_rv loop, const factor (&factors)[N],
                                       bool preserve_unit_iters, bool disable_predication) {
  const std::vector<loop_rv> list = split_list(loop, std::vector<factor>(factors, factors + N),
                                               preserve_unit_iters, disable_predication);
  std::array<loop_rv, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = list[i];
  return out;
}

}  // namespace tilewright
