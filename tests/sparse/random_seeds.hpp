// The random programs that a run of the tests takes: 200 from number 0 on, or as many as
// TILEWRIGHT_SPARSE_PROGRAMS says from TILEWRIGHT_SPARSE_FIRST on, so that many are run in pieces.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace random_seeds {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

inline std::uint64_t count() { return from_environment("TILEWRIGHT_SPARSE_PROGRAMS", 200); }
inline std::uint64_t first() { return from_environment("TILEWRIGHT_SPARSE_FIRST", 0); }

}  // namespace random_seeds
