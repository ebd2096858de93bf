// The host's models of the copy engine against arithmetic that is known to be right, and what they find.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>

#include "../cases.hpp"
#include "gpu/cases/box_functions.hpp"

using namespace tilewright;

namespace {

std::vector<std::uint32_t> words(const std::vector<std::byte>& raw) {
  std::vector<std::uint32_t> out(raw.size() / 4);
  std::memcpy(out.data(), raw.data(), raw.size());
  return out;
}

/// The element of a box that begins `moved` elements behind the block's own place.
std::uint32_t element(const target::tensor_box& what, const std::vector<std::uint32_t>& from,
                      std::int64_t block, std::int64_t thread, std::int64_t moved) {
  std::int64_t step = 1, at = 0;
  bool inside = true;
  for (std::size_t d = 0; d < what.box.size(); ++d) {
    const std::int64_t boxes = what.extents[d] / what.box[d];
    const std::int64_t x = block % boxes * what.box[d] + moved + thread % what.box[d];
    inside = inside && x >= 0 && x < what.extents[d];
    at += x * step;
    block /= boxes;
    thread /= what.box[d];
    step *= what.extents[d];
  }
  return inside ? from[static_cast<std::size_t>(at)] : 0;
}

gpu_conformance::entry named(const std::string& name) {
  for (gpu_conformance::entry& e : gpu_conformance::box_functions())
    if (e.name == "conformance_" + name) return e;
  FAIL("no entry " << name);
  return {};
}

/// What the emulator says of an entry with something in its text replaced; empty when it runs.
std::string said_without(const std::string& name, const std::string& what,
                         const std::string& instead) {
  gpu_conformance::entry e = named(name);
  const std::size_t at = e.program.text.find(what);
  REQUIRE(at != std::string::npos);
  e.program.text.replace(at, what.size(), instead);
  e.program.kernels[0].start.shared_bytes += 256;
  try {
    gpu_conformance::on_host(e, 3);
  } catch (const error& found) {
    return found.what();
  }
  return {};
}

}  // namespace

