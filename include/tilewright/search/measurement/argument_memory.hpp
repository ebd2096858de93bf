// The memory that candidates run on: one guarded buffer per argument.
//
// It can be shared with another process, which maps it by its description and its descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/measurement/guard.hpp>

namespace tilewright::search {

/// Where one argument lies.
struct argument_place {
  std::size_t bytes = 0;              // of its buffer
  placement at;                       // of the buffer
  std::size_t element0 = 0;           // bytes from the start of the buffer
  std::vector<std::int64_t> strides;  // [rank], elements; empty for a scalar
  bool written = false;
  bool read = false;
};

/// Buffers for the arguments of one function. Movable by pointer only; not thread-safe.
class argument_memory {
 public:
  enum class sharing { none, possible };
  /// @throws build_error when there is not enough memory
  explicit argument_memory(std::vector<argument_place> places, sharing s = sharing::none);
  /// Maps the memory of another process by its descriptor, which stays the caller's. What is not
  /// written is mapped read-only.
  /// @throws build_error when the places do not lie in what the descriptor stands for
  argument_memory(std::vector<argument_place> places, int descriptor);
  ~argument_memory();
  argument_memory(const argument_memory&) = delete;
  argument_memory& operator=(const argument_memory&) = delete;

  const std::vector<argument_place>& places() const noexcept { return places_; }
  /// Address of element 0 of each argument.
  const std::vector<void*>& data() const noexcept { return data_; }
  /// Strides of all buffer arguments in order, as the entry ABI has them.
  const std::vector<std::int64_t>& strides() const noexcept { return strides_; }
  const guarded_buffer& buffer(std::size_t i) const { return buffers_[i]; }
  /// Of what was made to be shared; -1 otherwise.
  int descriptor() const noexcept { return descriptor_; }
  /// Sum of the buffers. // bytes
  std::size_t size() const;
  /// Whether an argument is both read and written, so that calls change what later ones see.
  bool updates() const;

  /// Says that all values are in place: `reset` returns to them, and what is only read becomes
  /// read-only, so that a candidate that writes there ends with a fault.
  void seal();
  /// Puts what calls write back to what it was.
  void reset();
  /// Whether the pages around all arguments may be touched (guarded_buffer).
  void open_guards(bool open) const noexcept;
  /// Bytes of argument `i` as they were when `seal` was called. // [places()[i].bytes]
  const std::byte* sealed(std::size_t i) const;

 private:
  void map(int descriptor);

  std::vector<argument_place> places_;
  std::vector<guarded_buffer> buffers_;
  std::vector<std::vector<std::byte>> pristine_;  // of written arguments
  std::vector<void*> data_;
  std::vector<std::int64_t> strides_;
  int descriptor_ = -1;
};

/// Puts the lines of `bytes` bytes at `at` out of all caches, where the processor has an
/// instruction for it; elsewhere nothing happens. @returns whether it did
bool flush_lines(const void* at, std::size_t bytes);

}  // namespace tilewright::search
