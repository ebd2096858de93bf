// What a space wants to know about a block before it decides how to tile it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright::space {

/// How one access of a block moves through memory.
struct access_profile {
  ir::buffer buffer;
  std::vector<std::int64_t> stride;  // [iters], elements per step of the iteration variable
  bool affine = false;               // false: `stride` means nothing
  int region = -1;                   // position among the block's reads; -1 for the write
};

/// A block whose iteration variables are its loops, one to one, with constant extents.
struct block_profile {
  std::vector<ir::iter_kind> kind;   // [iters]
  std::vector<std::int64_t> extent;  // [iters]
  access_profile write;
  std::vector<access_profile> reads;  // one per load in the body, the accumulator left out
  bool reduction = false;             // has an init
  bool updates = false;               // has none and reads what it writes: no complete block
  bool in_order = false;  // it reduces floats, and the function keeps the order of terms
  bool cheap = false;     // no transcendental function and no conditional: worth inlining

  /// How often the block runs.
  std::int64_t instances() const noexcept;
  /// Terms of each result: the values of the variables that it reduces.
  std::int64_t terms() const noexcept;
  /// How often the block reads an element of an operand, on the average.
  double uses_of(const ir::buffer& operand) const noexcept;
  /// Some of the block's variables have this kind and more than one value.
  bool has(ir::iter_kind k) const noexcept;
  /// The spatial variable along which the output is contiguous; nothing if there is none with more
  /// than one value.
  std::optional<std::size_t> contiguous() const noexcept;
  /// True when vectors along `iter` can be loaded: every read is contiguous or constant along it.
  bool loads_vectors(std::size_t iter) const noexcept;
  /// The spatial variable, other than `vector`, whose values share the most operands: a register
  /// tile grows along it. Nothing when no operand is shared.
  std::optional<std::size_t> reuse(std::size_t vector) const noexcept;
  /// The variables in the order of loops that follow memory. Of a reduction: the spatial ones as
  /// they are, then the others by falling length of the longest step through an operand, or as they are where
  /// they have to stay in order. Else by
  /// falling length of the step through the output.
  std::vector<std::size_t> walking_order() const;
};

/// How an access with these indices moves when the block's iteration variables step.
access_profile profile_access(const ir::block_node& block, const ir::buffer& buffer,
                              const std::vector<ir::expr>& indices);

/// Profile of the block of that name; nothing when it has several writes, is not bound one to one
/// to constant loops, or stores to computed addresses.
std::optional<block_profile> profile(const schedule& s, const std::string& name);

/// The same, also for a reduction that writes one element of several buffers, such as the position
/// and the value of a maximum; the first stands for all.
std::optional<block_profile> reduction_profile(const schedule& s, const std::string& name);

/// The indices at which a block writes all its buffers; nothing when they differ.
std::optional<std::vector<ir::expr>> common_point(const ir::block_node& b);

}  // namespace tilewright::space
