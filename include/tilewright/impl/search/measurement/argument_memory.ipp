#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include <tilewright/config.hpp>
#if TILEWRIGHT_X86
#include <cpuid.h>
#endif

#include <tilewright/search/measurement/argument_memory.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/files/file_size_signal.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::search {
namespace detail {

/// Bytes of the shared memory that one argument takes.
inline std::size_t shared_bytes(const argument_place& p) {
  return guarded_buffer::mapped_for(p.bytes);
}

inline int make_shared_memory(const std::vector<argument_place>& places) {
  std::size_t all = 0;
  for (const argument_place& p : places) all += shared_bytes(p);
  const support::file_size_signal_block limit;
  const int out = ::memfd_create("tilewright-arguments", MFD_CLOEXEC);
  if (out >= 0 && ::ftruncate(out, static_cast<off_t>(all)) == 0) return out;
  const int reason = errno;
  if (out >= 0) ::close(out);
  throw build_error("no shared memory of " + std::to_string(all) +
                    " bytes for tuning data: " + std::strerror(reason));
}

}  // namespace detail

TILEWRIGHT_INLINE argument_memory::argument_memory(std::vector<argument_place> places, sharing s)
    : places_(std::move(places)) {
  if (s == sharing::possible) descriptor_ = detail::make_shared_memory(places_);
  map(descriptor_);
}

TILEWRIGHT_INLINE argument_memory::argument_memory(std::vector<argument_place> places,
                                                   int descriptor)
    : places_(std::move(places)) {
  struct stat is {};
  if (::fstat(descriptor, &is) != 0)
    throw build_error(std::string("shared tuning data cannot be used: ") + std::strerror(errno));
  auto left = static_cast<std::size_t>(std::max<off_t>(is.st_size, 0));
  for (const argument_place& p : places_) {
    const bool sane = p.bytes <= left && detail::shared_bytes(p) <= left && p.element0 < p.bytes &&
                      std::has_single_bit(p.at.alignment) && p.at.alignment <= 4096 &&
                      p.at.beyond < p.at.alignment;
    if (!sane) throw build_error("a place does not lie in the shared tuning data");
    left -= detail::shared_bytes(p);
  }
  map(descriptor);
  seal();
}

TILEWRIGHT_INLINE argument_memory::~argument_memory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

TILEWRIGHT_INLINE void argument_memory::map(int descriptor) {
  std::size_t at = 0;
  for (const argument_place& p : places_) {
    if (descriptor < 0)
      buffers_.emplace_back(p.bytes, p.at);
    else
      buffers_.emplace_back(p.bytes, p.at, descriptor, at);
    at += detail::shared_bytes(p);
    data_.push_back(buffers_.back().data() + p.element0);
    strides_.insert(strides_.end(), p.strides.begin(), p.strides.end());
  }
}

TILEWRIGHT_INLINE std::size_t argument_memory::size() const {
  std::size_t out = 0;
  for (const argument_place& p : places_) out += p.bytes;
  return out;
}

TILEWRIGHT_INLINE bool argument_memory::updates() const {
  return support::any(places_, [](const argument_place& p) { return p.written && p.read; });
}

TILEWRIGHT_INLINE void argument_memory::seal() {
  pristine_.assign(places_.size(), {});
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::byte* from = buffers_[i].data();
    if (places_[i].written)
      pristine_[i].assign(from, from + places_[i].bytes);
    else
      buffers_[i].make_read_only();
  }
}

TILEWRIGHT_INLINE void argument_memory::reset() {
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_[i].written) std::memcpy(buffers_[i].data(), pristine_[i].data(), places_[i].bytes);
}

TILEWRIGHT_INLINE void argument_memory::open_guards(bool open) const noexcept {
  for (const guarded_buffer& b : buffers_) b.open_guards(open);
}

TILEWRIGHT_INLINE const std::byte* argument_memory::sealed(std::size_t i) const {
  return places_[i].written ? pristine_[i].data() : buffers_[i].data();
}

#if TILEWRIGHT_X86
namespace detail {

inline constexpr std::size_t flushed_line = 64;  // bytes

/// Whether lines can be flushed without waiting for one another, which is hundreds of times faster.
inline bool flushes_in_parallel() {
  const support::fork_pass inside;
  static const bool out = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && ((b >> 23) & 1);
  }();
  return out;
}

[[gnu::target("clflushopt")]] inline void flush_in_parallel(const char* at, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += flushed_line)
    __builtin_ia32_clflushopt(const_cast<char*>(at + i));
  __builtin_ia32_clflushopt(const_cast<char*>(at + bytes - 1));
}

inline void flush_in_turn(const char* at, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += flushed_line) __builtin_ia32_clflush(at + i);
  __builtin_ia32_clflush(at + bytes - 1);
}

}  // namespace detail
#endif

TILEWRIGHT_INLINE bool flush_lines(const void* at, std::size_t bytes) {
#if TILEWRIGHT_X86
  if (bytes == 0) return true;
  const auto flush =
      detail::flushes_in_parallel() ? detail::flush_in_parallel : detail::flush_in_turn;
  flush(static_cast<const char*>(at), bytes);
  __builtin_ia32_mfence();
  return true;
#else
  (void)at;
  (void)bytes;
  return false;
#endif
}

}  // namespace tilewright::search
