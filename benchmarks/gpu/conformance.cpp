#include "conformance.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/support/random.hpp>

namespace gpu_conformance {
namespace {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;

constexpr std::uint32_t count = 65536;  // elements, as many as f16 has

const char* type_name(dtype t) {
  switch (t) {
    case dtype::f32: return "float";
    case dtype::f64: return "double";
    case dtype::i32: return "int";
    case dtype::i8: return "signed char";
    default: return "unsigned short";
  }
}

/// B[i] = expression of x, which is A[i], and of the thread's number t.
entry make(const char* name, dtype from, dtype to, const char* expression,
           std::vector<std::byte> input) {
  entry out;
  out.name = std::string("conformance_") + name;
  cu::kernel k;
  k.start.symbol = out.name;
  k.start.grid = {count / 256, 1, 1};
  k.start.block = {256, 1, 1};
  using kind = backend::launch_argument::kind;
  k.start.arguments = {{kind::buffer, 8, 0}, {kind::buffer, 8, 1}};
  k.parameters = {{"A", from, true, false, count}, {"B", to, true, true, count}};
  out.program.kernels = {k};
  out.program.text = "extern \"C\" TW_KERNEL(256) void " + out.name + "(TW_GLOBAL(const " +
                     type_name(from) + ") A, TW_GLOBAL(" + type_name(to) +
                     ") B) {\n  const int t = TW_THREAD(x), i = TW_BLOCK(x) * 256 + t;\n  const " +
                     type_name(from) + " x = A[i];\n  (void)t;\n  tw_store(B, i, " + expression +
                     ");\n}\n";
  out.input = std::move(input);
  out.output_bytes = count * static_cast<std::size_t>(bytes(to));
  return out;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

/// Values around every exponent that f16 and bf16 know, ties among them, and what is special.
template <class T, class Bits>
std::vector<std::byte> floats(std::uint64_t seed) {
  support::random draw(seed);
  std::vector<T> out;
  using limits = std::numeric_limits<T>;
  for (const T x : {T(0), T(-0.0), limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                    limits::max(), limits::lowest(), limits::min(), limits::denorm_min(), T(65504),
                    T(65519.99), T(65520), T(0x1p-24), T(0x1p-25), T(0x1.8p-25), T(0x1p-14)})
    out.push_back(x);
  while (out.size() < count / 2) {  // halfway between two of f16, or near it
    const auto steps = static_cast<T>(static_cast<std::int64_t>(draw.below(1 << 13)) - (1 << 12));
    T scale = 1;
    for (std::uint64_t e = draw.below(30); e > 0; --e) scale /= 2;
    out.push_back(steps * scale * (draw.below(4) ? T(1) : T(1 + 0x1p-20)));
  }
  while (out.size() < count) {  // any bits
    const auto raw = static_cast<Bits>(draw.next());
    T x;
    std::memcpy(&x, &raw, sizeof x);
    out.push_back(x);
  }
  return bytes_of(out);
}

std::vector<std::byte> integers(std::uint64_t seed) {
  support::random draw(seed);
  std::vector<std::int32_t> out{0, 1, -1, std::numeric_limits<std::int32_t>::min(),
                                std::numeric_limits<std::int32_t>::max()};
  while (out.size() < count)
    out.push_back(static_cast<std::int32_t>(draw.next() >> draw.below(60)));
  return bytes_of(out);
}

std::vector<std::byte> all_halves() {
  std::vector<std::uint16_t> out;
  for (std::uint32_t i = 0; i < count; ++i) out.push_back(static_cast<std::uint16_t>(i));
  return bytes_of(out);
}

}  // namespace

std::vector<entry> all() {
  const auto f32 = [](std::uint64_t seed) { return floats<float, std::uint32_t>(seed); };
  const auto f64 = [](std::uint64_t seed) { return floats<double, std::uint64_t>(seed); };
  return {
      make("round_f16", dtype::f32, dtype::u16, "tw_round_f16(x)", f32(1)),
      make("round_f16_of_double", dtype::f64, dtype::u16, "tw_round_f16(x)", f64(2)),
      make("round_bf16", dtype::f32, dtype::u16, "tw_round_bf16(x)", f32(3)),
      // signaling NaNs become quiet on one machine and stay on another
      make("widen_f16", dtype::u16, dtype::f32, "(x & 0x7fff) > 0x7c00 ? 0.0f : tw_widen_f16(x)",
           all_halves()),
      make("saturate_i32", dtype::f32, dtype::i32, "tw_saturate<int>(x)", f32(4)),
      make("saturate_i8", dtype::f64, dtype::i8, "tw_saturate<signed char>(x)", f64(5)),
      make("floordiv", dtype::i32, dtype::i32, "tw_floordiv<int>(x, t - 128)", integers(6)),
      make("floormod", dtype::i32, dtype::i32, "tw_floormod<int>(x, t - 128)", integers(7)),
      make("shift_right", dtype::i32, dtype::i32, "tw_shift_right<int>(x, t)", integers(8)),
      make("popcount", dtype::i32, dtype::i32, "tw_popcount<int>(x)", integers(9)),
      make("pow", dtype::i32, dtype::i32, "tw_pow<int>(x, t % 17)", integers(10)),
      make("shuffle_32", dtype::i32, dtype::i32, "tw_shuffle_xor(x, 16, 32)", integers(11)),
      make("shuffle_8", dtype::i32, dtype::f32, "tw_shuffle_xor(1.0f * x, 2, 8)", integers(12)),
      make("shuffle_double", dtype::i32, dtype::f64, "tw_shuffle_xor(0.5 * x, 1, 2)", integers(13)),
  };
}

std::vector<std::byte> on_host(const entry& e) {
  std::vector<std::byte> input = e.input, out(e.output_bytes);
  const cu::emulator kernels(e.program);
  kernels.run({{input.data(), count}, {out.data(), count}});
  return out;
}

}  // namespace gpu_conformance
