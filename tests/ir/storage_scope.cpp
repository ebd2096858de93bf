// Who shares the memory of a storage scope.
#include <tilewright/ir/storage_scope.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/literal.hpp>

using namespace tilewright;

TEST_CASE("storage_scope: ranks") {
  CHECK(ir::storage_rank("") == 0);
  CHECK(ir::storage_rank("global") == 0);
  CHECK(ir::storage_rank("shared.dyn") == 1);
  CHECK(ir::storage_rank("warp") == 2);
  CHECK(ir::storage_rank("local") == 3);
  CHECK(ir::storage_rank("register") == -1);
}

TEST_CASE("storage_scope: a part of a memory is shared as the memory is") {
  CHECK(ir::storage_rank("global.texture") == 0);
  CHECK(ir::storage_rank("shared.tmem") == 1);
  CHECK(ir::storage_rank("local.fragment") == 3);
  CHECK(ir::no_scope("global3").empty());
  CHECK(ir::no_scope("").find("there is no storage scope \"\"") == 0);
  CHECK(ir::no_scope("texture.global").find("choose global") != std::string::npos);
}

TEST_CASE(
    "storage_scope: threads of a block share what is shared, of a warp along x, blocks nothing") {
  CHECK(ir::shared_across("global", "blockIdx.x"));
  CHECK_FALSE(ir::shared_across("shared", "blockIdx.x"));
  CHECK(ir::shared_across("shared", "threadIdx.y"));
  CHECK(ir::shared_across("shared.dyn", "vthread"));
  CHECK(ir::shared_across("warp", "threadIdx.x"));
  CHECK_FALSE(ir::shared_across("warp", "threadIdx.y"));
  CHECK_FALSE(ir::shared_across("local", "threadIdx.x"));
  CHECK_FALSE(ir::shared_across("wmma.accumulator", "threadIdx.x"));
}

TEST_CASE("storage_scope: loops that no thread axis is bound to run in one thread") {
  const ir::var i = ir::make_var("i");
  const auto loop = [&](ir::loop_kind kind, const char* tag) {
    return ir::make_loop(i, 0, 4, ir::make_evaluate(0), kind, {}, tag);
  };
  CHECK(ir::shared_across("shared",
                          *ir::as_loop(loop(ir::loop_kind::thread_binding, "threadIdx.x"))));
  CHECK_FALSE(ir::shared_across("global", *ir::as_loop(loop(ir::loop_kind::parallel, ""))));
}
