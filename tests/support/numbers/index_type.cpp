#include <tilewright/support/numbers/index_type.hpp>

#include <algorithm>
#include <iterator>

#include <doctest/doctest.h>

using namespace tilewright;

static_assert(is_index(dtype::i32) && is_index(dtype::i64));
static_assert(!is_index(dtype::u32) && !is_index(dtype::u64) && !is_index(dtype::i16));

TEST_CASE("two types are those of indices") {
  CHECK(std::count_if(std::begin(all_dtypes), std::end(all_dtypes), is_index) == 2);
}
