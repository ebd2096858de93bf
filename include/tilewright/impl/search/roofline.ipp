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

/// Y[r, v] = Y[r, v] * 0.5 + 1, again and again in registers; it tends to 2, so no value is ever
/// slow.
inline ir::function arithmetic(int lanes) {
  const dtype t = dtype::f32;
  const ir::buffer y = ir::make_buffer("Y", t, {accumulators, lanes}),
                   acc = ir::make_buffer("acc", t, {accumulators, lanes}, "local");
  const auto each = [&](const auto& body) { return each_register(accumulators, lanes, body); };
  using ir::expr;
  const ir::stmt step = each([&](const expr& r, const expr& v) {
    return ir::make_store(acc, {r, v}, ir::load(acc, {r, v}) * ir::real(t, 0.5) + ir::real(t, 1.0));
  });
  const ir::stmt steps = ir::make_loop(ir::make_var("o"), 0, outer_steps,
                                       ir::make_loop(ir::make_var("i"), 0, inner_steps, step));
  const ir::stmt in = each([&](const expr& r, const expr& v) {
    return ir::make_store(acc, {r, v}, ir::load(y, {r, v}));
  });
  const ir::stmt out = each([&](const expr& r, const expr& v) {
    return ir::make_store(y, {r, v}, ir::load(acc, {r, v}));
  });
  return lowered("peak_arithmetic", {y}, ir::make_allocate(acc, ir::make_seq({in, steps, out})));
}

/// Y[r, v] = sum over o, i of X[o, i, r, v].
inline ir::function reading(int blocks, int lanes) {
  const dtype t = dtype::f32;
  const ir::buffer x = ir::make_buffer("X", t, {blocks, inner_steps, streams, lanes}),
                   y = ir::make_buffer("Y", t, {streams, lanes});
  const ir::buffer acc = ir::make_buffer("acc", t, {streams, lanes}, "local");
  const auto each = [&](const auto& body) { return each_register(streams, lanes, body); };
  using ir::expr;
  const ir::var o = ir::make_var("o"), i = ir::make_var("i");
  const ir::stmt step = each([&](const expr& r, const expr& v) {
    return ir::make_store(acc, {r, v}, ir::load(acc, {r, v}) + ir::load(x, {o, i, r, v}));
  });
  const ir::stmt steps = ir::make_loop(o, 0, blocks, ir::make_loop(i, 0, inner_steps, step));
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

inline std::optional<roofline> measure() {
  if (!backend::compiler_available()) return std::nullopt;
  const target::cpu& cpu = target::host();
  const int lanes = cpu.lanes(dtype::f32);
  const std::int64_t block = std::int64_t{4} * inner_steps * streams * lanes;  // bytes
  const int blocks = static_cast<int>(bytes_to_read(cpu) / block);
  const auto size = static_cast<std::size_t>(blocks * block);
  const auto registers =
      touched(std::size_t{4} * accumulators * static_cast<std::size_t>(lanes), 64);
  const auto memory = touched(size, std::size_t{2} << 20);
  if (!registers || !memory) return std::nullopt;
  try {
    const auto compute = backend::link(backend::compile(arithmetic(lanes), cpu));
    const auto read = backend::link(backend::compile(reading(blocks, lanes), cpu));
    const double flops = 2.0 * accumulators * lanes * inner_steps * outer_steps;
    roofline out;
    out.flops_per_second = flops / least_seconds(*compute, {registers.get()}, 0.005);
    const auto flush = [&] { flush_lines(memory.get(), size); };
    out.bytes_per_second =
        static_cast<double>(size) / least_seconds(*read, {memory.get(), registers.get()}, 0, flush);
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
