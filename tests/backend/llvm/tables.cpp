// Elements of short rows at computed places, which are looked up in registers (impl/backend/llvm/lanes/table_parts.hpp).
#include <tilewright/backend/compile.hpp>

#include "../harness.hpp"

using namespace harness;

namespace {

/// Y[p, l] = T[p, (I[p, l] + 1) % elements] for some lanes.
function lookup(dtype t, std::int64_t elements, int lanes) {
  const buffer table = make_buffer("T", t, {2, elements}),
               places = make_buffer("I", dtype::i32, {2, lanes}),
               y = make_buffer("Y", t, {2, lanes});
  const var p = make_var("p"), l = make_var("l");
  const expr at = floormod(cast(dtype::i64, load(places, {p, l})) + 1, elements);
  return make("lookup", {table, places, y},
              make_loop(p, 0, 2,
                        make_loop(l, 0, lanes, make_store(y, {p, l}, load(table, {p, at})),
                                  loop_kind::vectorized)));
}

/// Y[l] = T[A[l]] for bytes A: a table of whatever has 256 elements.
function of_bytes(dtype t, std::int64_t lanes) {
  const buffer table = make_buffer("T", t, {256}), a = make_buffer("A", dtype::u8, {4, lanes}),
               y = make_buffer("Y", t, {4, lanes});
  const var u = make_var("u"), l = make_var("l");
  const expr at = cast(dtype::i64, load(a, {u, l}));
  return make("of_bytes", {table, a, y},
              make_loop(u, 0, 4,
                        make_loop(l, 0, lanes, make_store(y, {u, l}, load(table, {at})),
                                  loop_kind::vectorized)));
}

std::string assembly(const function& f, const char* cpu) {
  return backend::inspect(f, target::named(cpu), backend::stage::assembly);
}

}  // namespace

TEST_CASE(
    "elements of short rows at computed places, of all lengths that registers hold and more") {
  for (const dtype t : {dtype::u8, dtype::i32, dtype::f32, dtype::f16})
    for (const std::int64_t elements : {2, 9, 16, 17, 40, 64, 65, 200, 256, 300})
      for (const int lanes : {4, 16, 24, 64}) {
        CAPTURE(std::string(name(t)));
        CAPTURE(elements);
        CAPTURE(lanes);
        check_agrees(lookup(t, elements, lanes));
      }
}

TEST_CASE("tables of 256 elements at places that are bytes") {
  for (const dtype t : {dtype::u8, dtype::i8, dtype::f32})
    for (const std::int64_t lanes : {16, 32, 64, 128}) {
      CAPTURE(std::string(name(t)));
      CAPTURE(lanes);
      check_agrees(of_bytes(t, lanes));
    }
}

TEST_CASE("rows that lanes differ in are no table, however short") {
  for (const dtype t : {dtype::u8, dtype::i32, dtype::f32})
    for (const int lanes : {4, 16, 64}) {
      CAPTURE(std::string(name(t)));
      CAPTURE(lanes);
      const buffer table = make_buffer("T", t, {4, 4}),
                   places = make_buffer("I", dtype::i32, {lanes}), y = make_buffer("Y", t, {lanes});
      const var l = make_var("l");
      const expr g = floormod(cast(dtype::i64, load(places, {l})), 16);
      for (const expr& row : {floordiv(g, 4), expr(3) - floordiv(g, 4), floormod(g, 3)})
        check_agrees(
            make("rows", {table, places, y},
                 make_loop(l, 0, lanes, make_store(y, {l}, load(table, {row, floormod(g, 4)})),
                           loop_kind::vectorized)));
    }
}

TEST_CASE("tables stay in registers where the machine looks them up there") {
  if (!have_compiler()) return;
  const auto has = [](const std::string& text, const char* what) {
    return text.find(what) != std::string::npos;
  };
  const std::string bytes = assembly(of_bytes(dtype::u8, 64), "icelake-server");
  CAPTURE(bytes);
  CHECK((has(bytes, "vpermt2b") || has(bytes, "vpermi2b")));
  CHECK(!has(bytes, "vpinsrb"));
  const std::string code_book = assembly(lookup(dtype::f32, 16, 16), "skylake-avx512");
  CAPTURE(code_book);
  CHECK((has(code_book, "vpermd") || has(code_book, "vpermps")));
  CHECK(!has(code_book, "gather"));
  const std::string few = assembly(lookup(dtype::f32, 8, 8), "haswell");
  CAPTURE(few);
  CHECK((has(few, "vpermd") || has(few, "vpermps")));
  CHECK(!has(assembly(of_bytes(dtype::u8, 64), "skylake-avx512"), "vpermt2b"));  // not its own
}
