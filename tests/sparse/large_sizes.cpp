// Sizes beyond 2^31 elements: of the dense operand, of what is stored, and of the coordinates. Address space is
// reserved for all of it, and memory is taken for the few pages that are touched.
#include <doctest/doctest.h>

#include <sys/mman.h>

#include <cstdint>
#include <tilewright/expr/reify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <vector>

#include "random_schedule.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

template <dim Columns>
constexpr auto product = kernel<"product">([](in<"A", float, "M", Columns> A,
                                              in<"B", float, "K", "N"> B,
                                              out<"C", float, "M", "N"> C) {
  return C(i, j) = sum<k>(A(i, k) * B(k, j));
});

/// Zeros that take no memory until they are written.
template <class T>
class reserved {
 public:
  explicit reserved(std::int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = at == MAP_FAILED ? nullptr : static_cast<T*>(at);
  }
  reserved(const reserved&) = delete;
  ~reserved() {
    if (data_) ::munmap(data_, bytes_);
  }
  explicit operator bool() const { return data_ != nullptr; }
  T& operator[](std::int64_t at) { return data_[at]; }
  T* data() { return data_; }

 private:
  std::size_t bytes_;
  T* data_;
};

constexpr std::int64_t far = std::int64_t{1} << 32;

/// The product by the interpreter and by machine code, under schedules that are drawn.
void check_product(const any_kernel& kernel, dtype index, std::int64_t columns, std::int64_t wide,
                   std::int64_t places, const std::vector<const void*>& inputs,
                   const std::vector<float>& expected) {
  const auto rows = static_cast<std::int64_t>(expected.size()) / wide;
  const ir::function f = sparse::lower(sparse::with_storage(
      reify(kernel, {{"M", rows}, {"K", columns}, {"N", wide}}), {{"A", places, index}}));
  for (std::uint64_t draw = 0; draw < 3; ++draw)
    random_schedule::check(f, draw, draw, inputs, expected);
}

}  // namespace

TEST_CASE("an operand of 2^32 elements, whose rows are numbered by indices of 32 bits") {
  constexpr std::int64_t wide = 16, columns = far / wide + 1;
  reserved<float> b(columns * wide);
  if (!b) {
    MESSAGE("no address space for 16 GiB: skipped");
    return;
  }
  const std::vector<std::int32_t> offsets{0, 2, 2, 3};
  const std::vector<std::int32_t> indices{5, static_cast<std::int32_t>(columns - 1),
                                          static_cast<std::int32_t>(columns / 2 + 3)};
  const std::vector<float> values{2, 3, 5};
  std::vector<float> expected(3 * wide, 0);
  for (std::int64_t c = 0; c < wide; ++c) {
    const auto at = static_cast<std::size_t>(c);
    for (const std::int32_t row : indices) b[row * wide + c] = static_cast<float>(c + row % 7);
    expected[at] = 2 * b[5 * wide + c] + 3 * b[(columns - 1) * wide + c];
    expected[2 * wide + at] = 5 * b[(columns / 2 + 3) * wide + c];
  }
  check_product(product<compressed<"K">>, dtype::i32, columns, wide, 3,
                {offsets.data(), indices.data(), values.data(), b.data()}, expected);
}

TEST_CASE("rows that lie beyond 2^32 stored elements, and columns beyond 2^32") {
  constexpr std::int64_t places = far + 8, columns = far + 3;
  reserved<std::int64_t> indices(places);
  reserved<float> values(places), b(columns);
  if (!indices || !values || !b) {
    MESSAGE("no address space for 64 GiB: skipped");
    return;
  }
  const std::vector<std::int64_t> offsets{far, far + 2, far + 2, far + 3};
  indices[far] = 1;
  indices[far + 1] = far + 2;
  indices[far + 2] = far;
  values[far] = 2;
  values[far + 1] = 3;
  values[far + 2] = 5;
  b[1] = 7;
  b[far + 2] = 11;
  b[far] = 13;
  check_product(product<compressed<"K", std::int64_t>>, dtype::i64, columns, 1, places,
                {offsets.data(), indices.data(), values.data(), b.data()},
                {2 * 7 + 3 * 11, 0, 5 * 13});
}
