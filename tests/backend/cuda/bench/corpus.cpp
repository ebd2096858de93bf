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
#include "mutants.hpp"

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

TEST_CASE("every barrier, guard, swizzle, wait and group of copies is missed when it is left out") {
  if (!cases::have_emulator()) return;
  int all = 0, found = 0, redundant = 0;
  for (const gpu_corpus::entry& e : gpu_corpus::small()) {
    const std::vector<harness::argument> expected = cases::interpreted(e.written);
    for (const mutants::mutant& m : mutants::all(lowered(e, cases::device()))) {
      ++all;
      if (m.redundant) {
        ++redundant;
        continue;
      }
      const std::string why = mutants::caught(m, e, expected);
      found += why.empty() ? 0 : 1;
      CHECK_MESSAGE(!why.empty(), e.name << " computes the same without " << m.what << "\n"
                                         << m.p.text);
    }
  }
  MESSAGE("mutants: " << found << " of " << all << " caught, " << redundant
                      << " redundant: guards of registers, and of zeros that nobody reads");
  CHECK(found + redundant == all);
}
