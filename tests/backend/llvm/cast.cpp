#include <tilewright/backend/llvm/builder.hpp>

#include <limits>
#include <utility>
#include <vector>

#include "../harness.hpp"

using namespace harness;

namespace {

/// Y[i] = cast(X[i]), in vectors or one by one.
function casts(dtype from, dtype to, std::int64_t n, int lanes) {
  const buffer x = make_buffer("X", from, {expr(n)}), y = make_buffer("Y", to, {expr(n)});
  const var o = make_var("o", dtype::i64), v = make_var("v");
  const expr i = o * lanes + v;
  return make("casts", {x, y},
              make_loop(o, 0, expr(n / lanes),
                        make_loop(v, 0, expr(lanes), make_store(y, {i}, cast(to, load(x, {i}))),
                                  lanes > 1 ? loop_kind::vectorized : loop_kind::serial)));
}

/// The same of what lies between two numbers, or is NaN.
function limited(dtype from, dtype to, std::int64_t n, int lanes, double low, double high,
                 bool limits_first) {
  const buffer x = make_buffer("X", from, {expr(n)}), y = make_buffer("Y", to, {expr(n)});
  const var o = make_var("o", dtype::i64), v = make_var("v");
  const expr i = o * lanes + v, at = load(x, {i});
  const expr bottom = real(from, low), top = real(from, high);
  const expr value = limits_first ? max(bottom, min(top, at)) : min(max(at, bottom), top);
  return make("limited", {x, y},
              make_loop(o, 0, expr(n / lanes),
                        make_loop(v, 0, expr(lanes), make_store(y, {i}, cast(to, value)),
                                  lanes > 1 ? loop_kind::vectorized : loop_kind::serial)));
}

/// Around zero, and around the bounds of every integer type.
std::vector<double> samples() {
  std::vector<double> out{std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL, 1e30,
                          -1e30};
  for (const double bound : {0.0, 128.0, 256.0, 32768.0, 65536.0, 0x1p31, 0x1p32, 0x1p63, 0x1p64})
    for (const double step : {-1.5, -1.0, -0.75, -0.5, 0.0, 0.5, 0.99, 1.0, 1.5})
      for (const double sign : {-1.0, 1.0}) out.push_back(sign * bound + step);
  while (out.size() % 16 != 0) out.push_back(static_cast<double>(out.size()) * 0.7);
  return out;
}

}  // namespace

TEST_CASE("floats become integers in vectors as they do one by one: cut, saturated, NaN to 0") {
  if (!have_compiler()) return;
  const std::vector<double> values = samples();
  const auto n = static_cast<std::int64_t>(values.size());
  for (const dtype from : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64})
    for (const dtype to : {dtype::i8, dtype::u8, dtype::i16, dtype::u16, dtype::i32, dtype::u32,
                           dtype::i64, dtype::u64}) {
      std::vector<std::byte> x(values.size() * 8), expected(values.size() * 8);
      for (std::size_t k = 0; k < values.size(); ++k)
        put(&x[k * static_cast<std::size_t>(bytes(from))], from, values[k]);
      interpret(casts(from, to, n, 1), {{x.data(), {}}, {expected.data(), {}}});
      for (const target::cpu& cpu : runnable_targets())
        for (const int lanes : {1, 4, 16}) {
          INFO(std::string(name(from))
               << " to " << std::string(name(to)) << ", " << lanes << " lanes, " << cpu.name);
          const auto code = backend::load(backend::compile(casts(from, to, n, lanes), cpu));
          std::vector<std::byte> actual(expected.size());
          void* data[] = {x.data(), actual.data()};
          CHECK((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
          CHECK(actual == expected);
        }
    }
}

TEST_CASE(
    "floats between two numbers become integers as others do, also where NaN passes or a bound is "
    "beyond") {
  if (!have_compiler()) return;
  const std::vector<double> values = samples();
  const auto n = static_cast<std::int64_t>(values.size());
  const std::vector<std::pair<double, double>> limits{
      {0, 255},  {-128, 127},     {-0.5, 255.75},     {-128.5, 127.5}, {0, 256},
      {-1, 255}, {-32768, 32767}, {-2147483648., 15}, {0, 4e9}};
  for (const dtype from : {dtype::f32, dtype::f64})
    for (const dtype to : {dtype::i8, dtype::u8, dtype::i16, dtype::i32, dtype::u32, dtype::i64})
      for (const std::pair<double, double>& limit : limits)
        for (const bool first : {false, true}) {
          const auto program = [&](int lanes) {
            return limited(from, to, n, lanes, limit.first, limit.second, first);
          };
          std::vector<std::byte> x(values.size() * 8), expected(values.size() * 8);
          for (std::size_t k = 0; k < values.size(); ++k)
            put(&x[k * static_cast<std::size_t>(bytes(from))], from, values[k]);
          interpret(program(1), {{x.data(), {}}, {expected.data(), {}}});
          const target::cpu cpu = runnable_targets().back();
          for (const int lanes : {1, 16}) {
            INFO(std::string(name(from))
                 << " to " << std::string(name(to)) << ", " << lanes << " lanes from "
                 << limit.first << " to " << limit.second);
            const auto code = backend::load(backend::compile(program(lanes), cpu));
            std::vector<std::byte> actual(expected.size());
            void* data[] = {x.data(), actual.data()};
            CHECK((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
            CHECK(actual == expected);
          }
        }
}
