#include <tilewright/intrin/intrinsic.hpp>

#include <algorithm>

#include <doctest/doctest.h>
#include <tilewright/intrin/library.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

constexpr const char* description = R"(@T.prim_func
def desc(A: T.Buffer((2, 4), "float32"), B: T.Buffer((2, 4), "float32")):
    with T.block("root"):
        T.reads(A[0:2, 0:4])
        T.writes(B[0:2, 0:4])
        for i, j in T.grid(2, 4):
            with T.block("twice"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
)";

std::string implementation(const std::string& value, const std::string& type = "float32") {
  return "@T.prim_func\ndef impl(A: T.Buffer((2, 4), \"" + type + "\"), B: T.Buffer((2, 4), \"" +
         type + R"(")):
    with T.block("root"):
        T.reads(A[0:2, 0:4])
        T.writes(B[0:2, 0:4])
        for i in T.unroll(2):
            for j in T.vectorized(4):
                B[i, j] = )" +
         value + "\n";
}

intrin::intrinsic twice(const std::string& value, const std::string& type = "float32") {
  return {"test_twice", ir::parse(description), ir::parse(implementation(value, type)), nullptr};
}

std::string refusal(const intrin::intrinsic& i) {
  try {
    intrin::add(i);
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("intrinsic: all of the library compute what they say") {
  CHECK(intrin::library().size() >= 16);
  for (const intrin::library_entry& e : intrin::library()) {
    INFO(std::string(e.name));
    intrin::intrinsic i = e.make();
    CHECK(i.name == e.name);
    i.name += "_checked";
    CHECK_NOTHROW(intrin::add(i));
    intrin::remove(i.name);
    CHECK_FALSE(intrin::find(i.name));
    CHECK(intrin::find(e.name));
  }
}

TEST_CASE("intrinsic: a user's is a value; a wrong one is refused with the element that differs") {
  CHECK_FALSE(intrin::find("test_twice"));
  CHECK(refusal(twice("A[i, j] + A[i, j]")).empty());
  REQUIRE(intrin::find("test_twice"));
  CHECK(intrin::find("test_twice")->name == "test_twice");
  const auto names = intrin::names();
  CHECK(std::count(names.begin(), names.end(), "test_twice") == 1);
  intrin::remove("test_twice");

  const std::string wrong = refusal(twice("T.if_then_else(j < 3, A[i, j] + A[i, j], A[i, j])"));
  CHECK(wrong.find("another B[0, 3] than the description (requirement 5)") != std::string::npos);
  CHECK_FALSE(intrin::find("test_twice"));
}

TEST_CASE("intrinsic: forms that are refused") {
  CHECK(refusal(twice("A[i, j] + A[i, j]", "int32")).find("(requirement 3)") != std::string::npos);
  intrin::intrinsic i = twice("A[i, j] + A[i, j]");
  i.name.clear();
  CHECK(refusal(i).find("(requirement 1)") != std::string::npos);
  i = twice("A[i, j] + A[i, j]");
  i.implementation.params.pop_back();
  CHECK(refusal(i).find("(requirement 2)") != std::string::npos);
  i = twice("A[i, j] + A[i, j]");
  i.implementation = ir::parse(R"(@T.prim_func
def impl(A: T.Buffer((2, 4), "float32"), B: T.Buffer((2, 4), "float32")):
    with T.block("root"):
        T.reads()
        T.writes(B[0:2, 0:4])
        for i, j in T.grid(2, 4):
            B[i, j] = T.float32(0)
)");
  CHECK(refusal(i).find("(requirement 4)") != std::string::npos);
}

TEST_CASE("intrinsic: what the interpreter does not know is added unchecked only") {
  intrin::intrinsic i = twice("T.call_extern(\"float32\", \"some_assembly\", A[i, j])");
  CHECK(refusal(i).find("it cannot be checked") != std::string::npos);
  CHECK_NOTHROW(intrin::add_unchecked(i));
  CHECK(intrin::find("test_twice"));
  intrin::remove("test_twice");
}

TEST_CASE("intrinsic: a dot product of bytes that adds pairs in 16 bits is refused") {
  const auto script = [](const std::string& update) {
    return ir::parse(R"(@T.prim_func
def dot(A: T.Buffer((4,), "uint8"), B: T.Buffer((4,), "int8"), C: T.Buffer((1,), "int32")):
    with T.block("root"):
        T.reads(C[0:1], A[0:4], B[0:4])
        T.writes(C[0:1])
)" + update);
  };
  const auto product = [](const std::string& type, const std::string& k) {
    return "T.cast(A[" + k + "], \"" + type + "\") * T.cast(B[" + k + "], \"" + type + "\")";
  };
  const ir::function what = script(R"(        for k in range(4):
            with T.block("update"):
                vk = T.axis.remap("R", [k])
                C[0] = C[0] + )" + product("int32", "vk") +
                                   "\n");
  const auto pairs = [&](const std::string& type, const std::string& from, const std::string& to) {
    return script("        for k in T.unroll(2):\n            C[0] = C[0] + T.cast(" + from +
                  product(type, "k * 2") + " + " + product(type, "k * 2 + 1") + to +
                  ", \"int32\")\n");
  };
  CHECK(refusal({"test_dot", what, pairs("int32", "", ""), nullptr}).empty());
  intrin::remove("test_dot");
  for (const ir::function& wrong :
       {pairs("int16", "", ""), pairs("int32", "T.max(T.min(", ", 32767), -32768)")})
    CHECK(refusal({"test_dot", what, wrong, nullptr}).find("another C[0] than") !=
          std::string::npos);
}
