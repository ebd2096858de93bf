// Images and filters in either layout.
#pragma once

#include <ops/array.hpp>

namespace test_ops {

/// An image or filter of up to three spatial dimensions in either layout.
template <class T>
struct picture {
  bool last;
  array<T> a;
  static std::vector<extent_t> shape(bool last, extent_t n, extent_t c, std::vector<extent_t> s) {
    std::vector<extent_t> out{n};
    if (!last) out.push_back(c);
    out.insert(out.end(), s.begin(), s.end());
    if (last) out.push_back(c);
    return out;
  }
  picture(bool l, extent_t n, extent_t c, std::vector<extent_t> s, int seed)
      : last(l), a(shape(l, n, c, s), seed) {}
  template <class... S>
  T& operator()(extent_t n, extent_t c, S... s) {
    return last ? a(n, s..., c) : a(n, c, s...);
  }
};

template <class T>
struct filters {
  bool last;
  array<T> a;
  static std::vector<extent_t> shape(bool last, extent_t c, extent_t k, std::vector<extent_t> s) {
    if (!last)
      s.insert(s.begin(), {k, c});
    else
      s.insert(s.end(), {c, k});
    return s;
  }
  filters(bool l, extent_t c, extent_t k, std::vector<extent_t> s, int seed)
      : last(l), a(shape(l, c, k, s), seed) {}
  template <class... S>
  T& operator()(extent_t c, extent_t k, S... s) {
    return last ? a(s..., c, k) : a(k, c, s...);
  }
};

inline bool inside(extent_t at, extent_t extent) { return at >= 0 && at < extent; }

}  // namespace test_ops
