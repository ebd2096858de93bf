// What every test of a schedule checks besides its own business.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/schedule/schedule.hpp>

/// The program is well formed, the trace survives printing and parsing, and replaying what was
/// parsed on the original program gives the same program and the same trace.
inline void check_schedule(const tilewright::schedule& s,
                           const tilewright::ir::function& original) {
  using namespace tilewright;
  CHECK_NOTHROW(ir::verify(s.function()));
  const std::string text = s.trace().print();
  const trace parsed = trace::parse(text);
  CHECK(parsed == s.trace());
  CHECK(parsed.print() == text);
  schedule replayed(original, 1);
  REQUIRE_NOTHROW(parsed.apply_to(replayed));
  CHECK(ir::equal(replayed.function(), s.function()));
  CHECK(replayed.trace().print() == text);
}

using dims = std::map<std::string, std::int64_t>;

/// Contents of all buffer parameters (f32, i8, u8, i32 or i64) after interpreting `f` on small
/// integers.
inline std::vector<std::vector<double>> results_of(const tilewright::ir::function& f,
                                                   const dims& sizes = {}) {
  using namespace tilewright;
  std::vector<std::vector<char>> memory;
  std::vector<std::size_t> counts;
  std::vector<ir::tensor_view> args;
  for (const ir::param& p : f.params) {
    REQUIRE(p.buffer);
    std::size_t count = 1;
    for (const ir::expr& e : p.buffer->shape)
      count *= static_cast<std::size_t>(ir::is_int(e) ? e->integer : sizes.at(e->name));
    counts.push_back(count);
    memory.emplace_back(count * static_cast<std::size_t>(bytes(p.buffer->type)) + 1);
    for (std::size_t i = 0; i < count; ++i) {
      const int value = static_cast<int>((i * 7 + memory.size() * 3) % 11) - 5;
      char* at = memory.back().data() + i * static_cast<std::size_t>(bytes(p.buffer->type));
      if (p.buffer->type == dtype::f32) *reinterpret_cast<float*>(at) = static_cast<float>(value);
      if (p.buffer->type == dtype::i32) *reinterpret_cast<std::int32_t*>(at) = value;
      if (p.buffer->type == dtype::i64) *reinterpret_cast<std::int64_t*>(at) = value;
      if (p.buffer->type == dtype::i8)
        *reinterpret_cast<std::int8_t*>(at) = static_cast<std::int8_t>(value * 21);
      if (p.buffer->type == dtype::u8)
        *reinterpret_cast<std::uint8_t*>(at) = static_cast<std::uint8_t>(value * 23);
    }
    args.push_back({memory.back().data(), {}});
  }
  ir::interpret_options options;
  options.dims = sizes;
  options.check_races = true;
  options.check_scopes = false;  // a schedule means what its loops do one after another
  ir::interpret(f, args, options);
  std::vector<std::vector<double>> out;
  for (std::size_t p = 0; p < f.params.size(); ++p) {
    out.emplace_back();
    const dtype type = f.params[p].buffer->type;
    for (std::size_t i = 0; i < counts[p]; ++i) {
      const char* at = memory[p].data() + i * static_cast<std::size_t>(bytes(type));
      out.back().push_back(
          type == dtype::f32   ? static_cast<double>(*reinterpret_cast<const float*>(at))
          : type == dtype::i8  ? *reinterpret_cast<const std::int8_t*>(at)
          : type == dtype::u8  ? *reinterpret_cast<const std::uint8_t*>(at)
          : type == dtype::i32 ? *reinterpret_cast<const std::int32_t*>(at)
                               : static_cast<double>(*reinterpret_cast<const std::int64_t*>(at)));
    }
  }
  return out;
}

/// `s` is in order (check_schedule) and computes what the original program computes.
inline void check_meaning(const tilewright::schedule& s, const tilewright::ir::function& original,
                          const dims& sizes = {}) {
  check_schedule(s, original);
  CHECK(results_of(s.function(), sizes) == results_of(original, sizes));
}

/// The call throws a schedule_error of that primitive and requirement, and leaves program, trace
/// and random stream of `s` untouched.
template <class Call>
void check_refusal(tilewright::schedule& s, const char* primitive, int requirement,
                   const Call& call) {
  using namespace tilewright;
  const ir::stmt body = s.function().body;
  const std::string text = s.trace().print();
  const std::size_t symbols = s.state().symbols.size();
  const support::random stream = s.state().random;
  try {
    call();
    FAIL("no schedule_error from ", std::string(primitive));
  } catch (const schedule_error& e) {
    CHECK_MESSAGE(e.primitive() == primitive, e.what());
    CHECK_MESSAGE(e.requirement() == requirement, e.what());
  }
  CHECK(s.function().body == body);
  CHECK(s.trace().print() == text);
  CHECK(s.state().symbols.size() == symbols);
  support::random before = stream, after = s.state().random;
  for (int i = 0; i < 10; ++i) CHECK(before.next() == after.next());
}
