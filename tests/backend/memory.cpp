// Accesses: strides, gathers, masks, tails, local buffers (impl/backend/llvm/memory.ipp and
// stmt.ipp).
#include "harness.hpp"

using namespace harness;

namespace {

buffer strided(const char* name, dtype t, std::vector<expr> shape, int rank) {
  buffer_node node;
  node.name = name;
  node.type = t;
  node.shape = std::move(shape);
  for (int d = 0; d < rank; ++d)
    node.strides.push_back(make_var(std::string(name) + "_s" + std::to_string(d), dtype::i64));
  return buffer(new buffer_node(node));
}

stmt vector_loop(const var& v, int n, const stmt& body) {
  return make_loop(v, 0, n, body, loop_kind::vectorized);
}

}  // namespace

TEST_CASE("run-time strides: row-major, column-major, padded and reversed") {
  const buffer a = strided("A", dtype::f32, {6, 8}, 2), c = strided("C", dtype::f32, {6, 8}, 2);
  const var i = make_var("i"), j = make_var("j");
  const function f = make(
      "copy", {a, c},
      make_loop(i, 0, 6,
                vector_loop(j, 8, make_store(c, {i, j}, load(a, {i, j}) * real(dtype::f32, 2)))));
  using layout = std::vector<std::int64_t>;
  for (const layout& from : {layout{8, 1}, layout{1, 6}, layout{11, 1}, layout{3, 20}})
    for (const layout& to : {layout{8, 1}, layout{1, 6}, layout{2, 13}}) {
      options o;
      o.strides = {{"A", from}, {"C", to}};
      check_agrees(f, o);
    }
}

TEST_CASE("constant strides in the lane: one, minus one, three, zero") {
  for (dtype t : {dtype::i8, dtype::f16, dtype::f32, dtype::f64}) {
    CAPTURE(std::string(name(t)));
    const buffer x = make_buffer("X", t, {64}), y = make_buffer("Y", t, {64});
    const var v = make_var("v");
    check_agrees(
        make("a", {x, y}, vector_loop(v, 16, make_store(y, {v + 3}, load(x, {expr(15) - v})))));
    check_agrees(
        make("b", {x, y}, vector_loop(v, 16, make_store(y, {v * 3}, load(x, {v * 3 + 1})))));
    check_agrees(
        make("c", {x, y}, vector_loop(v, 16, make_store(y, {expr(20) - v}, load(x, {expr(7)})))));
    check_agrees(make(
        "d", {x, y},
        vector_loop(v, 16, make_store(y, {v}, load(x, {floordiv(v, 4) * 8 + floormod(v, 4)})))));
    check_agrees(make(
        "e", {x, y},
        vector_loop(v, 16, make_store(y, {floormod(v, 4) * 4 + floordiv(v, 4)}, load(x, {v})))));
  }
}

