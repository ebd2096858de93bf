// Compiled code of random schedules of random programs computes what the interpreter computes.
#include <laws/random_programs.hpp>

#include <cstdlib>
#include <cstring>

#include <doctest/doctest.h>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/print.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;

namespace {

/// As laws::results_of, by machine code.
std::vector<std::vector<char>> compiled_results(const ir::function& lowered, const target::cpu& cpu,
                                                const backend::executor* exec) {
  std::vector<std::vector<char>> memory;
  std::vector<void*> data;
  for (const ir::param& p : lowered.params) {
    std::size_t count = 1;
    for (const ir::expr& e : p.buffer->shape) count *= static_cast<std::size_t>(e->integer);
    memory.emplace_back(count * 4);
    for (std::size_t i = 0; i < count; ++i) {
      const int value = static_cast<int>((i * 7 + memory.size() * 3 + i * i) % 7) - 3;
      const auto real = static_cast<float>(value);
      if (p.buffer->type == dtype::f32)
        std::memcpy(memory.back().data() + i * 4, &real, 4);
      else
        std::memcpy(memory.back().data() + i * 4, &value, 4);
    }
  }
  for (std::vector<char>& m : memory) data.push_back(m.data());
  const auto code = backend::load(backend::compile(lowered, cpu));
  std::vector<std::byte> workspace(static_cast<std::size_t>(code->workspace_bytes()) + 64);
  std::byte* aligned =
      workspace.data() + (64 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 64) % 64;
  CHECK((*code)({data.data(), nullptr, aligned, exec, nullptr, nullptr}) == backend::call_done);
  return memory;
}

void check_code(std::uint64_t seed, int steps, target::cpu cpu, const backend::executor* exec) {
  support::random draw(seed);
  schedule s(laws::random_program(draw), seed);
  for (int k = 0; k < steps; ++k) laws::random_step(s, draw);
  CAPTURE(seed);
  std::vector<std::vector<char>> want;
  ir::function lowered;
  try {
    want = laws::results_of(s.function());
    lowered = pass::lower(s.function(), cpu);
  } catch (const error&) {
    return;  // the laws of primitives and of lowering report that
  }
  CAPTURE(ir::print(lowered));
  std::string failure;
  std::vector<std::vector<char>> got;
  try {
    got = compiled_results(lowered, cpu, exec);
  } catch (const error& e) {
    failure = e.what();
  }
  CHECK(failure == "");
  CHECK(got == want);
}

}  // namespace

TEST_CASE("compiled random schedules compute what the interpreter does") {
  if (!backend::compiler_available()) {
    MESSAGE("no LLVM library: the compiling test is skipped");
    return;
  }
  std::vector<target::cpu> targets;
  for (const char* name : {"x86-64", "haswell", "host"})
    if (target::runs_on(target::named(name), target::host()))
      targets.push_back(target::named(name));
  for (target::cpu& t : targets) t.cores = 2;
  backend::pool two(2);
  const char* text = std::getenv("TILEWRIGHT_LAWS_PROGRAMS");
  const std::uint64_t programs = text ? std::strtoull(text, nullptr, 10) : 100;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const target::cpu& cpu = targets[seed % targets.size()];
    check_code(seed, 0, cpu, nullptr);
    check_code(seed, 12, cpu, seed % 2 ? &two.view() : nullptr);
  }
}
