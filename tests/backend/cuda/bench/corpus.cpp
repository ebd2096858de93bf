// Hand-written schedules: emulated, through the compile gate, and with each barrier and guard left out.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>

#include "../cases.hpp"
#include "gpu/conformance.hpp"
#include "gpu/corpus.hpp"

using namespace tilewright;

namespace {

cases::cu::program lowered(const gpu_corpus::entry& e, const target::gpu& device) {
  return cases::cu::print(pass::lower(e.scheduled, device), device);
}

}  // namespace

TEST_CASE("the corpus computes what the interpreter computes") {
  for (const gpu_corpus::entry& e : gpu_corpus::small()) {
    CAPTURE(e.name);
    cases::check_emulated(e.scheduled, e.written, e.tolerance);
  }
}

TEST_CASE("the corpus compiles for each architecture within its limits, large and small") {
  if (!cases::have_nvrtc()) return;
  for (const auto& entries : {gpu_corpus::small(), gpu_corpus::large()})
    for (const gpu_corpus::entry& e : entries)
      for (const char* name : {"sm_80", "sm_90a"}) {
        CAPTURE(e.name);
        CAPTURE(name);
        const target::gpu device = target::named_gpu(name);
        const cases::cu::program p = lowered(e, device);
        INFO(p.text);
        const cases::cu::compiled c = cases::cu::compile(p, device);
        for (const backend::launch& l : c.artifact.launches) {
          CHECK(cases::cu::why_rejected(l, c.report, device, {0, 0, false}) == "");
          CHECK(l.registers <= e.registers);
        }
      }
}

TEST_CASE("single elements of the corpus, as the GPU program checks them, are the interpreter's") {
  for (const gpu_corpus::entry& e : gpu_corpus::small()) {
    CAPTURE(e.name);
    CHECK(ir::point_evaluator::refusal(e.written) == "");
    std::vector<harness::argument> inputs = harness::make_arguments(e.written, {});
    const std::vector<harness::argument> expected = cases::interpreted(e.written);
    std::vector<ir::tensor_view> views;
    for (harness::argument& a : inputs) views.push_back({a.bytes.data(), {}});
    ir::point_evaluator points(e.written, views);
    const std::size_t last = expected.size() - 1;
    const ir::buffer& b = e.written.params[last].buffer;
    std::vector<std::int64_t> index;
    for (const ir::expr& extent : b->shape) index.push_back(extent->integer - 1);
    const auto value = points.value(last, index);
    REQUIRE(value);
    const std::byte* place = &expected[last].bytes[expected[last].bytes.size() - 4];
    CHECK(value->value == doctest::Approx(harness::get(place, b->type)).epsilon(1e-4));
  }
  for (const gpu_corpus::entry& e : gpu_corpus::large())
    CHECK(ir::point_evaluator::refusal(e.written) == "");
}

TEST_CASE("the prelude's functions compile for each architecture") {
  if (!cases::have_nvrtc()) return;
  cases::cu::program together;
  for (const gpu_conformance::entry& e : gpu_conformance::all()) {
    together.text += e.program.text;
    for (const cases::cu::kernel& k : e.program.kernels) together.kernels.push_back(k);
  }
  for (const char* name : {"sm_80", "sm_90a"})
    CHECK(cases::cu::compile(together, target::named_gpu(name)).report.kernels.size() ==
          together.kernels.size());
}

TEST_CASE("the text of the corpus is as it was; TILEWRIGHT_UPDATE_GOLDEN=1 writes it anew") {
  const std::filesystem::path folder = "tests/golden/cuda";
  const char* update = std::getenv("TILEWRIGHT_UPDATE_GOLDEN");
  for (const gpu_corpus::entry& e : gpu_corpus::small()) {
    CAPTURE(e.name);
    const std::string text = lowered(e, target::named_gpu("sm_80")).text;
    const std::filesystem::path file = folder / (e.name + ".cu");
    if (update && *update) {
      std::filesystem::create_directories(folder);
      std::ofstream(file) << text;
    }
    std::ifstream in(file);
    const std::string kept{std::istreambuf_iterator<char>(in), {}};
    CHECK_MESSAGE(text == kept, "the text of " << e.name << " differs from " << file.string());
  }
}

