#include <tilewright/backend/cuda/resources.hpp>

#include <doctest/doctest.h>

using namespace tilewright;
namespace cu = tilewright::backend::cuda;

namespace {

const char* const assembler_log = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas info    : Function properties for first
ptxas         .     8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 168 registers, used 2 barriers, 2048 bytes smem, 8 bytes cumulative stack size
ptxas info    : Compile time = 60.196 ms
ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers
)";

std::string rejected(backend::launch l, cu::resource_limits limits = {}) {
  return cu::why_rejected(l, cu::parse_resources(assembler_log), target::named_gpu("sm_90a"),
                          limits);
}

backend::launch start(const char* symbol, std::uint32_t threads) {
  backend::launch l;
  l.symbol = symbol;
  l.block[0] = threads;
  return l;
}

}  // namespace

TEST_CASE("the assembler's report is read kernel by kernel") {
  const cu::resource_report r = cu::parse_resources(assembler_log);
  REQUIRE(r.kernels.size() == 2);
  CHECK(r.kernels[0].symbol == "first");
  CHECK(r.kernels[0].registers == 168);
  CHECK(r.kernels[0].barriers == 2);
  CHECK(r.kernels[0].frame_bytes == 8);
  CHECK(r.kernels[0].spilled_bytes == 28);
  CHECK(r.kernels[0].static_shared_bytes == 2048);
  CHECK(r.kernels[1].registers == 32);
  CHECK(r.kernels[1].spilled_bytes == 0);
  REQUIRE(r.advisories.size() == 1);
  CHECK(r.advisories[0].find("C7512") != std::string::npos);
  CHECK(r.find("third") == nullptr);
  CHECK(cu::parse_resources("").kernels.empty());
}

TEST_CASE("kernels that need too much are rejected with what they need") {
  cu::resource_limits any{1 << 20, 1 << 20, true};
  CHECK(rejected(start("second", 1024), any) == "");
  CHECK(rejected(start("second", 1024)).find("C7512") != std::string::npos);
  CHECK(rejected(start("second", 2048), any).find("2048 threads in a block") != std::string::npos);
  CHECK(rejected(start("first", 128), {16, 64, true}).find("28 bytes of spilled registers") !=
        std::string::npos);
  CHECK(rejected(start("first", 128), {64, 0, true}).find("8 bytes on a thread's stack") !=
        std::string::npos);
  // 168 registers of 32 threads are handed out as 5376
  CHECK(rejected(start("first", 384), any) == "");
  CHECK(rejected(start("first", 416), any).find("69888 registers in a block") != std::string::npos);
  backend::launch large = start("second", 32);
  large.shared_bytes = 232449;
  CHECK(rejected(large, any).find("232449 bytes of shared memory") != std::string::npos);
  CHECK(rejected(start("third", 32), any).find("not in the assembler's report") !=
        std::string::npos);
}
