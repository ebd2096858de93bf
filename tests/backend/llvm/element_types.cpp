// Integers of any width, floats of 8 bits and less, and vectors: compiled as they are interpreted.
#include <cmath>
#include <limits>

#include <tilewright/ir/interpret/scalarize.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>

#include "../harness.hpp"

using namespace harness;

namespace {

using elements_of = std::vector<std::byte>;

/// Runs the function, whose parameters X and Y have n elements of at most 8 bytes, on x.
void check_same(const function& f, const elements_of& x, const std::string& what) {
  elements_of expected(x.size()), read = x;
  interpret(f, {{read.data(), {}}, {expected.data(), {}}});
  for (const target::cpu& cpu : runnable_targets()) {
    INFO(what << ", " << cpu.name);
    const auto code = backend::load(backend::compile(pass::lower(f, cpu), cpu));
    elements_of actual(x.size()), workspace(static_cast<std::size_t>(code->workspace_bytes()) + 64);
    void* data[] = {read.data(), actual.data()};
    CHECK((*code)({data, nullptr, workspace.data(), nullptr, nullptr, nullptr}) == 0);
    CHECK(actual == expected);
  }
}

/// Y[i] = value of X[i], where the text says X[vi]; in vectors or one by one.
function map_of(const std::string& from, const std::string& to, const std::string& value,
                std::size_t n, int lanes) {
  const std::string size = std::to_string(n), count = std::to_string(lanes);
  return parse("@T.prim_func\ndef main(X: T.Buffer((" + size + ",), \"" + from +
               "\"), Y: T.Buffer((" + size + ",), \"" + to + "\")):\n    for o in range(" +
               std::to_string(n / static_cast<std::size_t>(lanes)) + "):\n        for v in T." +
               (lanes > 1 ? "vectorized" : "serial") + "(" + count +
               "):\n            with T.block(\"Y\"):\n                vi = T.axis.spatial(" + size +
               ", o * " + count + " + v)\n                Y[vi] = " + value + "\n");
}

void check_map(const std::string& from, const std::string& to, const std::string& value,
               const elements_of& x, std::size_t n) {
  for (int lanes : {1, 8})
    check_same(map_of(from, to, value, n, lanes), x,
               from + " to " + to + ": " + value + ", " + std::to_string(lanes) + " lanes");
}

/// Bytes 0, 1, ..., 255, with room for results of 8 bytes each.
elements_of all_bytes() {
  elements_of out(256 * 8);
  for (std::size_t i = 0; i < 256; ++i) out[i] = static_cast<std::byte>(i);
  return out;
}

template <class T>
elements_of bytes_of(const std::vector<T>& values) {
  elements_of out(values.size() * 8);
  std::memcpy(out.data(), values.data(), values.size() * sizeof(T));
  return out;
}

/// Every value of the type, what lies half way between two of them, and beside that.
template <class T>
std::vector<T> around(dtype t) {
  std::vector<T> out{std::numeric_limits<T>::quiet_NaN(),
                     std::numeric_limits<T>::infinity(),
                     T(1e30),
                     T(0),
                     std::numeric_limits<T>::denorm_min(),
                     T(0x1p-126),
                     T(0x1p-127),
                     T(0x1.8p-127),
                     T(0x1.7p-127)};
  for (int raw = 0; raw < 1 << (bits(t) - 1); ++raw) {
    const T a = static_cast<T>(widen_narrow(t, static_cast<std::uint8_t>(raw)));
    const T b = static_cast<T>(widen_narrow(t, static_cast<std::uint8_t>(raw + 1)));
    const T middle = a / 2 + b / 2;
    for (T x : {a, middle, std::nextafter(middle, T(0)), std::nextafter(middle, T(1e38))})
      out.push_back(x);
  }
  const std::size_t half = out.size();
  for (std::size_t i = 0; i < half; ++i) out.push_back(-out[i]);
  while (out.size() % 8 != 0) out.push_back(T(1));
  return out;
}

}  // namespace

