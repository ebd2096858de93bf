#include "argument_memory.hpp"

#include <algorithm>
#include <cstring>

#include "../double_reference.hpp"

namespace bench {
namespace {

/// Calls f with a zero of the type that a nest names so.
template <class F>
void with_type(const std::string& type, F f) {
  if (type == "f32") f(float{});
  if (type == "f64") f(double{});
  if (type == "u8") f(std::uint8_t{});
  if (type == "i8") f(std::int8_t{});
  if (type == "u64") f(std::uint64_t{});
  if (type == "i32") f(std::int32_t{});
}

}  // namespace

argument_memory::argument_memory(const field_argument& a) : of(a) {
  for (const std::int64_t e : a.extents) count_ *= static_cast<std::size_t>(e);
  // Wide enough for doubles, in which the reference computes.
  memory_.reset(std::aligned_alloc(64, (count_ * sizeof(double) + 63) / 64 * 64));
  poison();
}

void argument_memory::draw(std::mt19937& generator) {
  with_type(of.type, [&](auto zero) {
    using T = decltype(zero);
    std::uniform_real_distribution<double> values(of.low, of.high);
    for (std::size_t i = 0; i < count_; ++i) as<T>()[i] = static_cast<T>(values(generator));
  });
}

void argument_memory::poison() { std::memset(data(), 0xa5, count_ * sizeof(double)); }

argument_memory argument_memory::widened() const {
  argument_memory out(of);
  if (of.type == "f32") {
    std::copy_n(as<float>(), count_, out.as<double>());
    out.of.type = "f64";
  } else {
    std::memcpy(out.data(), data(), count_ * sizeof(double));
  }
  return out;
}

double argument_memory::error(const argument_memory& want) const {
  double out = 0;
  with_type(of.type, [&](auto mine) {
    with_type(want.of.type, [&](auto theirs) {
      out = relative_error(as<decltype(mine)>(), want.as<decltype(theirs)>(), count_);
    });
  });
  return out;
}

double argument_memory::bound(int terms) const {
  double out = 0;
  with_type(of.type, [&](auto mine) { out = rounding_bound_of<decltype(mine)>(terms); });
  return out;
}

}  // namespace bench
