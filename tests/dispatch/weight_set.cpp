// Bound weights are copies; equal ones of one place are shared.
#include <doctest/doctest.h>

#include <vector>

#include <tilewright/dispatch/weight_set.hpp>

using namespace tilewright;
using dispatch::weight_set;

namespace {

/// A kernel with one weight of 64 x 32.
dispatch::kernel_signature kernel_of_one() {
  dispatch::kernel_signature out;
  out.name = "one";
  dispatch::parameter_signature p;
  p.name = "W";
  p.dims = {{"R", 64}, {"C", 32}};
  out.params = {p};
  return out;
}

const void* bound(weight_set& to, const std::vector<float>& data,
                  const std::vector<std::int64_t>& strides) {
  const std::int64_t extents[] = {64, 32};
  to.add(kernel_of_one(), 0, {const_cast<float*>(data.data()), extents, strides.data()});
  return to.data(1).at(0);
}

}  // namespace

TEST_CASE("weight_set: who binds the same elements again shares their copy") {
  std::vector<float> data(64 * 32);
  for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<float>(k);
  weight_set a, b;
  const void* first = bound(a, data, {32, 1});
  CHECK(first != data.data());
  CHECK(bound(b, data, {32, 1}) == first);
}

TEST_CASE("weight_set: a copy stays as it is when the elements change, and is made anew then") {
  std::vector<float> data(64 * 32, 1.0f);
  weight_set a, b, c;
  const void* first = bound(a, data, {32, 1});
  data.back() = 2;
  const void* second = bound(b, data, {32, 1});
  CHECK(second != first);
  CHECK(static_cast<const float*>(first)[64 * 32 - 1] == 1);
  CHECK(static_cast<const float*>(second)[64 * 32 - 1] == 2);
  CHECK(bound(c, data, {32, 1}) == second);
}

TEST_CASE("weight_set: other strides are other elements") {
  std::vector<float> data(64 * 32);
  for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<float>(k);
  weight_set a, b;
  const void* rows = bound(a, data, {32, 1});
  const void* columns = bound(b, data, {1, 64});
  CHECK(rows != columns);
  CHECK(static_cast<const float*>(columns)[1] == 64);
}
