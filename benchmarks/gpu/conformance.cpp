#include "conformance.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/support/random.hpp>

#include "checks/element_values.hpp"

namespace gpu_conformance {
namespace {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;
using gpu_case::with_reader;

constexpr std::uint32_t count = 65536;  // elements, as many as f16 has

const char* type_name(dtype t) {
  switch (t) {
    case dtype::f32: return "float";
    case dtype::f64: return "double";
    case dtype::f16: return "tw_f16";
    case dtype::i32: return "int";
    case dtype::u32: return "unsigned int";
    case dtype::i64: return "long long";
    case dtype::u64: return "unsigned long long";
    case dtype::i8: return "signed char";
    default: return "unsigned short";
  }
}

/// One thread for each of the input's elements.
class kernels {
 public:
  kernels(const std::string& name, dtype from, dtype to, std::vector<std::byte> input)
      : from_(from), to_(to) {
    out_.name = "conformance_" + name;
    out_.input = std::move(input);
    out_.output_bytes = count * static_cast<std::size_t>(bytes(to));
    out_.result = to;
  }

  /// A kernel behind the others, of what its threads do with x, which is A[i], and the thread's number t.
  void add(const std::string& body, int shared_bytes = 0) {
    cu::kernel k;
    k.start.symbol = out_.name;
    if (const std::size_t before = out_.program.kernels.size())
      k.start.symbol += "_" + std::to_string(before);
    k.start.grid = {count / 256, 1, 1};
    k.start.block = {256, 1, 1};
    k.start.shared_bytes = shared_bytes;
    using kind = backend::launch_argument::kind;
    k.start.arguments = {{kind::buffer, 8, 0}, {kind::buffer, 8, 1}};
    k.parameters = {{"A", from_, true, false, count}, {"B", to_, true, true, count}};
    out_.program.kernels.push_back(k);
    out_.program.text +=
        "extern \"C\" TW_KERNEL(256) void " + k.start.symbol + "(TW_GLOBAL(const " +
        type_name(from_) + ") A, TW_GLOBAL(" + type_name(to_) +
        ") B) {\n  const int t = TW_THREAD(x), i = TW_BLOCK(x) * 256 + t;\n  const " +
        type_name(from_) + " x = A[i];\n  (void)t;\n  " + body + "\n}\n";
  }

  entry take() { return std::move(out_); }

