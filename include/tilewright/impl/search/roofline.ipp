#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/linker.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/measurement/argument_memory.hpp>
#include <tilewright/search/roofline.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search {
namespace detail::roof {

// Enough accumulators to hide the latency of two units, few enough to stay in 16 registers with two
// operands.
inline constexpr int accumulators = 12;
inline constexpr int streams = 4;
inline constexpr int inner_steps = 1024;
inline constexpr int outer_steps = 64;

/// Rows of vector registers: `rows` unrolled, the lanes of each at once.
inline ir::stmt each_register(
    int rows, int lanes, const std::function<ir::stmt(const ir::expr&, const ir::expr&)>& body) {
  const ir::var r = ir::make_var("r"), v = ir::make_var("v");
  return ir::make_loop(r, 0, rows,
                       ir::make_loop(v, 0, lanes, body(r, v), ir::loop_kind::vectorized),
                       ir::loop_kind::unrolled);
}

inline ir::function lowered(const char* name, const std::vector<ir::buffer>& params,
                            ir::stmt body) {
  ir::function f;
  f.name = name;
  for (const ir::buffer& p : params) f.params.push_back({p, {}});
  f.body = std::move(body);
  f.attrs["tilewright.lowered"] = 1;
  return f;
}

/// Y[r, v] becomes Y[r, v] * 0.5 + 1 or Y[r, v] + Z[r, v] again and again in registers. The former
/// tends to 2 and the latter grows slowly, so no value is ever slow.
inline ir::function arithmetic(int rows, int lanes, bool multiplies = true) {
  const dtype t = dtype::f32;
  const ir::buffer y = ir::make_buffer("Y", t, {rows, lanes}),
                   z = ir::make_buffer("Z", t, {rows, lanes}),
                   acc = ir::make_buffer("acc", t, {rows, lanes}, "local");
  const auto each = [&](const auto& body) { return each_register(rows, lanes, body); };
  using ir::expr;
  const ir::stmt step = each([&](const expr& r, const expr& v) {
    const expr old = ir::load(acc, {r, v});
    return ir::make_store(
        acc, {r, v},
        multiplies ? old * ir::real(t, 0.5) + ir::real(t, 1.0) : old + ir::load(z, {r, v}));
  });
  const ir::stmt steps = ir::make_loop(ir::make_var("o"), 0, outer_steps,
                                       ir::make_loop(ir::make_var("i"), 0, inner_steps, step));
  const ir::stmt in = each([&](const expr& r, const expr& v) {
    return ir::make_store(acc, {r, v}, ir::load(y, {r, v}));
  });
  const ir::stmt out = each([&](const expr& r, const expr& v) {
    return ir::make_store(y, {r, v}, ir::load(acc, {r, v}));
  });
  return lowered("peak_arithmetic", {y, z}, ir::make_allocate(acc, ir::make_seq({in, steps, out})));
}

/// What is read, and how often.
struct reading_shape {
  int repeats, blocks, steps, streams, lanes;

  std::size_t size() const {
    return sizeof(float) * static_cast<std::size_t>(blocks) * static_cast<std::size_t>(steps) *
           static_cast<std::size_t>(streams) * static_cast<std::size_t>(lanes);
  }
};

/// Y[r, v] = sum over o, i of X[o, i, r, v], `repeats` times.
inline ir::function reading(const reading_shape& s) {
  const dtype t = dtype::f32;
  const ir::buffer x = ir::make_buffer("X", t, {s.blocks, s.steps, s.streams, s.lanes}),
                   y = ir::make_buffer("Y", t, {s.streams, s.lanes});
  const ir::buffer acc = ir::make_buffer("acc", t, {s.streams, s.lanes}, "local");
  const auto each = [&](const auto& body) { return each_register(s.streams, s.lanes, body); };
  using ir::expr;
  const ir::var o = ir::make_var("o"), i = ir::make_var("i");
  const ir::stmt step = each([&](const expr& r, const expr& v) {
    return ir::make_store(acc, {r, v}, ir::load(acc, {r, v}) + ir::load(x, {o, i, r, v}));
  });
  const ir::stmt steps =
      ir::make_loop(ir::make_var("n"), 0, s.repeats,
                    ir::make_loop(o, 0, s.blocks, ir::make_loop(i, 0, s.steps, step)));
  const ir::stmt in = each([&](const expr& r, const expr& v) {
    return ir::make_store(acc, {r, v}, ir::real(t, 0.0));
  });
  const ir::stmt out = each([&](const expr& r, const expr& v) {
    return ir::make_store(y, {r, v}, ir::load(acc, {r, v}));
  });
  return lowered("peak_reading", {x, y}, ir::make_allocate(acc, ir::make_seq({in, steps, out})));
}

/// Least seconds of a call: three calls at least, then more until `budget` is used up.
/// @param before runs before each call, untimed; may be null
inline double least_seconds(const backend::loaded& code, const std::vector<void*>& data,
                            double budget, const std::function<void()>& before = {}) {
  std::vector<std::byte> workspace(static_cast<std::size_t>(code.workspace_bytes()) + 64);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
  const backend::call c{data.data(), nullptr, workspace.data() + (64 - address % 64) % 64,
                        nullptr,     nullptr, nullptr};
  double least = std::numeric_limits<double>::infinity(), spent = 0;
  for (int i = 0; i < 3 || spent < budget; ++i) {
    if (before) before();
    const auto start = std::chrono::steady_clock::now();
    code(c);
    const double s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    least = std::min(least, std::max(s, 1e-9));
    spent += s;
  }
  return least;
}

/// Bytes to read: where lines can be flushed, enough to run into the rate; else more than caches
/// hold.
inline std::int64_t bytes_to_read(const target::cpu& cpu) {
  const char probe = 0;
  if (flush_lines(&probe, 1)) return 16 << 20;
  return std::clamp<std::int64_t>(4 * cpu.l3_bytes, 64 << 20, 256 << 20);
}

struct release {
  void operator()(void* p) const { std::free(p); }
};

/// Memory whose pages are all there. Null when there is none.
inline std::unique_ptr<void, release> touched(std::size_t size, std::size_t alignment) {
  std::unique_ptr<void, release> out(
      std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment));
  if (!out) return out;
  if (size >= alignment && alignment >= 4096)
    (void)::madvise(out.get(), size, MADV_HUGEPAGE);  // less time for page faults
  std::memset(out.get(), 0x3c, size);                 // small positive floats
  return out;
}

