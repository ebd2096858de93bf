// Outputs that differ here and there, as a comparison kernel takes them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/search/check/comparison_kernel.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/support/random.hpp>

namespace comparisons {

using namespace tilewright;
using byte_list = std::vector<std::byte>;

inline constexpr dtype types[] = {dtype::f32, dtype::f16, dtype::bf16, dtype::f64,    dtype::i8,
                                  dtype::u16, dtype::i32, dtype::i64,  dtype::boolean};

struct differences {
  std::int64_t count = 0, first = 0;
  friend bool operator==(const differences&, const differences&) = default;
};

struct problem {
  dtype type;
  std::int64_t elements;
  search::value_needs needs;
  byte_list expected, actual;
  double tolerance[2];
  std::vector<std::int64_t> counts, firsts;

  problem(dtype t, std::int64_t n, std::uint64_t seed)
      : type(t),
        elements(n),
        expected(static_cast<std::size_t>(n * bytes(t))),
        actual(expected.size()),
        counts(static_cast<std::size_t>(search::comparison_parts(n)), -1),
        firsts(counts.size(), -1) {
    support::random draw(seed);
    needs.reduction = 100;
    const double relative = is_float(t) ? search::detail::relative_tolerance(t, needs) : 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double right = value(draw), factor = 1 + relative * 3 * (draw.unit() - 0.5);
      put(expected, i, right);
      put(actual, i,
          draw.below(4) == 0   ? value(draw)
          : draw.below(2) == 0 ? right
                               : right * factor);
    }
    tolerance[0] = relative;
    tolerance[1] = is_float(t) ? search::detail::root_mean_square(t, expected) : 0;
  }

  /// What the host's comparison says of each element alone, beside the others as they should be.
  differences on_host(search::non_finite kinds) const {
    search::operand o;
    o.name = "Y";
    o.type = type;
    o.extents = {elements};
    o.strides = {1};
    o.written = true;
    differences out{0, elements};
    const auto size = static_cast<std::size_t>(bytes(type));
    for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
      byte_list one = expected;
      std::memcpy(&one[i * size], &actual[i * size], size);
      if (search::compare_outputs({o}, needs, {expected}, {one}, kinds).empty()) continue;
      if (out.count++ == 0) out.first = static_cast<std::int64_t>(i);
    }
    return out;
  }

  /// Of the kernel's parameters.
  std::vector<void*> data() {
    return {expected.data(), actual.data(), tolerance, counts.data(), firsts.data()};
  }
  std::vector<ir::tensor_view> views() {
    std::vector<ir::tensor_view> out;
    for (void* at : data()) out.push_back({at, {}});
    return out;
  }

  /// What the kernel has counted.
  differences found() const {
    differences out{0, elements};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      out.count += counts[i];
      out.first = std::min(out.first, firsts[i]);
    }
    return out;
  }

 private:
  static double value(support::random& draw) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (draw.below(12)) {
      case 0: return std::numeric_limits<double>::quiet_NaN();
      case 1: return infinity;
      case 2: return -infinity;
      case 3: return 0;
      case 4: return 1e-6;
      default: return 200 * draw.unit() - 100;
    }
  }

  void put(byte_list& to, std::int64_t i, double v) const {
    std::byte* const at = &to[static_cast<std::size_t>(i * bytes(type))];
    const auto store = [&](auto x) { std::memcpy(at, &x, sizeof x); };
    const auto whole = std::isfinite(v) ? static_cast<std::int64_t>(v) : 77;
    switch (type) {
      case dtype::f64: return store(v);
      case dtype::f32: return store(static_cast<float>(v));
      case dtype::f16: return store(float16(v));
      case dtype::bf16: return store(bfloat16(v));
      case dtype::i8: return store(static_cast<std::int8_t>(whole));
      case dtype::u16: return store(static_cast<std::uint16_t>(whole));
      case dtype::i32: return store(static_cast<std::int32_t>(whole));
      case dtype::i64: return store(whole);
      default: return store(static_cast<std::uint8_t>(whole & 1));
    }
  }
};

}  // namespace comparisons
