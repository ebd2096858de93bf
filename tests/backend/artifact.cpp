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

}  // namespace

TEST_CASE("an artifact comes back from its bytes") {
  const std::vector<std::byte> bytes = serialize(sample());
  CHECK(deserialize(bytes.data(), bytes.size()) == sample());
  const std::vector<std::byte> both = serialize(pair());
  CHECK(deserialize(both.data(), both.size()) == pair());
  CHECK(!(pair() == sample()));
  const std::vector<std::byte> empty = serialize(artifact{});
  CHECK(deserialize(empty.data(), empty.size()) == artifact{});
}

TEST_CASE("every changed byte and every other length is refused") {
  for (const artifact& a : {sample(), pair()}) {
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
