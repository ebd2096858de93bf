#include <tilewright/support/dtype.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace tilewright;

static_assert(name(dtype::f32) == "float32");
static_assert(dtype_from_name("int8") == dtype::i8);
static_assert(dtype_from_name("uint1") == dtype::boolean);

TEST_CASE("every type has a name of its own, which gives the type back") {
  std::set<std::string> names;
  std::size_t count = 0;
  const auto check = [&](dtype t) {
    const std::string spelled(name(t));
    REQUIRE(dtype_from_name(spelled) == t);
    names.insert(spelled);
    ++count;
  };
  for (dtype t : all_dtypes) check(t);
  for (int width = 1; width < 64; ++width)
    for (bool is_unsigned : {false, true}) {
      const bool known = width == 8 || width == 16 || width == 32 || (width == 1 && is_unsigned);
      if (!known) check(integer_type(width, is_unsigned));
    }
  for (const auto& f : detail::dtypes::narrow_floats) check(*dtype_from_name(f.name));
  for (const char* scalar : {"bool", "int4", "uint8", "float16", "float8_e4m3b11fnuz"})
    for (int lanes : {2, 3, 4, 16, 65536}) {
      check(vector_type(*dtype_from_name(scalar), lanes));
      check(vector_type(*dtype_from_name(scalar), lanes, true));
    }
  CHECK(names.size() == count);
}

TEST_CASE("what is no type has none") {
  for (const char* text : {"", "int", "int0", "int65", "uint65", "int08", "float8", "float32x",
                           "x4", "float32x0", "float32x65537", "float32xvscalex0", "xvscalex4",
                           "int4x4x4", "handle", "float32x-1", "int4 "})
    CHECK_MESSAGE(!dtype_from_name(text), text);
}

TEST_CASE("kinds, widths and bytes") {
  const dtype i4 = integer_type(4, false), u12 = integer_type(12, true);
  CHECK(integer_type(32, false) == dtype::i32);
  CHECK(is_integer(i4));
  CHECK(is_signed_integer(i4));
  CHECK(is_unsigned(u12));
  CHECK(bits(i4) == 4);
  CHECK(bytes(i4) == 1);
  CHECK(bytes(u12) == 2);
  CHECK(bytes(integer_type(33, false)) == 8);
  CHECK(stored_as(i4) == dtype::i8);
  CHECK(stored_as(u12) == dtype::u16);
  const dtype f8 = *dtype_from_name("float8_e5m2"), f4 = *dtype_from_name("float4_e2m1fn");
  CHECK(is_float(f8));
  CHECK(bits(f4) == 4);
  CHECK(bytes(f4) == 1);
  CHECK(stored_as(f8) == dtype::u8);
  const dtype v = vector_type(dtype::f16, 8);
  CHECK(is_float(v));
  CHECK(is_vector(v));
  CHECK(lanes(v) == 8);
  CHECK(element_of(v) == dtype::f16);
  CHECK(bits(v) == 16);
  CHECK(bytes(v) == 16);
  CHECK(with_lanes(dtype::boolean, v) == vector_type(dtype::boolean, 8));
  CHECK(vector_type(dtype::f16, 1) == dtype::f16);
}