TEST_CASE("element types: small floats are compiled as they are interpreted") {
  if (!have_compiler()) return;
  for (const auto& known : tilewright::detail::dtypes::narrow_floats) {
    const std::string type(known.name);
    const dtype t = *dtype_from_name(type);
    const std::string to = "T.Cast(\"" + type + "\", X[vi])";
    check_map(type, "float32", "T.Cast(\"float32\", X[vi])", all_bytes(), 256);
    const std::vector<float> singles = around<float>(t);
    check_map("float32", type, to, bytes_of(singles), singles.size());
    const std::vector<double> doubles = around<double>(t);
    check_map("float64", type, to, bytes_of(doubles), doubles.size());
    check_map(type, type, "X[vi] * X[vi] + T.Cast(\"" + type + "\", T.Cast(\"float16\", X[vi]))",
              all_bytes(), 256);
    if (bits(t) == 8)
      check_map(type, "uint8",
                "T.reinterpret(\"uint8\", T.reinterpret(\"" + type +
                    "\", T.uint8(56))) + T.Cast(\"uint8\", X[vi])",
                all_bytes(), 256);
  }
}

TEST_CASE("element types: integers of other widths are compiled as they are interpreted") {
  if (!have_compiler()) return;
  for (const char* type : {"int4", "uint4", "int1", "int7", "uint5"}) {
    const std::string of(type);
    for (const char* value :
         {"X[vi] + X[vi]", "X[vi] * X[vi] - X[vi]", "X[vi] << X[vi]", "X[vi] >> X[vi]", "~X[vi]",
          "T.popcount(X[vi])", "T.max(X[vi], X[vi] * X[vi])", "T.abs(X[vi])"})
      check_map(of, of, value, all_bytes(), 256);
    check_map(of, "int32", "T.Cast(\"int32\", X[vi]) * 1000", all_bytes(), 256);
    check_map(of, "float32", "T.Cast(\"float32\", X[vi])", all_bytes(), 256);
    check_map(of, "bool", "X[vi] < X[vi] * X[vi]", all_bytes(), 256);
    std::vector<float> x{-1e9f, -8.5f, -8.0f, -1.0f, -0.5f, 0.0f,  0.9f, 3.0f,
                         7.0f,  7.9f,  15.0f, 15.9f, 16.0f, 64.0f, 1e9f, std::nanf("")};
    check_map("float32", of, "T.Cast(\"" + of + "\", X[vi])", bytes_of(x), x.size());
  }
  std::vector<std::int32_t> x;
  for (std::int32_t i = 0; i < 64; ++i) x.push_back(i * 0x3fff1 - 0x800000);
  for (const char* type : {"int24", "uint24", "int12", "uint48"}) {
    const std::string cast = "T.Cast(\"" + std::string(type) + "\", X[vi])";
    check_map("int32", type, cast + " * " + cast + " + " + cast, bytes_of(x), x.size());
    check_map("int32", type, cast + " << (" + cast + " & T." + type + "(63))", bytes_of(x),
              x.size());
  }
}

TEST_CASE("element types: vectors are compiled lane by lane") {
  if (!have_compiler()) return;
  std::vector<float> x(64);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.5f - 3;
  check_same(
      parse("@T.prim_func\ndef main(X: T.Buffer((64,), \"float32\"), Y: T.Buffer((64,), "
            "\"float32\")):\n    for i in range(15):\n        with T.block(\"Y\"):\n"
            "            vi = T.axis.spatial(15, i)\n"
            "            Y[vi * 4:vi * 4 + 4] = T.max(X[vi * 4 + 1:vi * 4 + 5] * T.float32(2), "
            "T.float32(0)) + T.Shuffle([X[0:4]], [3, 2, 1, 0])\n"),
      bytes_of(x), "ramps");
  const function packed = parse(
      "@T.prim_func\ndef main(X: T.Buffer((16,), \"float32x4\"), Y: T.Buffer((16,), "
      "\"float32x4\")):\n    B = T.alloc_buffer((16,), \"float32x4\")\n    for i in range(16):\n"
      "        with T.block(\"B\"):\n            vi = T.axis.spatial(16, i)\n"
      "            B[vi] = X[vi] + T.float32(1)\n    for i in range(16):\n"
      "        with T.block(\"Y\"):\n            vi = T.axis.spatial(16, i)\n"
      "            Y[vi] = B[vi] * X[15 - vi]\n");
  CHECK_THROWS_AS(pass::lower(packed, target::host()), build_error);
  check_same(scalarize(packed), bytes_of(x), "vectors as elements");
}