TEST_CASE("columns of a row-major matrix are read as rows and transposed") {
  for (dtype t : {dtype::f32, dtype::i32, dtype::f64, dtype::i16, dtype::i8}) {
    CAPTURE(std::string(name(t)));
    for (int lanes : {2, 4, 8, 16}) {
      const buffer x = make_buffer("X", t, {16, 24}), y = make_buffer("Y", t, {24, 16});
      const var k = make_var("k"), v = make_var("v"), u = make_var("u");
      const auto copy = [&](const expr& column) {
        return vector_loop(v, lanes, make_store(y, {column, v}, load(x, {v, column})));
      };
      check_agrees(make("serial", {x, y}, make_loop(k, 0, 24, copy(k))));
      check_agrees(make("from_two", {x, y}, make_loop(k, 2, 20, copy(k))));
      check_agrees(make("odd", {x, y}, make_loop(k, 0, 23, copy(k))));
      check_agrees(make(
          "shifted", {x, y},
          make_loop(k, 0, 20,
                    vector_loop(v, lanes,
                                make_store(y, {k, v}, load(x, {v, k + 4}) + load(x, {v, k}))))));
      check_agrees(
          make("unrolled", {x, y},
               make_loop(k, 0, 6, make_loop(u, 0, 4, copy(k * 4 + u), loop_kind::unrolled))));
      check_agrees(
          make("downwards", {x, y}, make_loop(u, 0, 8, copy(expr(23) - u), loop_kind::unrolled)));
    }
    const buffer x = strided("X", t, {8, 12}, 2), y = make_buffer("Y", t, {12, 8});
    const var k = make_var("k"), v = make_var("v");
    for (const std::vector<std::int64_t>& strides :
         {std::vector<std::int64_t>{12, 1}, {1, 8}, {31, 2}}) {
      options o;
      o.strides["X"] = strides;
      check_agrees(
          make("strided", {x, y},
               make_loop(k, 0, 12, vector_loop(v, 8, make_store(y, {k, v}, load(x, {v, k}))))),
          o);
    }
    buffer_node half;
    half.name = "X";
    half.type = t;
    half.shape = {8, 12};
    half.strides = {make_var("s0", dtype::i64), expr(std::int64_t{1})};
    const buffer rows(new buffer_node(half));
    options o;
    o.strides["X"] = {17, 1};
    check_agrees(
        make("pitch", {rows, y},
             make_loop(k, 0, 12, vector_loop(v, 8, make_store(y, {k, v}, load(rows, {v, k}))))),
        o);
  }
}

