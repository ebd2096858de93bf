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
// checksum hi and lo over everything after; then the three byte ranges. Format 2 has two files of
// format 1 after its magic: word 1 is the size of the first one, words 2 and following are the
// number of packed buffers and their bytes, the checksum of all, then main and preparation.
inline constexpr std::string_view magic = "TWKERNEL";
inline constexpr std::uint64_t format = 1, pair_format = 2;
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

namespace detail::artifact_format {

inline std::vector<std::byte> write_one(const artifact& a) {
  std::vector<std::byte> out;
  out.reserve(header_bytes + a.symbol.size() + a.isa.size() + a.object.size());
  for (char c : magic) out.push_back(static_cast<std::byte>(c));
  const auto workspace = static_cast<std::uint64_t>(a.workspace_bytes);
  const support::hash128 sum =
      checksum(workspace, a.symbol, a.isa, as_text(a.object.data(), a.object.size()));
  for (std::uint64_t word :
       {format, workspace, std::uint64_t{a.symbol.size()}, std::uint64_t{a.isa.size()},
        std::uint64_t{a.object.size()}, sum.hi, sum.lo})
    put_word(out, word);
  for (const std::string* text : {&a.symbol, &a.isa})
    for (char c : *text) out.push_back(static_cast<std::byte>(c));
  out.insert(out.end(), a.object.begin(), a.object.end());
  return out;
}

inline artifact read_one(const std::byte* bytes, std::size_t size) {
  if (size < header_bytes) throw build_error("stored kernel is too short to be one");
  std::array<std::uint64_t, header_words> word;
  for (std::size_t i = 0; i < word.size(); ++i) word[i] = get_word(bytes + 8 + 8 * i);
  if (as_text(bytes, magic.size()) != magic || word[0] != format)
    throw build_error("stored kernel has another format version");
  std::uint64_t rest = size - header_bytes;
  for (std::size_t i = 2; i < 5; ++i) {
    if (word[i] > rest) throw build_error("stored kernel is cut short");
    rest -= word[i];
  }
  if (rest != 0) throw build_error("stored kernel has bytes after its end");
  const std::byte* at = bytes + header_bytes;
  artifact out;
  out.workspace_bytes = static_cast<std::int64_t>(word[1]);
  out.symbol = as_text(at, word[2]);
  at += word[2];
  out.isa = as_text(at, word[3]);
  at += word[3];
  out.object.assign(at, at + word[4]);
  const support::hash128 sum =
      checksum(word[1], out.symbol, out.isa, as_text(out.object.data(), out.object.size()));
  if (sum.hi != word[5] || sum.lo != word[6])
    throw build_error("stored kernel has a wrong checksum");
  if (out.workspace_bytes < 0) throw build_error("stored kernel wants a negative workspace");
  return out;
}

/// What precedes the two files of format 2, up to the checksum.
inline std::vector<std::byte> pair_header(const artifact& a, std::size_t main_size) {
  std::vector<std::byte> out;
  for (char c : magic) out.push_back(static_cast<std::byte>(c));
  put_word(out, pair_format);
  put_word(out, main_size);
  put_word(out, a.packed_bytes.size());
  for (std::int64_t b : a.packed_bytes) put_word(out, static_cast<std::uint64_t>(b));
  return out;
}

inline support::hash128 pair_checksum(const std::byte* bytes, std::size_t size) {
  support::hasher h;
  h.add(as_text(bytes, size));
  return h.finish();
}

inline artifact read_pair(const std::byte* bytes, std::size_t size) {
  if (size < 8 + 3 * 8) throw build_error("stored kernel is too short to be one");
  const std::uint64_t main_size = get_word(bytes + 16), packed = get_word(bytes + 24);
  if (packed > size / 8) throw build_error("stored kernel is cut short");
  const std::size_t head = 32 + packed * 8 + 16;
  if (head > size || main_size > size - head) throw build_error("stored kernel is cut short");
  const support::hash128 sum = pair_checksum(bytes, head - 16);
  if (sum.hi != get_word(bytes + head - 16) || sum.lo != get_word(bytes + head - 8))
    throw build_error("stored kernel has a wrong checksum");
  artifact out = read_one(bytes + head, main_size);
  for (std::uint64_t i = 0; i < packed; ++i) {
    out.packed_bytes.push_back(static_cast<std::int64_t>(get_word(bytes + 32 + 8 * i)));
    if (out.packed_bytes.back() < 0) throw build_error("stored kernel wants a negative buffer");
  }
  out.preparation.push_back(read_one(bytes + head + main_size, size - head - main_size));
  return out;
}

}  // namespace detail::artifact_format

TILEWRIGHT_INLINE std::vector<std::byte> serialize(const artifact& a) {
  namespace f = detail::artifact_format;
  const std::vector<std::byte> main = f::write_one(a);
  if (a.preparation.empty()) return main;
  std::vector<std::byte> out = f::pair_header(a, main.size());
  const support::hash128 sum = f::pair_checksum(out.data(), out.size());
  f::put_word(out, sum.hi);
  f::put_word(out, sum.lo);
  out.insert(out.end(), main.begin(), main.end());
  const std::vector<std::byte> once = f::write_one(a.preparation.front());
  out.insert(out.end(), once.begin(), once.end());
  return out;
}

TILEWRIGHT_INLINE artifact deserialize(const std::byte* bytes, std::size_t size) {
  namespace f = detail::artifact_format;
  if (size < f::header_bytes) throw build_error("stored kernel is too short to be one");
  if (f::as_text(bytes, f::magic.size()) != f::magic)
    throw build_error("stored kernel has another format");
  return f::get_word(bytes + 8) == f::pair_format ? f::read_pair(bytes, size)
                                                  : f::read_one(bytes, size);
}

}  // namespace tilewright::backend
