#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/progress.hpp>
#include <tilewright/search/report/limits.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail::limited {

/// The cache, or memory, that arguments are read from when calls follow each other.
inline limit transfer(const roofline& r, const target::cpu& cpu, const call_work& work) {
  const double n = std::max(work.threads, 1);
  const double l1 = static_cast<double>(cpu.l1_bytes) * n,
               l2 = static_cast<double>(cpu.l2_bytes) * n,
               l3 = static_cast<double>(cpu.l3_bytes) + l2;
  const auto at = [&](const char* of, double rate) {
    return limit{of, rate > 0 ? work.bytes / (rate * n) : 0};
  };
  if (work.bytes <= l1) return at("the first-level cache", r.l1_bytes_per_second);
  if (work.bytes <= l2) return at("the second-level cache", r.l2_bytes_per_second);
  if (work.bytes <= l3) return at("the last-level cache", r.l3_bytes_per_second);
  return at("memory", r.bytes_per_second);
}

}  // namespace detail::limited

TILEWRIGHT_INLINE call_work work_of_call(const ir::function& f, int threads) {
  const double floats = operations_of(f);
  call_work out{floats > 0 ? floats : 2 * work_of(f), 0, threads};
  for (const operand& o : operands(f)) {
    if (o.index) return {out.operations, 0, threads};  // a part of its argument that nobody knows
    out.bytes += static_cast<double>(o.elements() * bytes(o.type));
  }
  return out;
}

TILEWRIGHT_INLINE std::vector<limit> limits_of(const roofline& r, const target::cpu& cpu,
                                               const call_work& work,
                                               const backend::inner_loop& loop) {
  std::vector<limit> out;
  const auto add = [&](const char* of, double seconds) {
    if (seconds > 0) out.push_back({of, seconds});
  };
  const double vector_bytes = cpu.vector_bits / 8.0;
  const double iterations =
      loop.operations > 0 ? work.operations / loop.operations / std::max(work.threads, 1) : 0;
  if (r.flops_per_second > 0) {
    const double one = 2 * cpu.lanes(dtype::f32) / r.flops_per_second;
    add("multiply-adds", iterations * loop.multiply_adds * one);
  }
  if (r.l1_bytes_per_second > 0)
    add("loads", iterations * loop.vector_loads * vector_bytes / r.l1_bytes_per_second);
  add("the latency of multiply-adds",
      iterations * loop.chained_multiply_adds * r.multiply_add_seconds);
  add("the latency of additions", iterations * loop.chained_additions * r.addition_seconds);
  const limit moved = detail::limited::transfer(r, cpu, work);
  add(moved.of.c_str(), moved.seconds);
  support::stable_sort(out, [](const limit& a, const limit& b) { return a.seconds > b.seconds; });
  return out;
}

TILEWRIGHT_INLINE std::string limits_text(std::vector<limit> all, double seconds) {
  constexpr double beaten = 1.1;
  std::erase_if(all, [&](const limit& l) { return l.seconds > beaten * seconds; });
  if (all.empty() || seconds <= 0) return {};
  std::string out = all[0].of + ", " + support::fixed_text(100 * all[0].seconds / seconds, 0) +
                    " % of what they allow (" + time_text(all[0].seconds) + " at best";
  for (std::size_t i = 1; i < all.size(); ++i)
    out += (i == 1 ? "; " : ", ") + all[i].of + " " + time_text(all[i].seconds);
  return out + ")";
}

}  // namespace tilewright::search
