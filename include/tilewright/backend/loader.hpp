// Loads artifacts: a relocating loader for the objects that `compile` makes, independent of LLVM.
//
// It maps an ELF relocatable object for x86-64 or AArch64, resolves it against a short table of C
// library functions and against itself, and makes pages executable only after they stopped being writable.
// It does not unwind, does not know thread-local storage, and refuses what it does not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/call.hpp>
#include <tilewright/config.hpp>

namespace tilewright::backend {

/// A kernel in memory. The destructor frees or unmaps the code: no call may be running.
class loaded {
 public:
  ~loaded();
  loaded(const loaded&) = delete;
  loaded& operator=(const loaded&) = delete;

  backend::entry entry() const noexcept { return entry_; }
  std::int64_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Sizes of the buffers that a call brings after its parameters; each is aligned to 64 bytes.
  const std::vector<std::int64_t>& packed_bytes() const noexcept { return packed_bytes_; }
  /// Called once with the same data pointers as calls will have, it fills those buffers; null when
  /// there is none.
  const loaded* preparation() const noexcept { return preparation_.get(); }
  /// Bytes of mapped code and constants, guard pages not counted.
  std::size_t code_bytes() const noexcept { return code_bytes_; }
  /// Runs the kernel; the result is that of the entry.
  int operator()(const call& arguments) const { return entry_(&arguments); }

 private:
  friend std::shared_ptr<const loaded> load(const artifact&);
  friend std::shared_ptr<const loaded> link(const artifact&);
  loaded() = default;
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::size_t code_bytes_ = 0;
  backend::entry entry_ = nullptr;
  std::int64_t workspace_bytes_ = 0;
  std::vector<std::int64_t> packed_bytes_;
  std::shared_ptr<const loaded> preparation_;
  std::shared_ptr<void> linked_;  // what `link` (backend/linker.hpp) holds; null for `load`
};

/// Maps and relocates an artifact, in tens of microseconds. Whether its code may be run is the
/// caller's to know: the loader checks the form of the object, never its meaning.
/// @throws build_error when the object is malformed or for another architecture than this machine's,
///         uses a relocation or symbol that is not supported,
///         or when memory cannot be mapped
std::shared_ptr<const loaded> load(const artifact& a);

/// Address of an external function that generated code may call; null when it may not.
void* external_symbol(std::string_view name);

}  // namespace tilewright::backend
