#include <tilewright/ir/key.hpp>

#include <set>

#include <doctest/doctest.h>

#include "programs.hpp"

using namespace tilewright;
using namespace tilewright::ir;

TEST_CASE("keys are the same on every machine and in every build") {
  // A changed value here makes every stored record unreachable: raise the version in key.ipp on
  // purpose.
  CHECK(workload_key(test::matmul(128, 128, 128)).hex() == "03fb4eb552da2777487c75270dc4c282");
  CHECK(workload_key(test::scheduled_matmul_relu()).hex() == "53041442fb9d2a817167d17d7b753e9e");
  CHECK(workload_key(test::symbolic_add()).hex() == "ae470214d0f4861936547bb60d6e312a");
  CHECK(workload_key(test::tiled_view()).hex() == "906949a95bba405b356edd0814eb3776");
}

TEST_CASE("a program built anew has its key, different programs have different ones") {
  std::set<support::hash128> keys;
  const auto once = test::all_programs(), again = test::all_programs();
  for (std::size_t i = 0; i < once.size(); ++i) {
    keys.insert(workload_key(once[i].second));
    CHECK(workload_key(once[i].second) == workload_key(again[i].second));
  }
  CHECK(keys.size() == once.size());
}

TEST_CASE("the keys of before, in which block names count, are what they were") {
  const function f = test::matmul(128, 128, 128);
  CHECK(named_workload_key(f).hex() == "2bd3aff65e77cff33b28f908c84eb0b1");
  CHECK(named_workload_key(test::tiled_view()).hex() == "b658d5e6a577f82ce82e60a54dec6927");
  CHECK(named_workload_key(f) != named_workload_key(test::matmul(128, 128, 128, dtype::f32, "D")));
  CHECK(has_workload_key(f, workload_key(f).hex()));
  CHECK(has_workload_key(f, named_workload_key(f).hex()));
  CHECK_FALSE(has_workload_key(f, ""));
  CHECK_FALSE(has_workload_key(f, workload_key(test::tiled_view()).hex()));
}

TEST_CASE("names do not count, those of blocks among them") {
  const function a = test::matmul(8, 8, 8);
  CHECK(workload_key(a) == workload_key(test::matmul(8, 8, 8, dtype::f32, "D")));
  function renamed = a;
  renamed.name = "other";
  const buffer x = make_buffer("X", dtype::f32, {8, 8});
  renamed.body = replace_buffers(renamed.body, {{renamed.params[0].buffer, x}});
  renamed.params[0].buffer = x;
  CHECK(workload_key(a) == workload_key(renamed));
}

TEST_CASE("types and extents count") {
  const support::hash128 base = workload_key(test::matmul(8, 8, 8));
  CHECK(base != workload_key(test::matmul(8, 8, 16)));
  CHECK(base != workload_key(test::matmul(8, 8, 8, dtype::f16)));
  function attributed = test::matmul(8, 8, 8);
  attributed.attrs["a"] = 1;
  CHECK(base != workload_key(attributed));
}
