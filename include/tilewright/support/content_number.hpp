// A number for the content of an array, by which one tells whether it has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tilewright::support {

/// A number for the content of an array; arrays that differ have the same one with a probability of
/// 2^-64 or so. Four words are in flight at a time: it costs a fraction of reading the array from memory.
/// @param length of the array // bytes
/// @param seed the number of what stands before, where several arrays have one number
inline std::uint64_t content_number(const void* data, std::size_t length, std::uint64_t seed) {
  constexpr std::size_t lanes = 4;
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  std::uint64_t state[lanes] = {seed, seed + 1, seed + 2, seed + 3};
  const auto* at = static_cast<const unsigned char*>(data);
  const auto step = [](std::uint64_t s, std::uint64_t word) {
    s = (s ^ word) * odd;
    return s ^ (s >> 29);
  };
  for (; length >= 8 * lanes; at += 8 * lanes, length -= 8 * lanes) {
    std::uint64_t words[lanes];
    std::memcpy(words, at, sizeof words);
    for (std::size_t l = 0; l < lanes; ++l) state[l] = step(state[l], words[l]);
  }
  std::uint64_t out = step(seed, length);
  for (; length > 0; ++at, --length) out = step(out, *at);
  for (const std::uint64_t s : state) out = step(out, s);
  return out;
}

}  // namespace tilewright::support
