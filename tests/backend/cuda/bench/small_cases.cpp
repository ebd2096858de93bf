// The small cases of stage first: emulated, and through the compile gate.
#include "gpu/cases/small_cases.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>

#include "../cases.hpp"
#include "gpu/checks/element_values.hpp"

using namespace tilewright;

namespace {

/// What is given for a case, as the other tests take it.
harness::options given_to(const gpu_corpus::entry& e) {
  harness::options out;
  for (const ir::param& p : e.written.params) {
    const auto known = e.given.find(p.buffer->name);
    if (known == e.given.end()) continue;
    const auto size = static_cast<std::size_t>(bytes(p.buffer->type));
    std::vector<double>& values = out.values[p.buffer->name];
    for (std::size_t at = 0; at < known->second.size(); at += size)
      values.push_back(gpu_case::with_reader(
          p.buffer->type, [&](const auto& read) { return read(&known->second[at]); }));
  }
  return out;
}

cases::cu::program printed(const gpu_corpus::entry& e, const target::gpu& device) {
  return cases::cu::print(pass::lower(e.scheduled, device), device);
}

}  // namespace

TEST_CASE("small cases: each computes what the interpreter computes") {
  for (const gpu_corpus::entry& e : gpu_cases::small(&cases::device())) {
    CAPTURE(e.name);
    cases::check_emulated(e.scheduled, e.written, e.tolerance, given_to(e));
  }
}

TEST_CASE("small cases: they add atomically, search, and put kernels into one launch") {
  const auto text_of = [](const std::string& name) {
    for (const gpu_corpus::entry& e : gpu_cases::small(&cases::device()))
      if (e.name == name) return printed(e, cases::device());
    FAIL("no case is called " << name);
    return cases::cu::program{};
  };
  const auto has = [](const cases::cu::program& p, const char* part) {
    return p.text.find(part) != std::string::npos;
  };
  CHECK(has(text_of("added_rows_float32"), "tw_atomic_add("));
  CHECK(text_of("side_by_side").kernels.size() == 1);
  CHECK_FALSE(has(text_of("sparse_rows"), "tw_atomic_add("));
  CHECK(has(text_of("sparse_elements"), "tw_atomic_add("));
  CHECK(has(text_of("sparse_vector_elements"), "tw_atomic_add("));
  CHECK(has(text_of("sparse_sampled"), "while"));
  CHECK(text_of("sparse_parts_in_one_launch").kernels.size() <
        text_of("sparse_parts").kernels.size());
}

TEST_CASE("small cases: without a device they have names and what is given, and no schedules") {
  const std::vector<gpu_corpus::entry> bare = gpu_cases::small(),
                                       all = gpu_cases::small(&cases::device());
  REQUIRE(bare.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(bare[i].name == all[i].name);
    CHECK(bare[i].given == all[i].given);
    CHECK(all[i].scheduled.body);
  }
}

TEST_CASE("small cases: each compiles for each architecture without spills") {
  if (!cases::have_nvrtc()) return;
  for (const char* name : {"sm_80", "sm_90a"}) {
    const target::gpu device = target::named_gpu(name);
    for (const gpu_corpus::entry& e : gpu_cases::small(&device)) {
      CAPTURE(e.name);
      const cases::cu::compiled c = cases::cu::compile(printed(e, device), device);
      for (const backend::launch& l : c.artifact.launches)
        CHECK(cases::cu::why_rejected(l, c.report, device, {0, 0, false}) == "");
    }
  }
}
