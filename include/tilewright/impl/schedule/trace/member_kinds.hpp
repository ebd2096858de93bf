// The instruction kinds that the members of `schedule` stand for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>

#include <tilewright/schedule/instruction.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::detail {

/// The kind a member function stands for, looked up at its first use. Needs no construction at run
/// time, in which a fork could leave its child waiting.
class named_kind {
 public:
  constexpr explicit named_kind(const char* name) noexcept : name_(name) {}
  operator const instruction_kind&() const {
    if (const instruction_kind* known = found_.load(std::memory_order_acquire)) return *known;
    const instruction_kind* kind = find_instruction_kind(name_);
    if (!kind) throw internal_error("no instruction kind is called " + std::string(name_));
    found_.store(kind, std::memory_order_release);
    return *kind;
  }

 private:
  const char* name_;
  mutable std::atomic<const instruction_kind*> found_{nullptr};
};

template <std::size_t N>
struct kind_name {
  char text[N];
  consteval kind_name(const char (&name)[N]) {
    std::copy_n(name, N, text);
  }  // NOLINT: named<"fuse">
};

/// One for each name that a member is written with.
template <kind_name Name>
inline constinit named_kind named{Name.text};

}  // namespace tilewright::detail
