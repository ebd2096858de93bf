#include <tilewright/interop/dlpack.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/tuned.hpp>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif

using namespace tilewright;

namespace {

int given_back = 0;

/// A tensor of 2 x 3 floats as another framework hands it over.
struct theirs {
  std::array<float, 8> data{0, 1, 2, 3, 4, 5, 6, 7};
  std::int64_t shape[2] = {2, 3};
  dlpack::managed_tensor managed{{data.data(), {1, 0}, 2, {2, 32, 1}, shape, nullptr, 0},
                                 nullptr,
                                 [](dlpack::managed_tensor*) { ++given_back; }};
};

template <class T, std::size_t Rank>
void check_refused(const theirs& t, const std::string& text) {
  const int before = given_back;
  dlpack::managed_tensor copy = t.managed;
  CHECK_THROWS_WITH_AS((dlpack_array<T, Rank>(&copy)), doctest::Contains(text.c_str()),
                       argument_error);
  CHECK(given_back == before + 1);
}

constexpr auto twice = kernel<"twice">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
  using axes::i, axes::j;
  return Y(i, j) = X(i, j) + X(i, j);
});

}  // namespace

TEST_CASE("a tensor is taken over, and given back when its last copy ends") {
  theirs t;
  const int before = given_back;
  {
    const dlpack_array<float, 2> first(&t.managed);
    const dlpack_array<float, 2> second = first;
    CHECK(second.extents() == std::array<std::int64_t, 2>{2, 3});
    CHECK_FALSE(second.lies_on_device());
    const strided_view<float, 2> v = second.on_host();
    CHECK(v.data == t.data.data());
    CHECK(v.strides == std::array<std::int64_t, 2>{3, 1});
    CHECK(given_back == before);
  }
  CHECK(given_back == before + 1);
}

TEST_CASE("strides, offsets, and frameworks that give no deleter") {
  theirs t;
  std::int64_t strides[] = {1, 2};
  t.managed.dl_tensor.strides = strides;
  t.managed.dl_tensor.byte_offset = 4;
  t.managed.deleter = nullptr;
  const dlpack_array<const float, 2> a(&t.managed);
  CHECK(a.on_host().data == t.data.data() + 1);
  CHECK(a.on_host().strides == std::array<std::int64_t, 2>{1, 2});
}

TEST_CASE("a call on the host takes tensors of another framework") {
  theirs x, y;
  const dlpack_array<const float, 2> in(&x.managed);
  const dlpack_array<float, 2> out(&y.managed);
  tuned_options o;
  o.mode = mode::off;
  o.database = ":memory:";
  const tuned op{twice, o};
  op(in.on_host(), out.on_host());
  for (std::size_t i = 0; i < 6; ++i) CHECK(y.data[i] == 2 * x.data[i]);
}

TEST_CASE("where it lies decides which calls take it") {
  theirs t;
  t.managed.dl_tensor.device = {2, 3};
  const dlpack_array<float, 2> there(&t.managed);
  CHECK(there.lies_on_device());
  CHECK(there.device() == 3);
  CHECK(there.on_device().elements.data == t.data.data());
  CHECK_THROWS_WITH_AS(
      there.on_host(),
      doctest::Contains("lies on CUDA device 3; move it to the host, or take on_device()"),
      argument_error);
  theirs u;
  const dlpack_array<float, 2> here(&u.managed);
  CHECK_THROWS_WITH_AS(here.on_device(),
                       doctest::Contains("lies on the host; move it to the GPU, or take on_host()"),
                       argument_error);
  theirs managed;
  managed.managed.dl_tensor.device.device_type = 13;  // both may touch it
  const dlpack_array<float, 2> both(&managed.managed);
  CHECK(both.on_device().elements.data == both.on_host().data);
}

TEST_CASE("what does not fit is refused with what it is, and given back") {
  theirs t;
  check_refused<double, 2>(t, "has elements of type float32, and float64 is needed; convert it");
  check_refused<bfloat16, 2>(t, "float32, and bfloat16 is needed");
  check_refused<bool, 2>(t, "float32, and bool8 is needed");
  check_refused<std::uint8_t, 2>(t, "float32, and uint8 is needed");
  check_refused<float, 3>(t, "has 2 dimensions, and 3 are needed; reshape it");
  t.managed.dl_tensor.dtype.lanes = 4;
  check_refused<float, 2>(t, "has elements of type float32x4");
  t.managed.dl_tensor.dtype.lanes = 1;
  t.managed.dl_tensor.device.device_type = 10;
  check_refused<float, 2>(t, "lies on a device of type 10; the host (1) and CUDA (2, 3, 13)");
  t.managed.dl_tensor.device.device_type = 1;
  t.shape[1] = -1;
  check_refused<float, 2>(t, "has extent -1 in dimension 1");
  CHECK_THROWS_WITH_AS((dlpack_array<float, 2>(static_cast<dlpack::managed_tensor*>(nullptr))),
                       doctest::Contains("is a null pointer"), argument_error);
}

TEST_CASE("tensors with a version: their interface, and whether they may be written") {
  theirs t;
  dlpack::managed_tensor_versioned v{{1, 3}, nullptr, nullptr, 1, t.managed.dl_tensor};
  CHECK_THROWS_WITH_AS(
      (dlpack_array<float, 2>(&v)),
      doctest::Contains("may only be read; take it as dlpack_array<const T, Rank>"),
      argument_error);
  CHECK(dlpack_array<const float, 2>(&v).extents()[0] == 2);
  v.version.major = 2;
  CHECK_THROWS_WITH_AS((dlpack_array<const float, 2>(&v)),
                       doctest::Contains("has interface version 2"), argument_error);
}

#ifdef DLPACK_MAJOR_VERSION
TEST_CASE("the structures are those of DLPack's header") {
  const auto same = [](std::size_t mine, std::size_t other) { CHECK(mine == other); };
  same(sizeof(dlpack::tensor), sizeof(DLTensor));
  same(offsetof(dlpack::tensor, device), offsetof(DLTensor, device));
  same(offsetof(dlpack::tensor, ndim), offsetof(DLTensor, ndim));
  same(offsetof(dlpack::tensor, dtype), offsetof(DLTensor, dtype));
  same(offsetof(dlpack::tensor, shape), offsetof(DLTensor, shape));
  same(offsetof(dlpack::tensor, strides), offsetof(DLTensor, strides));
  same(offsetof(dlpack::tensor, byte_offset), offsetof(DLTensor, byte_offset));
  same(sizeof(dlpack::managed_tensor), sizeof(DLManagedTensor));
  same(offsetof(dlpack::managed_tensor, deleter), offsetof(DLManagedTensor, deleter));
  same(sizeof(dlpack::managed_tensor_versioned), sizeof(DLManagedTensorVersioned));
  same(offsetof(dlpack::managed_tensor_versioned, flags),
       offsetof(DLManagedTensorVersioned, flags));
  same(offsetof(dlpack::managed_tensor_versioned, dl_tensor),
       offsetof(DLManagedTensorVersioned, dl_tensor));
}

TEST_CASE("a tensor of DLPack's header is taken as it is") {
  theirs t;
  DLManagedTensor managed{};
  managed.dl_tensor.data = t.data.data();
  managed.dl_tensor.device = {kDLCPU, 0};
  managed.dl_tensor.ndim = 2;
  managed.dl_tensor.dtype = {kDLFloat, 32, 1};
  managed.dl_tensor.shape = t.shape;
  CHECK(dlpack_array<float, 2>(&managed).on_host().data == t.data.data());
}
#endif