TEST_CASE("copy engine: its model copies boxes of tensors, zeros outside, and stores them") {
  if (!cases::have_emulator()) return;
  for (const gpu_conformance::entry& e : gpu_conformance::box_functions()) {
    CAPTURE(e.name);
    const auto& maps = e.program.kernels[0].start.tensor_maps;
    const std::vector<std::uint32_t> in = words(e.input);
    for (const std::uint64_t seed : {1u, 2u}) {
      const std::vector<std::uint32_t> got = words(gpu_conformance::on_host(e, seed));
      int wrong = 0;
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(in.size()); ++i) {
        const std::int64_t block = i / 256, thread = i % 256;
        std::uint32_t expected = 0;
        if (maps.size() == 1) {
          CHECK(maps[0].what.why_not() == "");
          for (std::int64_t r = 0; r < 3; ++r)
            expected = expected * 3 + element(maps[0].what, in, block, thread, (block + r) % 5 - 2);
          wrong += got[static_cast<std::size_t>(i)] == expected ? 0 : 1;
        } else if (maps.size() == 2) {
          // rows change places by their number within the pattern that stays the same on the way back
          const std::int64_t row = thread >> 5, piece = thread >> 2 & 7;
          const std::int64_t place =
              maps[0].what.swizzle ? (row << 5 | (piece ^ row) << 2 | (thread & 3)) : thread;
          expected =
              element(maps[0].what, in, block, thread, 0) + 2 * static_cast<std::uint32_t>(place);
          wrong += element(maps[1].what, got, block, thread, 0) == expected ? 0 : 1;
        } else {
          wrong += got[static_cast<std::size_t>(i)] == in[static_cast<std::size_t>(i)] + 1 ? 0 : 1;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("copy engine: what its model finds when something is left out") {
  if (!cases::have_emulator()) return;
  const auto finds = [](const std::string& name, const std::string& what,
                        const std::string& instead, const std::string& expected) {
    CAPTURE(what);
    CAPTURE(instead);
    const std::string said = said_without(name, what, instead);
    CHECK_MESSAGE(said.find(expected) != std::string::npos, said);
  };
  const std::string wait = "tw_wait_phase(f, 0, r & 1);";
  finds("box_2d_128", wait, "", "reads s[");
  finds("box_2d_128", wait, "tw_barrier();", "s[");  // on its way, or landed and not waited for
  finds("box_2d_128", wait, "tw_wait_phase(f, 0, 1 - (r & 1));", "s[");
  finds("box_2d_128", "tw_expect_bytes(f, 0, 1024)", "tw_expect_bytes(f, 0, 1040)",
        "0 arrivals and 16 bytes are missing");
  finds("box_2d_128", "tw_expect_bytes(f, 0, 1024)", "tw_expect_bytes(f, 0, 1008)",
        "for a phase that does not end");
  finds("box_2d_128", "tw_expect_bytes(f, 0, 1024)", "(void)0", "1 arrivals and -1024 bytes");
  finds("box_2d_128", "tw_init_arrivals(f, 0, 1)", "tw_init_arrivals(f, 0, 2)",
        "1 arrivals and 0 bytes are missing");
  finds("box_2d_128", "tw_fence_arrivals();", "", "without a fence for the copy engine");
  finds("box_2d_128", "  tw_barrier();\n  int sum", "  int sum", "f[0], wh");
  finds("box_2d_128", "    tw_barrier();\n  }", "  }", "another thread reads");
  finds("box_2d_128", "tw_copy_tensor(s, 0", "tw_copy_tensor(s, 64", "out of bounds");
  finds("box_2d_64", "TW_SHARED(int, s, 0, 256)", "TW_SHARED(int, s, 128, 256)",
        "no multiple of 512 bytes");
  finds("roles", "tw_wait_phase(f, r % 2, r / 2 % 2);", "", "s[");
  finds("roles", "f, r % 2, r / 2 % 2", "f, r % 2, 1 - r / 2 % 2", "s[");
  finds("roles", "tw_wait_phase(f, 2 + r % 2, 1 - r / 2 % 2);", "", "more often than it counts");
  finds("roles", "1 - r / 2 % 2);", "r / 2 % 2);", "for a phase that does not end");
  finds("roles", "tw_arrive(f, 2 + r % 2)", "(void)0", "for a phase that does not end");
  finds("roles", "n < 2 ? 1 : 8", "n < 2 ? 1 : 9", "for a phase that does not end");
  finds("roles", "if (t % 32 == 0) tw", "tw", "for a phase that does not end");
  finds("roles", "tw_barrier_of<1, 256>();", "", "another thread reads");
  finds("roles", "tw_barrier_of<1, 256>();", "tw_barrier_of<1, 384>();", "no thread can go on");
  finds("roles", "tw_barrier_of<1, 256>();", "tw_barrier();", "no thread can go on");
  finds("roles", "tw_fewer_registers<40>();", "", "for registers that nobody gives");
  finds("roles", "tw_more_registers<232>", "tw_more_registers<240>", "for registers that nobody");
  finds("roles", "tw_more_registers<232>", "tw_more_registers<160>", "to get as many as 160");
  finds("box_stored", "tw_fence_async();", "", "stored to without a fence for the copy engine");
  finds("box_stored", "tw_wait_stores<0>();", "tw_wait_stores<1>();", "still reads");
  finds("box_stored", "tw_commit_stores();", "", "still reads");
  finds("box_stored", "tw_fence_async();\n    tw_barrier();", "tw_fence_async();",
        "without a barrier between");
}

TEST_CASE("copy engine: the prelude's functions for it compile for sm_90a") {
  if (!cases::have_nvrtc()) return;
  cases::cu::program together;
  for (const gpu_conformance::entry& e : gpu_conformance::box_functions()) {
    together.text += e.program.text;
    for (const cases::cu::kernel& k : e.program.kernels) together.kernels.push_back(k);
  }
  CHECK(cases::cu::compile(together, target::named_gpu("sm_90a")).report.kernels.size() ==
        together.kernels.size());
}
