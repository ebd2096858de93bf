// What keeps code from being faster: a roof for each part of the machine that its inner loop or its
// arguments need, beside the two of the roofline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/backend/inner_loop.hpp>
#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/roofline.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search {

/// What a call does.
struct call_work {
  double operations = 0;  // arithmetic; a multiply-add counts as two
  double bytes = 0;  // of all arguments, each once; 0 where nobody knows, as where data are indices
  int threads = 1;   // that share the work evenly
};

/// The work of `f`: arithmetic on floats or, where there is none, two operations for each iteration of
/// its innermost statements, as sums of products of integers have them.
/// @throws argument_error when an extent is no literal
call_work work_of_call(const ir::function& f, int threads);

/// The seconds of a call that one part of the machine needs at least.
struct limit {
  std::string of;  // "multiply-adds", "loads", "the latency of additions", "memory", ...
  double seconds = 0;
};

/// What a call can't be faster than, the slowest first.
///
/// Multiply-adds, loads and latencies are those of the inner loop, as if all operations were done in
/// it; a loop without arithmetic has none of them. Bytes come from the smallest cache that holds all
/// arguments, since calls in a row find them there.
/// @param r    rates of this machine; a rate of 0 limits nothing
/// @param loop without instructions where it isn't known
std::vector<limit> limits_of(const roofline& r, const target::cpu& cpu, const call_work& work,
                             const backend::inner_loop& loop);

/// "loads, 93 % of what they allow (11.2 us at best; multiply-adds 10.1 us, memory 1.2 us)":
/// the limit that is nearest, and how near a call of `seconds` is to it. An estimate that the call has
/// beaten by more than a tenth is left out, since it counts what the rest of the code does without.
/// Empty where no limit is left.
std::string limits_text(std::vector<limit> all, double seconds);

}  // namespace tilewright::search
