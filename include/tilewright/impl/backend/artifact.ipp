#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::backend {
namespace detail::artifact_format {

// File = magic[8], words of 8 bytes little-endian: format, workspace, sizes of symbol, isa, object,
// checksum hi and lo over everything after; then the three byte ranges.
inline constexpr std::string_view magic = "TWKERNEL";
inline constexpr std::uint64_t format = 1;
inline constexpr std::size_t header_words = 7;
inline constexpr std::size_t header_bytes = 8 + header_words * 8;

inline void put_word(std::vector<std::byte>& out, std::uint64_t word) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>((word >> (8 * i)) & 0xff));
}

inline std::uint64_t get_word(const std::byte* at) {
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= static_cast<std::uint64_t>(at[i]) << (8 * i);
  return word;
}

inline std::string_view as_text(const std::byte* at, std::size_t size) {
  return {reinterpret_cast<const char*>(at), size};
}

inline support::hash128 checksum(std::uint64_t workspace, std::string_view symbol,
                                 std::string_view isa, std::string_view object) {
  support::hasher h;
  h.add(workspace);
  h.add(symbol);
  h.add(isa);
  h.add(object);
  return h.finish();
}

}  // namespace detail::artifact_format

TILEWRIGHT_INLINE std::vector<std::byte> serialize(const artifact& a) {
  namespace f = detail::artifact_format;
  std::vector<std::byte> out;
  out.reserve(f::header_bytes + a.symbol.size() + a.isa.size() + a.object.size());
  for (char c : f::magic) out.push_back(static_cast<std::byte>(c));
  const auto workspace = static_cast<std::uint64_t>(a.workspace_bytes);
  const support::hash128 sum =
      f::checksum(workspace, a.symbol, a.isa, f::as_text(a.object.data(), a.object.size()));
  for (std::uint64_t word :
       {f::format, workspace, std::uint64_t{a.symbol.size()}, std::uint64_t{a.isa.size()},
        std::uint64_t{a.object.size()}, sum.hi, sum.lo})
    f::put_word(out, word);
  for (const std::string* text : {&a.symbol, &a.isa})
    for (char c : *text) out.push_back(static_cast<std::byte>(c));
  out.insert(out.end(), a.object.begin(), a.object.end());
  return out;
}

TILEWRIGHT_INLINE artifact deserialize(const std::byte* bytes, std::size_t size) {
  namespace f = detail::artifact_format;
  if (size < f::header_bytes) throw build_error("stored kernel is too short to be one");
  if (f::as_text(bytes, f::magic.size()) != f::magic)
    throw build_error("stored kernel has another format");
  std::array<std::uint64_t, f::header_words> word;
  for (std::size_t i = 0; i < word.size(); ++i) word[i] = f::get_word(bytes + 8 + 8 * i);
  if (word[0] != f::format) throw build_error("stored kernel has another format version");
  std::uint64_t rest = size - f::header_bytes;
  for (std::size_t i = 2; i < 5; ++i) {
    if (word[i] > rest) throw build_error("stored kernel is cut short");
    rest -= word[i];
  }
  if (rest != 0) throw build_error("stored kernel has bytes after its end");
  const std::byte* at = bytes + f::header_bytes;
  artifact out;
  out.workspace_bytes = static_cast<std::int64_t>(word[1]);
  out.symbol = f::as_text(at, word[2]);
  at += word[2];
  out.isa = f::as_text(at, word[3]);
  at += word[3];
  out.object.assign(at, at + word[4]);
  const support::hash128 sum =
      f::checksum(word[1], out.symbol, out.isa, f::as_text(out.object.data(), out.object.size()));
  if (sum.hi != word[5] || sum.lo != word[6])
    throw build_error("stored kernel has a wrong checksum");
  if (out.workspace_bytes < 0) throw build_error("stored kernel wants a negative workspace");
  return out;
}

}  // namespace tilewright::backend
