// Random members of a space, run by the interpreter beside the program without a schedule.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/target/cpu.hpp>

namespace draws {

using namespace tilewright;

inline const space::context& haswell(int threads = 1) {
  static const target::cpu cpu = target::named("haswell");
  static const space::context one{&cpu, 1}, several{&cpu, 4};
  return threads == 1 ? one : several;
}

/// What `f`, whose parameters are f32 tensors, leaves in them when they start from fixed values.
inline std::vector<std::vector<float>> run(const ir::function& f) {
  std::vector<std::vector<float>> memory;
  std::vector<ir::tensor_view> views;
  for (const ir::param& p : f.params) {
    std::int64_t size = 1;
    for (const ir::expr& e : p.buffer->shape) size *= e->integer;
    std::vector<float>& data = memory.emplace_back(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<float>((i * 7 + memory.size() * 3) % 13) / 8 - 0.5f;
    views.push_back({data.data(), {}});
  }
  ir::interpret(f, std::move(views));
  return memory;
}

inline bool close(const std::vector<std::vector<float>>& a,
                  const std::vector<std::vector<float>>& b) {
  for (std::size_t p = 0; p < a.size(); ++p)
    for (std::size_t i = 0; i < a[p].size(); ++i)
      if (!(std::abs(a[p][i] - b[p][i]) <= 1e-3f * std::max(1.0f, std::abs(a[p][i])))) return false;
  return true;
}

/// Draws `count` members of the sketches, does `finish` to them, and compares what they compute
/// with what `f` does.
/// @returns the number of different programs among them
inline std::size_t check(const ir::function& f, const std::vector<schedule>& sketches,
                         std::size_t count = 50,
                         const std::function<void(schedule&)>& finish = {}) {
  REQUIRE_FALSE(sketches.empty());
  const auto expected = run(f);
  std::set<std::string> met;
  std::size_t checked = 0;
  for (std::uint64_t seed = 0; checked < count && seed < 20 * count; ++seed) {
    const trace family = sketches[seed % sketches.size()].trace().without_decisions();
    schedule s(f, seed);
    try {
      family.apply_to(s);
      if (finish) finish(s);
    } catch (const schedule_error&) {
      continue;  // draws that do not go together
    }
    ++checked;
    if (!met.insert(s.show()).second) continue;
    ir::verify(s.function());
    INFO(s.trace().print());
    REQUIRE(close(run(s.function()), expected));
  }
  CHECK(checked == count);
  return met.size();
}

/// The same for a space with its post-processors.
inline std::size_t check(const ir::function& f, const space::design_space& of,
                         std::size_t count = 50) {
  return check(f, of.sketches(f, haswell(), 1), count,
               [&](schedule& s) { of.finish(s, haswell()); });
}

}  // namespace draws
