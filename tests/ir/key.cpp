#include <tilewright/ir/key.hpp>

#include <set>

#include <doctest/doctest.h>

#include "programs.hpp"

using namespace tilewright;
using namespace tilewright::ir;

TEST_CASE("keys are the same on every machine and in every build") {
  // A changed value here makes every stored record unreachable: raise the version in key.ipp on
  // purpose.
  CHECK(workload_key(test::matmul(128, 128, 128)).hex() == "2bd3aff65e77cff33b28f908c84eb0b1");
  CHECK(workload_key(test::scheduled_matmul_relu()).hex() == "42e2811c19b9d68f4615cfde10345676");
  CHECK(workload_key(test::symbolic_add()).hex() == "57c6153f6f981831423c4694e147c181");
  CHECK(workload_key(test::tiled_view()).hex() == "b658d5e6a577f82ce82e60a54dec6927");
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

TEST_CASE("block names count, other names do not") {
  const function a = test::matmul(8, 8, 8);
  CHECK(workload_key(a) != workload_key(test::matmul(8, 8, 8, dtype::f32, "D")));
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
