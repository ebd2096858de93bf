// Runs a lowered function compiled and interpreted on equal data, for the tests of the backend.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/target/cpu.hpp>

namespace harness {

using namespace tilewright;
using namespace tilewright::ir;

/// Targets whose code this machine runs, narrowest first.
inline std::vector<target::cpu> runnable_targets() {
  std::vector<target::cpu> out;
  for (const char* name : {"x86-64", "x86-64-v2", "sandybridge", "haswell", "skylake-avx512"}) {
    const target::cpu cpu = target::named(name);
    if (target::runs_on(cpu, target::host())) out.push_back(cpu);
  }
  out.push_back(target::host());
  return out;
}

/// True where the tests of this file can run; says so where they cannot.
inline bool have_compiler() {
  static const bool found = backend::compiler_available();
  if (!found) MESSAGE("no LLVM library: the compiling tests are skipped");
  return found;
}

inline std::int64_t elements(const buffer& b) {
  std::int64_t n = 1;
  for (const expr& e : b->shape) n *= e->integer;
  return n;
}

/// Small deterministic values of every kind, exact in all types but the narrow floats.
inline double sample(std::int64_t i, dtype t) {
  const std::int64_t v = (i * 7919 + 13) % 23 - 11;
  if (t == dtype::boolean) return v > 0 ? 1 : 0;
  if (is_unsigned(t)) return static_cast<double>(v + 11);
  return is_float(t) ? static_cast<double>(v) * 0.375 : static_cast<double>(v);
}

inline void put(std::byte* p, dtype t, double v) {
  const auto write = [&](auto x) { std::memcpy(p, &x, sizeof x); };
  switch (t) {
    case dtype::boolean: return write(static_cast<std::uint8_t>(v != 0));
    case dtype::i8: return write(static_cast<std::int8_t>(v));
    case dtype::i16: return write(static_cast<std::int16_t>(v));
    case dtype::i32: return write(static_cast<std::int32_t>(v));
    case dtype::i64: return write(static_cast<std::int64_t>(v));
    case dtype::u8: return write(static_cast<std::uint8_t>(v));
    case dtype::u16: return write(static_cast<std::uint16_t>(v));
    case dtype::u32: return write(static_cast<std::uint32_t>(v));
    case dtype::u64: return write(static_cast<std::uint64_t>(v));
    case dtype::f16: return write(float16(v).bits);
    case dtype::bf16: return write(bfloat16(v).bits);
    case dtype::f32: return write(static_cast<float>(v));
    case dtype::f64: return write(v);
    case dtype::handle: return;  // no tensor has it
  }
}

template <class T>
T raw(const std::byte* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

inline double get(const std::byte* p, dtype t) {
  switch (t) {
    case dtype::boolean:
    case dtype::u8: return raw<std::uint8_t>(p);
    case dtype::i8: return raw<std::int8_t>(p);
    case dtype::i16: return raw<std::int16_t>(p);
    case dtype::i32: return raw<std::int32_t>(p);
    case dtype::i64: return static_cast<double>(raw<std::int64_t>(p));
    case dtype::u16: return raw<std::uint16_t>(p);
    case dtype::u32: return raw<std::uint32_t>(p);
    case dtype::u64: return static_cast<double>(raw<std::uint64_t>(p));
    case dtype::f16: return static_cast<double>(float16::from_bits(raw<std::uint16_t>(p)));
    case dtype::bf16: return static_cast<double>(bfloat16::from_bits(raw<std::uint16_t>(p)));
    case dtype::f32: return static_cast<double>(raw<float>(p));
    case dtype::f64: return raw<double>(p);
    case dtype::handle: break;  // no tensor has it
  }
  return 0;
}

/// One argument's memory: strides in elements, all elements filled.
struct argument {
  dtype type = dtype::f32;
  std::vector<std::int64_t> strides;
  std::vector<std::byte> bytes;
};

struct options {
  const backend::executor* exec = nullptr;
  std::map<std::string, std::vector<std::int64_t>> strides;  // of parameters with run-time strides
  std::map<std::string, std::vector<double>> values;         // instead of samples
  double tolerance = 0;                                      // relative to 1 + |expected|
  const std::atomic<int>* cancel = nullptr;
};

inline std::vector<argument> make_arguments(const function& f, const options& o) {
  std::vector<argument> out;
  for (const param& p : f.params) {
    argument a;
    a.type = p.buffer ? p.buffer->type : p.scalar.type();
    const std::string name = p.buffer ? p.buffer->name : p.scalar->name;
    std::int64_t size = 1;
    if (p.buffer) {
      const auto given = o.strides.find(name);
      a.strides.resize(p.buffer->shape.size());
      for (std::size_t d = a.strides.size(); d-- > 0;) {
        const std::int64_t extent = p.buffer->shape[d]->integer;
        if (given != o.strides.end())
          a.strides[d] = given->second[d];
        else if (p.buffer->strides.empty())
          a.strides[d] =
              d + 1 == a.strides.size() ? 1 : a.strides[d + 1] * p.buffer->shape[d + 1]->integer;
        else
          a.strides[d] = p.buffer->strides[d]->integer;
        size += (extent - 1) * a.strides[d];
      }
    }
    a.bytes.resize(static_cast<std::size_t>(size * bytes(a.type)));
    const auto values = o.values.find(name);
    for (std::int64_t i = 0; i < size; ++i) {
      const double v = values == o.values.end()
                           ? sample(i, a.type)
                           : values->second[static_cast<std::size_t>(i) % values->second.size()];
      put(a.bytes.data() + i * bytes(a.type), a.type, v);
    }
    out.push_back(std::move(a));
  }
  return out;
}

inline int run_compiled(const function& f, const target::cpu& cpu, std::vector<argument>& args,
                        const options& o) {
  const auto code = backend::load(backend::compile(f, cpu));
  std::vector<void*> data;
  std::vector<std::int64_t> strides;
  for (argument& a : args) {
    data.push_back(a.bytes.data());
    strides.insert(strides.end(), a.strides.begin(), a.strides.end());
  }
  std::vector<std::byte> workspace(static_cast<std::size_t>(code->workspace_bytes()) + 64);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
  std::byte* aligned = workspace.data() + (64 - address % 64) % 64;
  return (*code)({data.data(), strides.data(), aligned, o.exec, nullptr, o.cancel});
}

/// Largest |a - b| / (1 + |b|) over the elements of two arguments; bits decide for integers.
inline double difference(const argument& a, const argument& b) {
  double worst = 0;
  const auto size = static_cast<std::size_t>(bytes(a.type));
  for (std::size_t i = 0; i < a.bytes.size(); i += size) {
    if (std::memcmp(&a.bytes[i], &b.bytes[i], size) == 0) continue;
    if (!is_float(a.type)) return 1e30;
    const double x = get(&a.bytes[i], a.type), y = get(&b.bytes[i], a.type);
    if (std::isnan(x) && std::isnan(y)) continue;
    const double gap = std::abs(x - y) / (1 + std::abs(y));
    worst = std::isnan(gap) ? 1e30 : std::max(worst, gap);
  }
  return worst;
}

/// Checks that compiled code agrees with the interpreter on every target that runs here.
inline void check_agrees(const function& f, const options& o = {}) {
  if (!have_compiler()) return;
  std::vector<argument> expected = make_arguments(f, o);
  std::vector<tensor_view> views;
  for (argument& a : expected) views.push_back({a.bytes.data(), a.strides});
  ir::interpret(f, views, {});
  for (const target::cpu& cpu : runnable_targets()) {
    CAPTURE(cpu.name);
    std::vector<argument> got = make_arguments(f, o);
    CHECK(run_compiled(f, cpu, got, o) == backend::call_done);
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CHECK(difference(got[i], expected[i]) <= o.tolerance);
    }
  }
}

inline function make(std::string name, std::vector<buffer> params, stmt body) {
  function f;
  f.name = std::move(name);
  for (buffer& b : params) f.params.push_back({std::move(b), {}});
  f.body = std::move(body);
  return f;
}

}  // namespace harness
