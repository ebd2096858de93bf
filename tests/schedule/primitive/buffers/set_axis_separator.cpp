#include <tilewright/schedule/primitive/buffers/set_axis_separator.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

/// The pair of blocks of TVM's own tests, with separators where they belong.
std::string elementwise(const std::string& of_a, const std::string& of_b) {
  return "@T.prim_func\ndef main(A: T.Buffer((12, 8), \"float32\"" + of_a +
         "), C: T.Buffer((12, 8), \"float32\")):\n    B = T.alloc_buffer((12, 8), \"float32\"" +
         of_b +
         R"()
    for i, j in T.grid(12, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(12, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
)";
}

/// Each block sees a point of B as a buffer without dimensions, and B a row of tiles as one.
std::string with_parts(const std::string& of_b, const std::string& of_point,
                       const std::string& of_tile) {
  return R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((8, 8), "float32")" +
         of_b + R"()
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            point = T.match_buffer(B[vi, vj], (), "float32", offset_factor=1)" +
         of_point + R"()
            point[()] = A[vi, vj] * T.float32(2)
    for i in range(4):
        with T.block("C"):
            vi = T.axis.remap("S", [i])
            T.reads(B[vi * 2:vi * 2 + 2, 0:8])
            T.writes(C[vi * 2:vi * 2 + 2, 0:8])
            tile = T.match_buffer(B[vi * 2:vi * 2 + 2, 0:8], (2, 8), "float32", offset_factor=1)" +
         of_tile + R"()
            for y, x in T.grid(2, 8):
                C[vi * 2 + y, x] = tile[y, x] + T.float32(1)
)";
}

/// A block with blocks inside that allocates a row of its own.
std::string nested(const std::string& of_row) {
  return R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8])
            T.writes(C[vi, 0:8])
            row = T.alloc_buffer((1, 8), "float32")" +
         of_row + R"()
            for j in range(8):
                with T.block("first"):
                    vj = T.axis.spatial(8, j)
                    row[0, vj] = A[vi, vj] * T.float32(2)
            for j in range(8):
                with T.block("second"):
                    vj = T.axis.spatial(8, j)
                    C[vi, vj] = row[0, vj] + T.float32(1)
)";
}

}  // namespace

TEST_CASE("set_axis_separator: what an inner block allocates") {
  const ir::function f = ir::parse(nested(""));
  schedule s(f);
  s.set_axis_separator(s.block("second"), read_buffer(0), {1});
  check_program(s, nested(", axis_separators=[1]"));
  check_meaning(s, f);
}

TEST_CASE("set_axis_separator: an allocated buffer, by index and by name") {
  const ir::function f = ir::parse(elementwise("", ""));
  for (const buffer_selector& b : {written_buffer(0), buffer_selector("B")}) {
    schedule s(f);
    s.set_axis_separator(s.block("B"), b, {1});
    check_program(s, elementwise("", ", axis_separators=[1]"));
    check_meaning(s, f);
  }
  schedule s(f);
  s.set_axis_separator(s.block("C"), read_buffer(0), {0, 1, 1, 2});
  check_program(s, elementwise("", ", axis_separators=[0, 1, 1, 2]"));
  check_meaning(s, f);
}

TEST_CASE("set_axis_separator: a parameter changes its declaration") {
  const ir::function f = ir::parse(elementwise("", ""));
  schedule s(f);
  s.set_axis_separator(s.block("B"), read_buffer(0), {1});
  check_program(s, elementwise(", axis_separators=[1]", ""));
  CHECK(s.function().params[0].buffer == s.get(s.block("B")).block->reads[0].buffer);
  check_meaning(s, f);
}

TEST_CASE("set_axis_separator: the list replaces the one before; the same one changes nothing") {
  const ir::function f = ir::parse(elementwise("", ", axis_separators=[2]"));
  schedule s(f);
  s.set_axis_separator(s.block("B"), written_buffer(0), {2});
  CHECK(s.function().body == f.body);
  s.set_axis_separator(s.block("B"), written_buffer(0), {1});
  check_program(s, elementwise("", ", axis_separators=[1]"));
  s.set_axis_separator(s.block("B"), written_buffer(0));
  check_program(s, elementwise("", ""));
  check_meaning(s, f);
}

TEST_CASE("set_axis_separator: matched parts follow") {
  const ir::function f = ir::parse(with_parts("", "", ""));
  schedule s(f);
  s.set_axis_separator(s.block("B"), written_buffer(0), {1});
  check_program(
      s, with_parts(", axis_separators=[1]", ", axis_separators=[0]", ", axis_separators=[1]"));
  check_meaning(s, f);
}

TEST_CASE("set_axis_separator: as traces print it") {
  const ir::function f = ir::parse(elementwise("", ""));
  schedule s(f);
  s.set_axis_separator(s.block("B"), written_buffer(0), {1});
  CHECK(s.trace().print().find(
            "sch.set_axis_separator(block=b0, buffer=(\"write\", 0), axis_separators=[1])") !=
        std::string::npos);
  CHECK(trace::from_json(s.trace().to_json()) == s.trace());
  CHECK(s.trace().to_json().find("\"SetAxisSeparator\"") != std::string::npos);
}

TEST_CASE("set_axis_separator: refusals") {
  const ir::function f = ir::parse(elementwise("", ""));
  schedule s(f);
  const block_rv b = s.block("B");
  const char* name = "set_axis_separator";
  const auto with = [&](const buffer_selector& which, std::vector<std::int64_t> list) {
    return [&s, b, which, list] { s.set_axis_separator(b, which, list); };
  };
  check_refusal(s, name, 1, with(written_buffer(1), {1}));
  check_refusal(s, name, 1, with(read_buffer(-1), {1}));
  check_refusal(s, name, 1, with(buffer_selector("C"), {1}));
  check_refusal(s, name, 3, with(written_buffer(0), {3}));
  check_refusal(s, name, 3, with(written_buffer(0), {-1}));
  check_refusal(s, name, 3, with(written_buffer(0), {2, 1}));
  const ir::function nested = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(2):
        with T.block("outer"):
            vi = T.axis.remap("S", [i])
            T.reads(A[vi * 4:vi * 4 + 4])
            T.writes(C[vi * 4:vi * 4 + 4])
            part = T.match_buffer(C[vi * 4:vi * 4 + 4], (4,), "float32", offset_factor=1)
            for j in range(4):
                with T.block("inner"):
                    vj = T.axis.remap("S", [j])
                    part[vj] = A[vi * 4 + vj]
)");
  schedule inner(nested);
  const block_rv at = inner.block("inner");
  check_refusal(inner, name, 2, [&] { inner.set_axis_separator(at, written_buffer(0), {1}); });
}
