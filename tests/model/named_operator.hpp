// An operator by its name, the element types that it has, and a node of it on given values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/model/emission.hpp>

#include "model/one_node.hpp"

namespace network_tests::named {

/// Element types of an operator's data.
enum type_set : unsigned { floats_only = 1, whole = 2, boolean = 4, numbers = 3, any_type = 7 };

/// Values that all types of a set hold exactly: eighths or whole numbers or bits, of either sign.
struct value_source {
  dtype type;     // of the elements
  bool is_whole;  // of the values
  bool is_bit;

  constant operator()(const shape& extents, int seed = 0, double least = -2) const {
    auto [c, data] = constant::make({type, extents});
    for (std::int64_t k = 0; k < c.type().elements(); ++k) {
      const auto n = static_cast<std::int64_t>((k * 7 + seed * 5 + 3) % 33) - 16;
      double x = is_bit     ? static_cast<double>(n & 1)
                 : is_whole ? static_cast<double>(n % 4)
                            : static_cast<double>(n) / 8;
      if (!is_bit) x = std::max(x, least);
      network::detail::store_number(data, type, k, x, static_cast<std::int64_t>(x));
    }
    return c;
  }
};

using builder = std::function<one_node(const value_source&)>;

struct named_operator {
  const char* name;
  unsigned types;
  builder make;
  double tolerance = 8;  // units of the type's epsilon, relative to the largest element
};

inline constant integers(const std::vector<std::int64_t>& l) { return constant::of_integers(l); }
inline constant integer(std::int64_t x) { return constant::of_integers({x}).reshaped({}); }
using list = std::vector<std::int64_t>;
inline constexpr std::int64_t one = 1;

inline builder each(const char* op, double least = -2) {
  return [=](const value_source& v) { return one_node(op).input(v({3, 4}, 0, least)); };
}
inline builder pair(const char* op, double least = -2) {
  return [=](const value_source& v) {
    return one_node(op).input(v({2, 1, 3})).input(v({4, 1}, 1, least));
  };
}
inline builder reduced(const char* op, double least = -2) {
  return [=](const value_source& v) {
    return one_node(op, 20).input(v({2, 3, 4}, 0, least)).input(integers({0, 2}), true);
  };
}
inline builder image(const char* op) {
  return [=](const value_source& v) {
    return one_node(op, 22)
        .with("kernel_shape", list{2, 3})
        .with("pads", list{0, 1, 1, 0})
        .with("strides", list{2, 1})
        .with("ceil_mode", one)
        .input(v({1, 2, 5, 6}));
  };
}
inline builder normalized(const char* op, bool has_shift) {
  return [=](const value_source& v) {
    one_node n(op, 23);
    n.input(v({2, 3, 8})).input(v({8}, 1));
    if (has_shift) n.input(v({8}, 2));
    return n;
  };
}

}  // namespace network_tests::named
