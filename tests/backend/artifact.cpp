#include <tilewright/backend/artifact.hpp>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

using namespace tilewright;
using namespace tilewright::backend;

namespace {

artifact sample() {
  artifact a;
  for (int i = 0; i < 300; ++i) a.object.push_back(static_cast<std::byte>(i * 31));
  a.symbol = "tilewright_main";
  a.isa = "x86-64:+avx:256";
  a.workspace_bytes = 12345;
  return a;
}

/// With code that fills the buffers of bound weights.
artifact pair() {
  artifact a = sample();
  a.packed_bytes = {640, 0, 1 << 20};
  a.preparation.push_back(sample());
  a.preparation[0].symbol = "tilewright_main_weights";
  return a;
}

/// A GPU image of two kernels.
artifact device() {
  artifact a = sample();
  a.symbol.clear();
  a.isa = "nvidia:sm_90a";
  launch first;
  first.symbol = "main_kernel0";
  first.grid = {128, 2, 1};
  first.block = {32, 8, 1};
  first.shared_bytes = 49152;
  first.registers = 128;
  using kind = launch_argument::kind;
  first.arguments = {{kind::buffer, 8, 0}, {kind::scalar, 4, 2}, {kind::stride, 8, 1}};
  launch second = first;
  second.symbol = "main_kernel1";
  second.spilled_bytes = 16;
  second.arguments.push_back({kind::workspace, 8, 4096});
  a.launches = {first, second};
  return a;
}

/// The same whose second kernel copies boxes of a parameter and of the workspace.
artifact mapped() {
  artifact a = device();
  launch& l = a.launches[1];
  using kind = launch_argument::kind;
  l.tensor_maps = {{kind::buffer, 1, {dtype::f16, {4096, 128}, {8192}, {64, 128}, 128}},
                   {kind::workspace, 512, {dtype::f32, {64}, {}, {32}, 0}}};
  l.arguments.push_back({kind::tensor_map, 8, 1});
  l.arguments.push_back({kind::tensor_map, 8, 0});
  return a;
}

}  // namespace

TEST_CASE("an artifact comes back from its bytes") {
  const std::vector<std::byte> bytes = serialize(sample());
  CHECK(deserialize(bytes.data(), bytes.size()) == sample());
  const std::vector<std::byte> both = serialize(pair());
  CHECK(deserialize(both.data(), both.size()) == pair());
  CHECK(!(pair() == sample()));
  const std::vector<std::byte> kernels = serialize(device());
  CHECK(deserialize(kernels.data(), kernels.size()) == device());
  CHECK(!(device() == sample()));
  const std::vector<std::byte> boxes = serialize(mapped());
  CHECK(deserialize(boxes.data(), boxes.size()) == mapped());
  CHECK(!(mapped() == device()));
  const std::vector<std::byte> empty = serialize(artifact{});
  CHECK(deserialize(empty.data(), empty.size()) == artifact{});
}

TEST_CASE("every changed byte and every other length is refused") {
  for (const artifact& a : {sample(), pair(), device(), mapped()}) {
    const std::vector<std::byte> good = serialize(a);
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::vector<std::byte> bad = good;
      bad[i] ^= std::byte{0x10};
      CHECK_THROWS_AS(deserialize(bad.data(), bad.size()), build_error);
    }
    for (std::size_t size = 0; size < good.size(); ++size)
      CHECK_THROWS_AS(deserialize(good.data(), size), build_error);
    std::vector<std::byte> longer = good;
    longer.push_back(std::byte{0});
    CHECK_THROWS_AS(deserialize(longer.data(), longer.size()), build_error);
  }
}

TEST_CASE("launches that a call could not follow are refused") {
  const auto refused = [](auto change) {
    artifact a = mapped();
    change(a.launches[1]);
    const std::vector<std::byte> bytes = serialize(a);
    CHECK_THROWS_AS(deserialize(bytes.data(), bytes.size()), build_error);
  };
  refused([](launch& l) { l.grid[1] = 0; });
  refused([](launch& l) { l.block[0] = 0x80000000u; });
  refused([](launch& l) { l.shared_bytes = -1; });
  refused([](launch& l) { l.arguments[0].bytes = 3; });
  refused([](launch& l) { l.arguments[0].index = -1; });
  refused([](launch& l) { l.arguments[3].index = 12346; });
  refused([](launch& l) { l.arguments[4].index = 2; });
  refused([](launch& l) { l.tensor_maps.clear(); });
  refused([](launch& l) { l.tensor_maps[0].from = launch_argument::kind::scalar; });
  refused([](launch& l) { l.tensor_maps[0].from = launch_argument::kind::tensor_map; });
  refused([](launch& l) { l.tensor_maps[0].index = -1; });
  refused([](launch& l) { l.tensor_maps[1].index = 12346; });
  refused([](launch& l) { l.tensor_maps[0].what.strides = {8200}; });
  refused([](launch& l) { l.tensor_maps[0].what.box = {64, 257}; });
  refused([](launch& l) { l.tensor_maps[0].what.swizzle = 64; });
  refused([](launch& l) { l.tensor_maps[0].what.type = dtype::handle; });
}

TEST_CASE("artifacts that differ in one thing are not equal") {
  artifact all = pair();
  all.launches = device().launches;
  CHECK(all == artifact(all));
  const auto differs = [&](auto change) {
    artifact other = all;
    change(other);
    CHECK_FALSE(other == all);
  };
  differs([](artifact& a) { a.object.back() = std::byte{1}; });
  differs([](artifact& a) { a.symbol += "x"; });
  differs([](artifact& a) { ++a.workspace_bytes; });
  differs([](artifact& a) { a.isa += "x"; });
  differs([](artifact& a) { ++a.packed_bytes[1]; });
  differs([](artifact& a) { a.preparation[0].symbol += "x"; });
  differs([](artifact& a) { a.launches.pop_back(); });
  differs([](artifact& a) { a.launches[1].symbol += "x"; });
  differs([](artifact& a) { ++a.launches[1].grid[2]; });
  differs([](artifact& a) { ++a.launches[1].block[2]; });
  differs([](artifact& a) { ++a.launches[1].cluster[2]; });
  differs([](artifact& a) { ++a.launches[1].shared_bytes; });
  differs([](artifact& a) { ++a.launches[1].arguments[0].index; });
  differs([](artifact& a) { ++a.launches[1].registers; });
  differs([](artifact& a) { ++a.launches[1].spilled_bytes; });
  differs([](artifact& a) { a.launches[1].tensor_maps.resize(1); });
}
