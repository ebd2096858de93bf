// Dense arrays in which references of the operators are computed one element at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <top/engines.hpp>

namespace test_ops {

using extent_t = std::int64_t;

/// Dense array with named access, the reference's only tool.
template <class T>
struct array {
  std::vector<extent_t> shape;
  std::vector<T> data;

  array(std::vector<extent_t> s, int seed)
      : shape(std::move(s)), data(test_kernels::numbers<T>(size(), seed)) {}
  explicit array(std::vector<extent_t> s) : shape(std::move(s)), data(size()) {}
  std::size_t size() const {
    extent_t n = 1;
    for (extent_t e : shape) n *= e;
    return static_cast<std::size_t>(n);
  }
  template <class... I>
  T& operator()(I... at) {
    const extent_t where[] = {static_cast<extent_t>(at)...};
    extent_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      CHECK_MESSAGE((where[d] >= 0 && where[d] < shape[d]), "reference out of bounds");
      offset = offset * shape[d] + where[d];
    }
    return data[static_cast<std::size_t>(offset)];
  }
};

template <class T>
void check_same(const array<T>& got, const array<T>& want) {
  REQUIRE(got.data.size() == want.data.size());
  int wrong = 0;
  for (std::size_t k = 0; k < got.data.size(); ++k) wrong += got.data[k] != want.data[k];
  CHECK(wrong == 0);
}

template <class T>
void check_near(const array<T>& got, const array<T>& want, double tolerance = 1e-5) {
  REQUIRE(got.data.size() == want.data.size());
  int wrong = 0;
  for (std::size_t k = 0; k < got.data.size(); ++k)
    wrong += !(std::abs(static_cast<double>(got.data[k]) - static_cast<double>(want.data[k])) <=
               tolerance * (1 + std::abs(static_cast<double>(want.data[k]))));
  CHECK(wrong == 0);
}

}  // namespace test_ops
