#include <tilewright/target/tensor_box.hpp>

#include <string>

#include <doctest/doctest.h>

using namespace tilewright;

namespace {

/// 128 columns of 64 rows of f16, of which 64 x 32 are copied.
target::tensor_box box() { return {dtype::f16, {128, 64}, {256}, {64, 32}, 128}; }

void check_refused(const target::tensor_box& b, const std::string& what) {
  CHECK_MESSAGE(b.why_not().find(what) != std::string::npos, b.why_not());
}

}  // namespace

TEST_CASE("a box that the copy engine takes, its bytes and where it may lie") {
  CHECK(box().why_not() == "");
  CHECK(box().bytes_of_box() == 64 * 32 * 2);
  CHECK(box().alignment() == 1024);
  target::tensor_box plain = box();
  plain.swizzle = 0;
  CHECK(plain.why_not() == "");
  CHECK(plain.alignment() == 128);
}

TEST_CASE("each rule of the copy engine is told when it is broken") {
  target::tensor_box b = box();
  b.extents = {2, 2, 2, 2, 2, 2};
  check_refused(b, "rule 1");
  b = box();
  b.box = {64};
  check_refused(b, "rule 1");
  b = box();
  b.type = dtype::boolean;
  check_refused(b, "rule 2");
  b = box();
  b.strides = {250};
  check_refused(b, "a stride of 250 bytes in dimension 1 from the innermost one on");
  b = box();
  b.strides = {std::int64_t{1} << 40};
  check_refused(b, "rule 3");
  b = box();
  b.box = {64, 257};
  check_refused(b, "a side of 257 elements");
  b = box();
  b.extents = {128, 0};
  check_refused(b, "rule 4");
  b = box();
  b.box = {60, 32};
  check_refused(b, "rows of 120 bytes");
  b = box();
  b.box = {32, 32};  // of 64 bytes, swizzled over 128
  check_refused(b, "rule 5");
  b = box();
  b.box = {24, 32};
  b.swizzle = 48;
  check_refused(b, "swizzled over 48 bytes");
}
