#include <tilewright/dispatch/overlap.hpp>

#include <tilewright/support/random.hpp>

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

using namespace tilewright;
using namespace tilewright::dispatch;

namespace {

struct tensor {
  std::vector<std::int64_t> extents, strides;
  std::int64_t at;  // bytes
  std::int64_t element_bytes;

  strided_memory memory(const std::byte* base) const {
    return {base + at, extents.data(), strides.data(), extents.size(), element_bytes};
  }
  std::set<std::int64_t> bytes() const {
    std::set<std::int64_t> out;
    add(0, at, out);
    return out;
  }
  void add(std::size_t d, std::int64_t from, std::set<std::int64_t>& out) const {
    if (d == extents.size())
      for (std::int64_t k = 0; k < element_bytes; ++k) out.insert(from + k);
    else
      for (std::int64_t i = 0; i < extents[d]; ++i)
        add(d + 1, from + i * strides[d] * element_bytes, out);
  }
};

bool share(const tensor& a, const tensor& b) {
  for (const std::int64_t byte : a.bytes())
    if (b.bytes().count(byte)) return true;
  return false;
}

std::byte memory[1];  // nothing is read

}  // namespace

TEST_CASE("blocks and columns of one matrix lie between each other") {
  const auto together = [](const tensor& a, const tensor& b) {
    return share_memory(a.memory(memory), b.memory(memory));
  };
  const tensor left{{12, 8}, {40, 1}, 0, 4}, right{{12, 8}, {40, 1}, 32, 4};
  CHECK_FALSE(together(left, right));
  const tensor shifted{{12, 8}, {40, 1}, 28, 4};
  CHECK(together(left, shifted));
  const tensor even{{100}, {2}, 0, 8}, odd{{100}, {2}, 8, 8}, backwards{{100}, {-2}, 199 * 8, 8};
  CHECK_FALSE(together(even, odd));
  CHECK_FALSE(together(even, backwards));
  CHECK(together(odd, backwards));
  CHECK(together(even, even));
}

TEST_CASE("the answer is that of all bytes") {
  support::random random(11);
  int shared = 0, apart = 0;
  for (int n = 0; n < 4000; ++n) {
    std::array<tensor, 2> both;
    for (tensor& t : both) {
      t.element_bytes = std::int64_t{1} << random.below(3);
      t.at = static_cast<std::int64_t>(random.below(160)) * t.element_bytes;
      for (std::size_t d = 0, rank = random.below(4); d < rank; ++d) {
        t.extents.push_back(1 + static_cast<std::int64_t>(random.below(5)));
        t.strides.push_back(static_cast<std::int64_t>(random.below(41)) - 20);
      }
    }
    const bool wanted = share(both[0], both[1]);
    ++(wanted ? shared : apart);
    CHECK(share_memory(both[0].memory(memory), both[1].memory(memory)) == wanted);
  }
  CHECK(shared > 300);
  CHECK(apart > 300);
}

TEST_CASE(
    "dense tensors of any rank are told apart at once, and a search without end is not begun") {
  tensor a{{30, 30, 30, 30}, {2 * 30 * 30 * 30, 2 * 30 * 30, 2 * 30, 2}, 0, 4}, b = a;
  b.at = 4;
  CHECK_FALSE(share_memory(a.memory(memory), b.memory(memory)));
  // even steps, an odd distance: apart, which takes long to find out
  a.strides = {100004, 99992, 99988, 99972};
  b.strides = {99962, 99930, 99924, 99908};
  CHECK(share_memory(a.memory(memory), b.memory(memory)));
}