/// Bytes a second that are read again and again from the same `size` bytes.
inline double rate_from_cache(std::int64_t size, int lanes, const target::cpu& cpu, void* registers,
                              void* memory) {
  constexpr std::int64_t read = 4 << 20;  // in a call
  reading_shape s{1, 1, 1, accumulators, lanes};
  s.steps = static_cast<int>(size / static_cast<std::int64_t>(s.size()));
  if (s.steps < 2) return 0;
  s.repeats = static_cast<int>(read / static_cast<std::int64_t>(s.size())) + 1;
  const auto code = backend::link(backend::compile(reading(s), cpu));
  return static_cast<double>(s.size()) * s.repeats /
         least_seconds(*code, {memory, registers}, 0.001);
}

/// Seconds from the beginning of an operation until the next one may use its result.
inline double latency(bool multiplies, int lanes, const target::cpu& cpu,
                      const std::vector<void*>& registers) {
  const auto code = backend::link(backend::compile(arithmetic(1, lanes, multiplies), cpu));
  return least_seconds(*code, registers, 0.001) / (inner_steps * outer_steps);
}

inline std::optional<roofline> measure() {
  if (!backend::compiler_available()) return std::nullopt;
  const target::cpu& cpu = target::host();
  const int lanes = cpu.lanes(dtype::f32);
  reading_shape from_memory{1, 1, inner_steps, streams, lanes};
  from_memory.blocks =
      static_cast<int>(bytes_to_read(cpu) / static_cast<std::int64_t>(from_memory.size()));
  const std::size_t size = from_memory.size();
  const std::size_t sums = std::size_t{4} * accumulators * static_cast<std::size_t>(lanes);
  const auto registers = touched(sums, 64), terms = touched(sums, 64),
             memory = touched(size, std::size_t{2} << 20);
  if (!registers || !terms || !memory) return std::nullopt;
  try {
    const auto compute = backend::link(backend::compile(arithmetic(accumulators, lanes), cpu));
    const auto read = backend::link(backend::compile(reading(from_memory), cpu));
    const double flops = 2.0 * accumulators * lanes * inner_steps * outer_steps;
    roofline out;
    out.flops_per_second = flops / least_seconds(*compute, {registers.get(), terms.get()}, 0.005);
    const auto flush = [&] { flush_lines(memory.get(), size); };
    out.bytes_per_second =
        static_cast<double>(size) / least_seconds(*read, {memory.get(), registers.get()}, 0, flush);
    const auto cache = [&](std::int64_t bytes) {
      return rate_from_cache(std::min(bytes, static_cast<std::int64_t>(size)), lanes, cpu,
                             registers.get(), memory.get());
    };
    out.l1_bytes_per_second = cache(cpu.l1_bytes / 2);
    out.l2_bytes_per_second = cache(cpu.l2_bytes / 2);
    if (cpu.l3_bytes > 4 * cpu.l2_bytes) out.l3_bytes_per_second = cache(3 * cpu.l2_bytes);
    out.multiply_add_seconds = latency(true, lanes, cpu, {registers.get(), terms.get()});
    out.addition_seconds = latency(false, lanes, cpu, {registers.get(), terms.get()});
    return out;
  } catch (const error&) {  // a report does not fail for want of a yardstick
    return std::nullopt;
  }
}

}  // namespace detail::roof

TILEWRIGHT_INLINE double bound_seconds(const roofline& r, double flops, double bytes, int threads) {
  const double arithmetic = flops > 0 ? flops / r.flops_per_second : 0;
  const double memory = bytes > 0 ? bytes / r.bytes_per_second : 0;
  return std::max(arithmetic, memory) / std::max(threads, 1);
}

TILEWRIGHT_INLINE const roofline* measured_roofline() {
  const support::fork_pass inside;
  static const std::optional<roofline> rates = detail::roof::measure();
  return rates ? &*rates : nullptr;
}

}  // namespace tilewright::search
