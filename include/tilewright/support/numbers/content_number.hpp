// A number for the content of an array, by which one tells whether it has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace tilewright::support {

/// A number for the content of an array; arrays that differ have the same one with a probability of
/// 2^-64 or so. Eight words are in flight at a time, so that memory is what it waits for.
/// @param length of the array // bytes
/// @param seed the number of what stands before, where several arrays have one number
inline std::uint64_t content_number(const void* data, std::size_t length, std::uint64_t seed) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  const auto* at = static_cast<const unsigned char*>(data);
  // a permutation of the numbers for each word: one word that differs always shows
  const auto step = [](std::uint64_t s, std::uint64_t word) {
    s = (s ^ word) * odd;
    return s << 31 | s >> 33;
  };
  const auto read = [&at](std::size_t number) {
    std::uint64_t word;
    std::memcpy(&word, at + 8 * number, sizeof word);
    return word;
  };
  std::uint64_t s0 = seed, s1 = seed + 1, s2 = seed + 2, s3 = seed + 3, s4 = seed + 4,
                s5 = seed + 5, s6 = seed + 6, s7 = seed + 7;
  std::uint64_t out = step(seed, length);
  for (; length >= 64; at += 64, length -= 64) {
    s0 = step(s0, read(0));
    s1 = step(s1, read(1));
    s2 = step(s2, read(2));
    s3 = step(s3, read(3));
    s4 = step(s4, read(4));
    s5 = step(s5, read(5));
    s6 = step(s6, read(6));
    s7 = step(s7, read(7));
  }
  for (; length > 0; ++at, --length) out = step(out, *at);
  for (const std::uint64_t s : {s0, s1, s2, s3, s4, s5, s6, s7}) out = step(out, s);
  return out ^ out >> 32;
}

}  // namespace tilewright::support