namespace {

/// A program with one thing left out.
struct mutant {
  std::string what;
  cases::cu::program p;
  bool redundant = false;  // what a guard keeps from happening touches a thread's registers alone
};

/// Whether all that stands in the braces behind `at` stores to registers and reads none but these.
bool touches_registers_only(const std::string& text, std::size_t at) {
  const std::size_t begin = text.find('{', at);
  std::size_t end = begin + 1;
  for (int depth = 1; depth > 0; ++end) depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
  const std::string body = text.substr(begin, end - begin);
  for (const char* declaration : {"TW_GLOBAL(", "TW_SHARED("})
    for (std::size_t d = text.find(declaration); d != text.npos;
         d = text.find(declaration, d + 1)) {
      const bool shared = declaration[3] == 'S';
      std::size_t first = text.find(shared ? ", " : ") ", d) + 2;
      const std::string name = text.substr(first, text.find_first_of(",)", first) - first);
      if (body.find(name + "[") != body.npos || body.find("(" + name + ",") != body.npos)
        return false;
    }
  return body.find("tw_barrier") == body.npos && body.find("tw_shuffle") == body.npos &&
         body.find("tw_copy_async") == body.npos;
}

/// One past the comma or parenthesis that ends the argument which begins at `at`.
std::size_t end_of_argument(const std::string& text, std::size_t at) {
  for (int depth = 0;; ++at) {
    if (depth == 0 && (text[at] == ',' || text[at] == ')')) return at + 1;
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
  }
}

/// One mutant for each barrier, for each condition of an if, for each group of copies in the background, for each
/// place in swizzled memory, whose row is forgotten, and two for each wait for copies: it is left out, or lets one
/// group more be on its way.
std::vector<mutant> mutants_of(const cases::cu::program& p) {
  std::vector<mutant> out;
  const auto add = [&](std::size_t at, std::size_t length, const std::string& instead) {
    mutant m{p.text.substr(at, length), p};
    m.redundant = m.what[0] == 'i' && touches_registers_only(p.text, at);
    m.p.text.replace(at, length, instead);
    out.push_back(std::move(m));
  };
  const std::string barrier = "tw_barrier();", guard = "if (";
  for (std::size_t at = p.text.find(barrier); at != p.text.npos; at = p.text.find(barrier, at + 1))
    add(at, barrier.size(), "");
  for (std::size_t at = p.text.find(guard); at != p.text.npos; at = p.text.find(guard, at + 1))
    add(at, p.text.find(" {\n", at) - at, "if (true)");
  const std::string swizzle = "tw_bitwise_xor<int>(";
  for (std::size_t at = p.text.find(swizzle); at != p.text.npos;
       at = p.text.find(swizzle, at + 1)) {
    const std::size_t column = at + swizzle.size(), row = end_of_argument(p.text, column);
    add(at, end_of_argument(p.text, row) - at, "(" + p.text.substr(column, row - 1 - column) + ")");
  }
  const std::string commit = "tw_commit_copies();", wait = "tw_wait_copies<";
  for (std::size_t at = p.text.find(commit); at != p.text.npos; at = p.text.find(commit, at + 1))
    add(at, commit.size(), "");
  for (std::size_t at = p.text.find(wait); at != p.text.npos; at = p.text.find(wait, at + 1)) {
    const std::size_t number = at + wait.size(), end = p.text.find(';', at) + 1;
    add(at, end - at, "");
    add(at, end - at, wait + std::to_string(std::stoi(p.text.substr(number)) + 1) + ">();");
  }
  return out;
}

/// Why the emulator or the result tells a mutant; empty when nothing does.
std::string caught(const mutant& m, const gpu_corpus::entry& e,
                   const std::vector<harness::argument>& expected) {
  const cases::cu::emulator kernels(m.p);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    try {
      const std::vector<harness::argument> got = cases::emulated(kernels, e.written, seed);
      for (std::size_t i = 0; i < got.size(); ++i)
        if (harness::difference(got[i], expected[i]) > e.tolerance) return "wrong result";
    } catch (const error& found) {
      return found.what();
    }
  }
  return {};
}

}  // namespace

TEST_CASE("every barrier, guard, swizzle, wait and group of copies is missed when it is left out") {
  if (!cases::have_emulator()) return;
  int all = 0, found = 0, redundant = 0;
  for (const gpu_corpus::entry& e : gpu_corpus::small()) {
    const std::vector<harness::argument> expected = cases::interpreted(e.written);
    for (const mutant& m : mutants_of(lowered(e, cases::device()))) {
      ++all;
      if (m.redundant) {
        ++redundant;
        continue;
      }
      const std::string why = caught(m, e, expected);
      found += why.empty() ? 0 : 1;
      CHECK_MESSAGE(!why.empty(), e.name << " computes the same without " << m.what << "\n"
                                         << m.p.text);
    }
  }
  MESSAGE("mutants: " << found << " of " << all << " caught, " << redundant
                      << " redundant: guards of registers");
  CHECK(found + redundant == all);
}
