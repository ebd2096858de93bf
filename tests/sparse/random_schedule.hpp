// A lowered sparse program under a schedule that is drawn from the default space.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "compiled_run.hpp"

namespace random_schedule {

using namespace tilewright;
using compiled_run::run_compiled;

inline void run_interpreted(const ir::function& f, const std::vector<void*>& data) {
  std::vector<ir::tensor_view> views;
  for (void* d : data) views.push_back({d, {}});
  ir::interpret(f, std::move(views));
}

/// The scheduled program gives `expected`, bit for bit, by the interpreter and by machine code.
/// @param inputs of all parameters but the last, which is the result
/// @returns false when the schedule that was drawn does not fit
template <class R>
bool check(ir::function f, std::uint64_t seed, std::uint64_t draw,
           const std::vector<const void*>& inputs, const std::vector<R>& expected) {
  ir::verify(f);
  // half of what runs on two threads is taken for a matrix with a row that is worth dividing
  if (seed % 4 == 1) ir::note_pattern(f, {.mean_row = 1, .longest = 1e6});
  target::cpu cpu = target::host();
  cpu.cores = 1 + static_cast<int>(seed % 2);
  const space::context where{&cpu, cpu.cores};
  const space::design_space space = space::default_cpu();
  const std::vector<schedule> sketches = space.sketches(f, where, seed);
  REQUIRE_FALSE(sketches.empty());
  schedule s(f, seed);
  try {
    sketches[draw % sketches.size()].trace().apply_to(
        s, [](std::size_t, const instruction&, const decision&) { return decision{}; });
  } catch (const schedule_error&) {  // what is drawn may not fit; search drops it, too
    return false;
  }
  space.finish(s, where);
  CAPTURE(s.trace().print());
  for (const bool compiled : {false, true}) {
    std::vector<R> result(expected.size(), R(99));
    std::vector<void*> data;
    for (const void* a : inputs) data.push_back(const_cast<void*>(a));
    data.push_back(result.data());
    if (compiled)
      run_compiled(s.function(), cpu, data);
    else
      run_interpreted(s.function(), data);
    CAPTURE(compiled);
    CHECK(result == expected);
  }
  return true;
}

}  // namespace random_schedule