TEST_CASE("rows are read at once and transposed below a loop that two loops are joined to") {
  const buffer x = make_buffer("X", dtype::f32, {32, 3, 24}),
               y = make_buffer("Y", dtype::f32, {3, 24, 32});
  const var j = make_var("j"), k = make_var("k"), u = make_var("u"), v = make_var("v");
  const expr row = floormod(j, 2) * 16 + v, matrix = floordiv(j, 2), column = k * 4 + u;
  const stmt copy =
      vector_loop(v, 16, make_store(y, {matrix, column, row}, load(x, {row, matrix, column})));
  const function f =
      make("joined", {x, y},
           make_loop(j, 0, 6, make_loop(k, 0, 6, make_loop(u, 0, 4, copy, loop_kind::unrolled))));
  check_agrees(f);
  const std::string text =
      backend::inspect(f, target::named("skylake-avx512"), backend::stage::llvm_ir);
  const auto count = [&](const std::string& what) {
    int out = 0;
    for (std::size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++out;
    return out;
  };
  CHECK(count("load <4 x float>") == 16);
  CHECK(count("load float") == 0);
}

TEST_CASE(
    "windows in steps are read whole and shuffled, or as rows, where their taps are written out") {
  for (dtype t : {dtype::f32, dtype::i32, dtype::f64})
    for (const int lanes : {4, 8, 16})
      for (const int step : {2, 3, 4, 5}) {
        CAPTURE(step);
        const buffer x = make_buffer("X", t, {16 * 5 + 4}), y = make_buffer("Y", t, {4, 16});
        const var u = make_var("u"), v = make_var("v");
        const stmt lane =
            vector_loop(v, lanes, make_store(y, {u, v}, load(x, {v * step + expr(u)})));
        check_agrees(make("taps", {x, y}, make_loop(u, 0, 4, lane, loop_kind::unrolled)));
      }
}

TEST_CASE("columns of a matrix that is written are not remembered") {
  const buffer x = make_buffer("X", dtype::f32, {8, 24});
  const var k = make_var("k"), v = make_var("v");
  check_agrees(make(
      "chain", {x},
      make_loop(
          k, 0, 20,
          vector_loop(v, 8, make_store(x, {v, k + 1}, load(x, {v, k}) + real(dtype::f32, 1))))));
}

TEST_CASE("indices that come from a tensor") {
  const buffer table = make_buffer("T", dtype::f32, {23}),
               index = make_buffer("I", dtype::u8, {32}), y = make_buffer("Y", dtype::f32, {32});
  const var o = make_var("o"), v = make_var("v");
  const expr i = o * 8 + v;
  const function f = make(
      "gather", {table, index, y},
      make_loop(o, 0, 4,
                vector_loop(
                    v, 8, make_store(y, {i}, load(table, {cast(dtype::i32, load(index, {i}))})))));
  check_agrees(f);
  const buffer z = make_buffer("Z", dtype::f32, {23});
  check_agrees(make("scatter", {index, y, z},
                    vector_loop(v, 16,
                                make_store(z, {cast(dtype::i32, load(index, {v}))},
                                           load(y, {load(index, {v}) * 0 + 3})))));
}

TEST_CASE("conditions that depend on the lane guard loads and stores") {
  for (dtype t : {dtype::u8, dtype::i16, dtype::f16, dtype::f32, dtype::f64}) {
    CAPTURE(std::string(name(t)));
    const buffer x = make_buffer("X", t, {13}), y = make_buffer("Y", t, {13});
    const var o = make_var("o"), v = make_var("v");
    const expr i = o * 8 + v;
    check_agrees(make(
        "tail", {x, y},
        make_loop(
            o, 0, 2,
            vector_loop(
                v, 8,
                make_if(lt(i, 13), make_store(y, {i}, load(x, {i}) + load(x, {expr(12) - i})))))));
    const expr padded =
        if_then_else(logical_and(ge(i, 2), lt(i, 11)), load(x, {i - 2}), literal(t, 0));
    check_agrees(make("pad", {x, y},
                      make_loop(o, 0, 2,
                                vector_loop(v, 8,
                                            make_if(lt(i, 13), make_store(y, {i}, padded),
                                                    make_store(y, {0}, literal(t, 7)))))));
  }
}

TEST_CASE("scalar conditions guard loads by branching") {
  const buffer x = make_buffer("X", dtype::f32, {8, 8}), y = make_buffer("Y", dtype::f32, {10, 8});
  const var i = make_var("i"), j = make_var("j");
  const expr inside = logical_and(ge(i, 1), lt(i, 9));
  const expr value = if_then_else(inside, load(x, {i - 1, j}), real(dtype::f32, -1));
  check_agrees(make("pad_rows", {x, y},
                    make_loop(i, 0, 10, vector_loop(j, 8, make_store(y, {i, j}, value)))));
  check_agrees(make("pad_rows_scalar", {x, y},
                    make_loop(i, 0, 10, make_loop(j, 0, 8, make_store(y, {i, j}, value)))));
}

TEST_CASE("a division in a lane that is off does not trap") {
  const buffer x = make_buffer("X", dtype::i32, {8}), y = make_buffer("Y", dtype::i32, {8});
  const var v = make_var("v");
  const expr d = load(x, {v});
  options o;
  o.values["X"] = {0, 3, -1, 0, 2, 0, 0, 5};
  check_agrees(
      make("guarded", {x, y},
           vector_loop(v, 8,
                       make_store(y, {v}, if_then_else(ne(d, 0), floordiv(expr(17), d), expr(0))))),
      o);
}

TEST_CASE("local buffers, unrolled tiles and reductions") {
  for (dtype t : {dtype::f32, dtype::f64, dtype::i32}) {
    const buffer a = make_buffer("A", t, {9, 4}), b = make_buffer("B", t, {9, 16}),
                 c = make_buffer("C", t, {4, 16}), acc = make_buffer("acc", t, {4, 16}, "local");
    const auto tile = [&](const auto& body) {
      const var i = make_var("i"), j = make_var("j"), v = make_var("v");
      return make_loop(
          i, 0, 4,
          make_loop(j, 0, 2, vector_loop(v, 8, body(expr(i), j * 8 + v)), loop_kind::unrolled),
          loop_kind::unrolled);
    };
    const var k = make_var("k");
    const stmt zero = tile([&](const expr& i, const expr& j) {
      return make_store(acc, {i, j}, literal(t, 0));
    });
    const stmt update = tile([&](const expr& i, const expr& j) {
      return make_store(acc, {i, j}, load(acc, {i, j}) + load(a, {k, i}) * load(b, {k, j}));
    });
    const stmt write = tile([&](const expr& i, const expr& j) {
      return make_store(c, {i, j}, load(acc, {i, j}));
    });
    check_agrees(make("tile", {a, b, c},
                      make_allocate(acc, make_seq({zero, make_loop(k, 0, 9, update), write}))));
  }
}

TEST_CASE("accumulators of a register tile live in registers") {
  if (!have_compiler()) return;
  const buffer a = make_buffer("A", dtype::f32, {64, 6}),
               b = make_buffer("B", dtype::f32, {64, 16}),
               c = make_buffer("C", dtype::f32, {6, 16}),
               acc = make_buffer("acc", dtype::f32, {6, 16}, "local");
  const auto tile = [&](const auto& body) {
    const var i = make_var("i"), j = make_var("j"), v = make_var("v");
    return make_loop(
        i, 0, 6,
        make_loop(j, 0, 2, vector_loop(v, 8, body(expr(i), j * 8 + v)), loop_kind::unrolled),
        loop_kind::unrolled);
  };
  const var k = make_var("k");
  const stmt body = make_seq(
      {tile([&](const expr& i, const expr& j) {
         return make_store(acc, {i, j}, real(dtype::f32, 0));
       }),
       make_loop(
           k, 0, 64, tile([&](const expr& i, const expr& j) {
             return make_store(acc, {i, j}, load(acc, {i, j}) + load(a, {k, i}) * load(b, {k, j}));
           })),
       tile([&](const expr& i, const expr& j) {
         return make_store(c, {i, j}, load(acc, {i, j}));
       })});
  const std::string text = backend::inspect(make("tile", {a, b, c}, make_allocate(acc, body)),
                                            target::named("haswell"), backend::stage::assembly);
  CHECK(text.find("vfmadd") != std::string::npos);
  CHECK(text.find("(%rsp)") == std::string::npos);  // no stack slot, no spill
  CHECK(text.find("vmulps") == std::string::npos);
}

TEST_CASE("what is loaded under a mask, and zero elsewhere, is chosen by the load alone") {
  const buffer x = make_buffer("X", dtype::f32, {4, 5}), y = make_buffer("Y", dtype::f32, {4, 8});
  const var i = make_var("i"), v = make_var("v");
  const auto rows = [&](const expr& here, const expr& other) {
    return make(
        "rows", {x, y},
        make_loop(i, 0, 4,
                  vector_loop(v, 8,
                              make_store(y, {i, v},
                                         load(y, {i, v}) + if_then_else(lt(v, 5), here, other)))));
  };
  const auto blends = [](const function& f) {
    const std::string text =
        backend::inspect(f, target::named("skylake-avx512"), backend::stage::assembly);
    return text.find("vblend") != std::string::npos || text.find("vpblend") != std::string::npos;
  };
  const expr zero = real(dtype::f32, 0), side_by_side = load(x, {i, v});
  CHECK_FALSE(blends(rows(side_by_side, zero)));
  for (const expr& other : {zero, real(dtype::f32, -0.0), real(dtype::f32, 3)})
    for (const expr& here : {side_by_side, load(x, {i, expr(4) - v}), side_by_side * zero})
      check_agrees(rows(here, other));
  // in a choice of another one
  const expr inner = if_then_else(lt(v, 3), side_by_side, zero);
  check_agrees(rows(inner, real(dtype::f32, 2)));
  check_agrees(rows(inner, zero));
}

TEST_CASE("rows that are not there are not loaded, whatever the mask of their lanes is") {
  const buffer x = make_buffer("X", dtype::f32, {4, 5}), y = make_buffer("Y", dtype::f32, {6, 8}),
               z = make_buffer("Z", dtype::f32, {4, 5});
  const var i = make_var("i"), v = make_var("v");
  const expr there = logical_and(le(1, i), lt(i, 5)), lanes = lt(v, 5);
  const auto masks_differ = [](const function& f) {
    const std::string text =
        backend::inspect(f, target::named("skylake-avx512"), backend::stage::optimized_ir);
    CHECK(text.find("llvm.masked.") != std::string::npos);
    return text.find("and <8 x i1>") != std::string::npos;
  };
  const auto padded = [&](const expr& condition, const expr& other) {
    return make(
        "padded", {x, y},
        make_loop(
            i, 0, 6,
            vector_loop(
                v, 8, make_store(y, {i, v}, if_then_else(condition, load(x, {i - 1, v}), other)))));
  };
  const expr zero = real(dtype::f32, 0);
  for (const expr& condition :
       {logical_and(there, lanes), logical_and(lanes, there),
        logical_and(lt(i, 5), logical_and(lanes, logical_and(le(1, i), le(1, v))))}) {
    CHECK_FALSE(masks_differ(padded(condition, zero)));
    check_agrees(padded(condition, zero));
    check_agrees(padded(condition, real(dtype::f32, 3)));
    check_agrees(padded(condition, load(y, {i, v}) * real(dtype::f32, 2)));
  }
  // lanes that are off already stay off
  check_agrees(make(
      "below", {x, y},
      make_loop(
          i, 0, 6,
          vector_loop(v, 8,
                      make_if(le(2, v), make_store(y, {i, v},
                                                   if_then_else(logical_and(there, lanes),
                                                                load(x, {i - 1, v}), zero)))))));
  const auto stored = [&](const stmt& other) {
    return make("stored", {y, z},
                make_loop(i, 0, 6,
                          vector_loop(v, 8,
                                      make_if(logical_and(there, lanes),
                                              make_store(z, {i - 1, v}, load(y, {i, v})), other))));
  };
  CHECK_FALSE(masks_differ(stored({})));
  check_agrees(stored({}));
  check_agrees(stored(make_store(y, {i, v}, zero)));
}

TEST_CASE("what loops load again and again leaves them, however often a parameter is used") {
  buffer_node node;
  node.name = "W";
  node.type = dtype::f32;
  node.shape = {64, 32};
  node.scope = "workspace";
  node.elem_offset = 0;
  const buffer w(new buffer_node(node)), x = make_buffer("X", dtype::f32, {256}),
                                         y = make_buffer("Y", dtype::f32, {64});
  const var u = make_var("u"), k = make_var("k");
  const std::vector<std::string> names{"one", "two", "three", "four"};
  std::vector<stmt> parts;
  for (int n = 0; n < 4; ++n) {
    const var row = make_var(names[static_cast<std::size_t>(n)]);
    const stmt copies =
        make_loop(u, 0, 32, make_store(w, {row, u}, load(x, {u * 8 + 2 * n})), loop_kind::unrolled);
    parts.push_back(make_loop(row, 16 * n, 16, copies));
  }
  parts.push_back(make_loop(k, 0, 64, make_store(y, {k}, load(w, {k, floordiv(k, 2)}))));
  function f = make("copies", {x, y}, make_allocate(w, make_seq(parts)));
  f.attrs["tilewright.workspace_bytes"] = 64 * 32 * 4;
  f.attrs["tilewright.worker_offset"] = 64 * 32 * 4;
  if (!have_compiler()) return;
  check_agrees(f);
  const std::string text =
      backend::inspect(f, target::named("haswell"), backend::stage::optimized_ir);
  for (const std::string& loop : names) {
    CAPTURE(loop);
    const std::size_t start = text.find("\n" + loop + ":");
    REQUIRE(start != std::string::npos);
    const std::string body = text.substr(start, text.find("br i1", start) - start);
    CHECK(body.find("store float") != std::string::npos);
    CHECK(body.find("load float") == std::string::npos);
  }
}

TEST_CASE("stores to another buffer leave what was loaded as it is, stores to the same do not") {
  const buffer x = make_buffer("X", dtype::f32, {16}), y = make_buffer("Y", dtype::f32, {16});
  const var k = make_var("k"), u = make_var("u");
  const auto unrolled = [&](const expr& value) {
    return make(
        "unrolled", {x, y},
        make_loop(k, 0, 16, make_loop(u, 0, 8, make_store(y, {u}, value), loop_kind::unrolled)));
  };
  const auto loads = [](const function& f) {
    const std::string text =
        backend::inspect(f, target::named("haswell"), backend::stage::optimized_ir);
    int out = 0;
    for (std::size_t at = 0; (at = text.find("load float", at)) != std::string::npos; ++at) ++out;
    return out;
  };
  const function from_other = unrolled(load(x, {k}) * real(dtype::f32, 2)),
                 from_same = unrolled(load(y, {k}) * real(dtype::f32, 2));
  CHECK(loads(from_other) == 1);
  CHECK(loads(from_same) > 1);
  check_agrees(from_other);
  check_agrees(from_same);
}

TEST_CASE("buffers in the workspace and lets") {
  buffer_node node;
  node.name = "W";
  node.type = dtype::f32;
  node.shape = {4, 8};
  node.scope = "workspace";
  node.elem_offset = 16;
  const buffer w(new buffer_node(node)), x = make_buffer("X", dtype::f32, {4, 8}),
                                         y = make_buffer("Y", dtype::f32, {4, 8});
  const var i = make_var("i"), j = make_var("j"), r = make_var("r"), t = make_var("t", dtype::f32),
            c = make_var("c");
  const stmt fill = make_loop(
      i, 0, 4, vector_loop(j, 8, make_let(t, load(x, {i, j}), make_store(w, {i, j}, t * t))));
  const stmt drain = make_loop(
      i, 0, 4,
      make_let(
          r, expr(3) - i,
          vector_loop(j, 8, make_let(c, expr(7) - j, make_store(y, {r, c}, load(w, {i, c}))))));
  function f = make("lets", {x, y}, make_allocate(w, make_seq({fill, drain})));
  f.attrs["tilewright.workspace_bytes"] = 64 + 4 * 8 * 4;
  f.attrs["tilewright.worker_offset"] = 192;
  if (!have_compiler()) return;
  // The interpreter has no workspace offset: it takes the buffer as one of its own.
  check_agrees(f);
}

TEST_CASE("lanes that all store to one place run one after another") {
  const buffer x = make_buffer("X", dtype::f32, {8}), y = make_buffer("Y", dtype::f32, {1});
  const var v = make_var("v");
  check_agrees(
      make("sum", {x, y}, vector_loop(v, 8, make_store(y, {0}, load(y, {0}) + load(x, {v})))));
}

TEST_CASE("loops with bounds known at run time only") {
  const buffer n = make_buffer("N", dtype::i32, {3}), y = make_buffer("Y", dtype::i32, {3, 8});
  const var i = make_var("i"), j = make_var("j");
  options o;
  o.values["N"] = {5, 0, 8};
  check_agrees(
      make("ragged", {n, y},
           make_loop(i, 0, 3, make_loop(j, 0, load(n, {i}), make_store(y, {i, j}, i * 10 + j)))),
      o);
}

TEST_CASE("squares of a buffer that the function writes are loaded by rows, and never stale ones") {
  const buffer x = make_buffer("X", dtype::f32, {16, 16}),
               y = make_buffer("Y", dtype::f32, {16, 16});
  const buffer t = make_buffer("T", dtype::f32, {16, 16}, "local");
  const var i = make_var("i"), j = make_var("j"), c = make_var("c"), v = make_var("v"),
            n = make_var("n");
  const stmt fill = make_loop(
      i, 0, 16, vector_loop(j, 16, make_store(t, {i, j}, load(x, {i, j}) * real(dtype::f32, 2))));
  const auto squares = [&](const stmt& more) {
    const expr column = c * 4 + n;
    return make_loop(
        c, 0, 4,
        make_loop(
            n, 0, 4,
            make_seq({vector_loop(v, 16, make_store(y, {column, v}, load(t, {v, column}))), more}),
            loop_kind::unrolled));
  };
  check_agrees(make("transposed", {x, y}, make_allocate(t, make_seq({fill, squares({})}))));
  // each step changes the columns that the next ones read
  const var w = make_var("w");
  const stmt change =
      vector_loop(w, 16, make_store(t, {w, floormod(c * 4 + n + 1, 16)}, load(x, {w, c * 4 + n})));
  check_agrees(make("changing", {x, y}, make_allocate(t, make_seq({fill, squares(change)}))));
}