 private:
  dtype from_, to_;
  entry out_;
};

/// B[i] = expression of x, after `first`.
entry make(const char* name, dtype from, dtype to, const char* expression,
           std::vector<std::byte> input, const char* first = "", int shared_bytes = 0) {
  kernels out(name, from, to, std::move(input));
  out.add(first + std::string("\n  tw_store(B, i, ") + expression + ");", shared_bytes);
  return out.take();
}

/// Powers of two up to 1, down to where a device has 0: off by no more than 2^-21.
entry make_power(const char* name, std::vector<std::byte> input) {
  entry out =
      make(name, dtype::i32, dtype::f32, "tw_exp2(-0.001f * (x & 131071))", std::move(input));
  out.rounding = 0x1p-21;
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

/// A product of matrices of small integers, which is exact in every type, its elements weighed by their
/// place.
entry make_product(const char* name, const char* in, const char* sum, dtype result,
                   std::uint64_t seed) {
  const std::string number = result == dtype::i32 ? "int" : "float";
  const auto value = [&](const char* type, const std::string& x) {
    return "static_cast<" + std::string(type) + ">(static_cast<" + number + ">(" + x + "))";
  };
  std::string first = std::string("TW_LOCAL(") + in + ", a, 8); TW_LOCAL(" + in +
                      ", b, 8); TW_LOCAL(" + sum + ", c, 8);\n";
  first += "  for (int e = 0; e < 8; ++e) {\n    tw_store(a, e, " +
           value(in, "(x >> 3 * e & 7) - 3") + ");\n    tw_store(b, e, " +
           value(in, "(x >> 2 * e & 7) - 4") + ");\n    tw_store(c, e, " +
           value(sum, "x >> e & 15") + ");\n  }\n  tw_mma(c, 0, a, 0, b, 0);\n  " + number +
           " s = 0;\n  for (int e = 0; e < 8; ++e) s += (e + 1) * " +
           (std::string(sum) == "tw_f16" ? "tw_float(c[e])" : "c[e]") + ";";
  return make(name, dtype::i32, result, "s", integers(seed), first.c_str());
}

/// A step of 64 x `columns` x 16, the second one of four, of small integers, which is exact. `a_rows`, `b_rows`: operands
/// lie as [rows, steps] and [steps, columns], else the other way.
entry make_group_product(const std::string& type, int columns, bool a_rows, bool b_rows,
                         std::uint64_t seed) {
  const auto text = [](int n) { return std::to_string(n); };
  const std::string element = "tw_" + type, sums = text(columns / 2), panel = "8192", along = "16",
                    across = "16 * 64";
  const auto filled = [&](const char* name, int each, const std::string& value) {
    return "  for (int e = 0; e < " + text(each) + "; ++e) tw_store(" + name + ", t + 256 * e, " +
           element + "(static_cast<float>(" + value + ")));\n";
  };
  const std::string first =
      "TW_SHARED(" + element + ", a, 0, 4096); TW_SHARED(" + element + ", b, 8192, " +
      text(columns * 64) + "); TW_LOCAL(float, c, " + sums + ");\n" +
      filled("a", 16, "(x >> e & 7) - 3") +
      filled("b", columns / 4, "(x >> (e & 15) + 2 & 7) - 4") +
      "#pragma unroll\n  for (int e = 0; e < " + sums +
      "; ++e) tw_store(c, e, static_cast<float>(x >> (e & 15) & 15));\n"
      "  tw_fence_async();\n  tw_barrier();\n  tw_hold_sums<" +
      sums + ">(c, 0);\n  tw_fence_products();\n  tw_multiply_group<" + text(columns) + ", " +
      (a_rows ? "0" : panel) + ", " + (b_rows ? panel : "0") + ">(c, 0, a, " +
      (a_rows ? along : across) + ", b, " + (b_rows ? across : along) +
      ");\n  tw_commit_products();\n  tw_wait_products<0>();\n  tw_hold_sums<" + sums +
      ">(c, 0);\n  float s = 0;\n#pragma unroll\n  for (int e = 0; e < " + sums +
      "; ++e) s += (e + 1) * c[e];";
  const std::string name =
      "group_" + type + "_" + text(columns) + (a_rows ? "_mk" : "_km") + (b_rows ? "_kn" : "_nk");
  return make(name.c_str(), dtype::i32, dtype::f32, "s", integers(seed), first.c_str(),
              8192 + columns * 128);
}

/// Two tiles of bytes along the reduction.
entry make_pair_product(const char* name, std::uint64_t seed) {
  std::string first =
      "TW_LOCAL(signed char, a, 16); TW_LOCAL(signed char, b, 16); TW_LOCAL(int, c, 8);\n"
      "  for (int e = 0; e < 16; ++e) {\n    tw_store(a, e, (x >> e & 255) - 128);\n"
      "    tw_store(b, e, (x >> (e + 7) & 255) - 100);\n    if (e < 8) tw_store(c, e, x >> e & "
      "15);\n  }\n"
      "  tw_mma_pair(c, 0, a, 0, a, 8, b, 0, b, 8);\n"
      "  int s = 0;\n  for (int e = 0; e < 8; ++e) s += (e + 1) * c[e];";
  return make(name, dtype::i32, dtype::i32, "s", integers(seed), first.c_str());
}

/// Rows of shared memory in registers, which are weighed by their place.
entry make_load(const char* name, const char* function, const char* type, int elements,
                std::uint64_t seed, int registers = 8) {
  const std::string width = std::to_string(elements), whole = std::to_string(256 * elements),
                    held = std::to_string(registers);
  const std::string first = std::string("TW_SHARED(") + type + ", s, 0, " + whole + "); TW_LOCAL(" +
                            type + ", r, " + held + ");\n  for (int e = 0; e < " + width +
                            "; ++e) tw_store(s, t * " + width + " + e, static_cast<" + type +
                            ">(x >> e));\n  tw_barrier();\n  " + function + "(r, 0, s, (t ^ 5) * " +
                            width + ");\n  int sum = 0;\n  for (int e = 0; e < " + held +
                            "; ++e) sum += (e + 1) * r[e];";
  return make(name, dtype::i32, dtype::i32, "sum", integers(seed), first.c_str(), 256 * 16);
}

/// Additions that memory makes, of all blocks at once, each element first set to a small number. 64 threads add `value`
/// to each of 1024 elements; and 2048 of them `few`, a smaller one, to each of four behind these.
entry make_additions(const char* name, dtype type, const std::string& value, const std::string& few,
                     std::uint64_t seed) {
  const std::string to = type_name(type);
  const auto typed = [&](const std::string& x) {
    return is_float(type) ? "static_cast<" + to + ">(static_cast<float>(" + x + "))"
                          : "static_cast<" + to + ">(" + x + ")";
  };
  kernels out(name, dtype::i32, type, integers(seed));
  out.add("tw_store(B, i, " + typed("i % 5") + ");");
  out.add("tw_atomic_add(B, i & 1023, " + typed(value) +
          ");\n  if ((t & 7) == 0) tw_atomic_add(B, 1024 + (t >> 3 & 3), " + typed(few) + ");");
  return out.take();
}

/// One addition to each element, of any number but NaNs and those below the smallest normal one, which additions of f32
/// leave out: no order shows, only how memory rounds. The element begins as a multiple of `begin`.
entry make_addition(const char* name, dtype type, const char* begin, std::vector<std::byte> input) {
  const std::string to = type_name(type);
  const bool half = type == dtype::f16;
  kernels out(name, type, type, std::move(input));
  out.add(half ? "tw_store(B, i, tw_f16(" + std::string(begin) + " * static_cast<float>(t)));"
               : "tw_store(B, i, " + std::string(begin) + " * static_cast<" + to + ">(t));");
  const std::string wide = half ? "tw_float(x)" : "x", least = half ? "0.0f" : "1.2e-38f";
  out.add("const bool some = " + wide + " >= " + least + " || " + wide + " <= -" + least +
          ";\n  if (some) tw_atomic_add(B, i, x);");
  return out.take();
}

/// Random numbers in [-1, 1), eight to each element, in any order: each sum is off by no more than `terms` roundings of
/// the sum of what is added, twice, since the host's has an order of its own.
entry make_rounded_additions(const char* name, dtype type, std::uint64_t seed) {
  support::random draw(seed);
  std::vector<float> input;
  for (std::uint32_t i = 0; i < count; ++i)
    input.push_back(static_cast<float>(2 * draw.unit() - 1));
  kernels out(name, dtype::f32, type, bytes_of(input));
  const std::string to = type_name(type);
  out.add("tw_store(B, i, static_cast<" + to + ">(0.0f));");
  out.add("tw_atomic_add(B, i & 8191, static_cast<" + to + ">(x));");
  constexpr double terms = count / 8192;
  const double unit = type == dtype::f16 ? 0x1p-11 : type == dtype::f32 ? 0x1p-24 : 0x1p-53;
  entry done = out.take();
  done.rounding = 2 * terms * unit * terms;  // each is at most 1
  return done;
}

}  // namespace

std::vector<entry> all() {
  const auto f32 = [](std::uint64_t seed) { return floats<float, std::uint32_t>(seed); };
  const auto f64 = [](std::uint64_t seed) { return floats<double, std::uint64_t>(seed); };
  return {
      make("round_f16", dtype::f32, dtype::u16, "tw_round_f16(x)", f32(1)),
      // NaNs become the one of all ones here, and keep the first bits of their fraction on sm_90
      make("round_f16_of_double", dtype::f64, dtype::u16,
           "x == x ? tw_round_f16(x) : (tw_round_f16(x) & 0x7fff) > 0x7c00 ? 0x7fff : 0", f64(2)),
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
      make_power("exp2", integers(26)),
      make("greater", dtype::i32, dtype::f32, "tw_greater(1.0f * x, 1000.0f * t)", integers(27)),
      make_product("mma_f16_f32", "tw_f16", "float", dtype::f32, 14),
      make_product("mma_bf16_f32", "tw_bf16", "float", dtype::f32, 15),
      make_product("mma_f16_f16", "tw_f16", "tw_f16", dtype::f32, 16),
      make_product("mma_s8_s32", "signed char", "int", dtype::i32, 17),
      make_product("mma_tf32_f32", "float", "float", dtype::f32, 22),
      make_load("load_matrix", "tw_load_matrix", "unsigned short", 8, 18),
      make_load("load_matrix_bytes", "tw_load_matrix", "signed char", 16, 19),
      make_load("load_matrix_words", "tw_load_matrix", "int", 4, 23, 4),
      make_load("load_transposed", "tw_load_transposed", "unsigned short", 8, 20),
      make_load("load_transposed_bytes", "tw_load_transposed", "signed char", 16, 24),
      make_pair_product("mma_pair", 25),
      make("copy_async", dtype::i32, dtype::i32, "s[t ^ 1]", integers(21),
           "TW_SHARED(int, s, 0, 256);\n  tw_copy_async<1>(s, t, A, i);\n  tw_commit_copies();\n"
           "  tw_wait_copies<0>();\n  tw_barrier();",
           1024),
      make("copy_or_zero", dtype::i32, dtype::i32, "s[t ^ 1]", integers(22),
           "TW_SHARED(int, s, 0, 256);\n  tw_copy_or_zero<1>(s, t, A, i, t % 3 != 0);\n"
           "  tw_commit_copies();\n  tw_wait_copies<0>();\n  tw_barrier();",
           1024),
      make_additions("atomic_add_i32", dtype::i32, "x", "x >> 3", 30),
      make_additions("atomic_add_u32", dtype::u32, "x", "x >> 3", 31),
      make_additions("atomic_add_i64", dtype::i64, "x * 3000000007LL", "x", 32),
      make_additions("atomic_add_u64", dtype::u64, "x * 3000000007LL", "x", 33),
      // small integers, of which every sum is exact
      make_additions("atomic_add_f32", dtype::f32, "(x & 1023) - 512", "(x & 15) - 8", 34),
      make_additions("atomic_add_f64", dtype::f64, "(x & 1023) - 512", "(x & 15) - 8", 35),
      make_additions("atomic_add_f16", dtype::f16, "(x & 15) - 8", "x & 0x100 ? 0 : (x & 1)", 36),
      make_addition("atomic_add_once_f32", dtype::f32, "1.5f", f32(37)),
      make_addition("atomic_add_once_f64", dtype::f64, "0.75", f64(38)),
      make_addition("atomic_add_once_f16", dtype::f16, "0.125f", all_halves()),
      make_rounded_additions("atomic_add_rounded_f32", dtype::f32, 40),
      make_rounded_additions("atomic_add_rounded_f64", dtype::f64, 41),
      make_rounded_additions("atomic_add_rounded_f16", dtype::f16, 42),
  };
}

std::vector<entry> of_groups() {
  std::vector<entry> out;
  std::uint64_t seed = 60;
  for (const char* type : {"f16", "bf16"})
    for (const int columns : {64, 128, 256})
      for (const bool a_rows : {true, false})
        for (const bool b_rows : {true, false})
          if (columns == 128 || (a_rows && b_rows))
            out.push_back(make_group_product(type, columns, a_rows, b_rows, ++seed));
  return out;
}

std::vector<std::byte> on_host(const entry& e, std::uint64_t seed) {
  std::vector<std::byte> input = e.input, out(e.output_bytes);
  const cu::emulator kernels(e.program);
  kernels.run({{input.data(), count}, {out.data(), count}}, {}, seed);
  return out;
}

std::size_t wrong_elements(const entry& e, const std::vector<std::byte>& got,
                           const std::vector<std::byte>& expected) {
  const auto size = static_cast<std::size_t>(bytes(e.result));
  const std::size_t all = expected.size() / size;
  if (got.size() != expected.size()) return all;
  std::size_t out = 0;
  for (std::size_t i = 0; i < all; ++i) {
    const std::byte *const x = &got[i * size], *const y = &expected[i * size];
    if (std::memcmp(x, y, size) == 0) continue;
    const double gap =
        e.rounding > 0
            ? with_reader(e.result, [&](const auto& read) { return std::abs(read(x) - read(y)); })
            : 1;
    out += gap <= e.rounding ? 0 : 1;  // a NaN is wrong
  }
  return out;
}

}  // namespace gpu_conformance
