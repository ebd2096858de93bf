#include <tilewright/schedule/tvm_refusals.hpp>

#include <thread>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("tvm_refusals: hold while the object lives, on its thread, and nest") {
  CHECK_FALSE(primitive::as_tvm());
  {
    const primitive::tvm_refusals outer;
    CHECK(primitive::as_tvm());
    {
      const primitive::tvm_refusals inner(false);
      CHECK_FALSE(primitive::as_tvm());
    }
    CHECK(primitive::as_tvm());
    bool other = true;
    std::thread([&] { other = primitive::as_tvm(); }).join();
    CHECK_FALSE(other);
  }
  CHECK_FALSE(primitive::as_tvm());
}
