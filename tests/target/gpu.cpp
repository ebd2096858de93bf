#include <tilewright/target/gpu.hpp>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

using namespace tilewright;

TEST_CASE("GPUs by name: the limits of each") {
  CHECK(target::named_gpu("sm_80").shared_per_block == 166912);
  CHECK(target::named_gpu("sm_86").shared_per_block == 101376);
  CHECK(target::named_gpu("sm_90a").shared_per_block == 232448);
  CHECK(target::named_gpu("sm_89").threads_per_multiprocessor == 1536);
  for (std::string_view name : target::known_gpu_names()) {
    const target::gpu g = target::named_gpu(name);
    CHECK(g.name == name);
    CHECK(g.shared_per_block + 1024 == g.shared_per_multiprocessor);
  }
  CHECK_THROWS_WITH_AS(target::named_gpu("sm_13"),
                       doctest::Contains("write one of sm_80, sm_86, sm_89, sm_90, sm_90a"),
                       argument_error);
}

TEST_CASE("code runs on later devices of its major number, that of sm_90a on none but its own") {
  CHECK(target::named_gpu("sm_80").runs_on(80));
  CHECK(target::named_gpu("sm_80").runs_on(86));
  CHECK(!target::named_gpu("sm_86").runs_on(80));
  CHECK(!target::named_gpu("sm_80").runs_on(90));
  CHECK(target::named_gpu("sm_90a").runs_on(90));
  CHECK(!target::named_gpu("sm_90a").runs_on(91));
}
