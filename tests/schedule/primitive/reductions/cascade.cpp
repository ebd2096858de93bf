#include <tilewright/impl/schedule/primitive/reductions/cascade.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/schedule/schedule.hpp>

#include "schedule/check_schedule.hpp"
#include "schedule/primitive/reductions/drawn_cascades.hpp"

using namespace tilewright;

namespace {

/// What the function leaves in its last parameter; all are f32 and begin with numbers between -4 and 4.
std::vector<float> result(const ir::function& f, float first = 0) {
  std::vector<std::vector<float>> memory;
  std::vector<ir::tensor_view> views;
  for (const ir::param& p : f.params) {
    std::int64_t size = 1;
    for (const ir::expr& e : p.buffer->shape) size *= e->integer;
    std::vector<float>& data = memory.emplace_back(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = 4 * std::sin(static_cast<float>(3 * i + memory.size()));
    if (memory.size() == 1 && first != 0) data[1] = first;
    views.push_back({data.data(), {}});
  }
  ir::interpret(f, std::move(views));
  return memory.back();
}

void check_near(const std::vector<float>& got, const std::vector<float>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    if (std::isnan(expected[i]))
      CHECK(std::isnan(got[i]));
    else
      CHECK(got[i] == doctest::Approx(expected[i]).epsilon(2e-5).scale(0.1));
  }
}

std::string nest(const std::string& to, const std::string& axes, const std::string& at,
                 const std::string& init, const std::string& value) {
  std::string grid, loops, vars, kinds;
  for (const char a : axes) {
    const std::string var = std::string("v") + a, comma = loops.empty() ? "" : ", ";
    grid += comma + (a == 'i' ? "5" : a == 'j' ? "12" : "3");
    loops += comma + std::string(1, a);
    vars += comma + var;
    kinds += at.find(var) == std::string::npos ? "R" : "S";
  }
  std::string out = "    for " + loops + " in T.grid(" + grid + "):\n        with T.block(\"" + to +
                    "\"):\n            " + vars + " = T.axis.remap(\"" + kinds + "\", [" + loops +
                    "])\n";
  if (!init.empty())
    out += "            with T.init():\n                " + to + "[" + at + "] = " + init + "\n";
  return out + "            " + to + "[" + at + "] = " + value + "\n";
}

const std::string lowest = "T.min_value(\"float32\")", zero = "T.float32(0)";

/// X [5, 12] and V [12, 3] to Y [5, 3]; M and S have a number for each row, E one for each of X, Z one for each of Y.
ir::function rows(const std::string& body, const std::string& more = "") {
  return ir::parse(
      "@T.prim_func\ndef main(X: T.Buffer((5, 12), \"float32\"), V: T.Buffer((12, 3), "
      "\"float32\"), " +
      more +
      "Y: T.Buffer((5, 3), \"float32\")):\n    M = T.alloc_buffer((5,), \"float32\")\n"
      "    S = T.alloc_buffer((5,), \"float32\")\n    E = T.alloc_buffer((5, 12), \"float32\")\n"
      "    Z = T.alloc_buffer((5, 3), \"float32\")\n" +
      body);
}

const std::string peak = nest("M", "ij", "vi", lowest, "T.max(M[vi], X[vi, vj])"),
                  share = nest("E", "ij", "vi, vj", "", "T.exp(X[vi, vj] - M[vi])"),
                  total = nest("S", "ij", "vi", zero, "S[vi] + E[vi, vj]"),
                  mixed = nest("Z", "iej", "vi, ve", zero, "Z[vi, ve] + E[vi, vj] * V[vj, ve]"),
                  quotient = nest("Y", "ie", "vi, ve", "", "Z[vi, ve] / S[vi]");

std::string refusal(const ir::function& f, std::int64_t length = 4) {
  const primitive::parted_cascade out = primitive::reduce_in_parts(f, length);
  CHECK_FALSE(out.function);
  return out.refusal;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("cascade: attention in parts has no more than parts of its shares") {
  const ir::function f = rows(peak + share + total + mixed + quotient);
  const primitive::parted_cascade out = primitive::reduce_in_parts(f, 4);
  REQUIRE(out.function);
  CHECK(out.extent == 12);
  CHECK(out.wide);
  INFO(ir::print(*out.function));
  CHECK_NOTHROW(ir::verify(*out.function));
  CHECK(primitive::all_blocks(ir::root_block(*out.function)->body).size() == 6);
  check_near(result(*out.function), result(f));
  for (const ir::buffer& b : ir::root_block(*out.function)->alloc_buffers) CHECK(b->name != "E");
  const ir::block_node& whole =
      *primitive::all_blocks(ir::root_block(*out.function)->body)[4]->block;
  CHECK(whole.name == "Z_whole");
  CHECK(whole.writes.size() == 3);
  const auto* note = std::get_if<std::string>(&whole.annotations.at(ir::reducer_note).value);
  REQUIRE(note);
  CHECK(ir::parse_reducer(*note));
}

TEST_CASE("cascade: a maximum and its sum alone have parts, too") {
  const ir::function f =
      rows(peak + nest("S", "ij", "vi", zero, "S[vi] + T.exp(X[vi, vj] - M[vi])") +
           nest("Y", "ie", "vi, ve", "", "M[vi] + T.log(S[vi]) + V[ve, ve]"));
  const primitive::parted_cascade out = primitive::reduce_in_parts(f, 3);
  REQUIRE(out.function);
  CHECK_FALSE(out.wide);
  check_near(result(*out.function), result(f));
}

TEST_CASE("cascade: shares that are normalized first are normalized last") {
  const std::string normal = nest("N", "ij", "vi, vj", "", "E[vi, vj] / S[vi]"),
                    weighed = nest("Y", "iej", "vi, ve", zero, "Y[vi, ve] + N[vi, vj] * V[vj, ve]");
  const auto with_n = [](const std::string& body) {
    return rows("    N = T.alloc_buffer((5, 12), \"float32\")\n" + body);
  };
  const ir::function f = with_n(peak + share + total + normal + weighed);
  const primitive::parted_cascade out = primitive::reduce_in_parts(f, 4);
  CAPTURE(out.refusal);
  REQUIRE(out.function);
  INFO(ir::print(*out.function));
  CHECK_NOTHROW(ir::verify(*out.function));
  check_near(result(*out.function), result(f));
  for (const ir::buffer& b : ir::root_block(*out.function)->alloc_buffers) CHECK(b->name != "N");
  // what changes before it is weighed keeps its quotients, and needs two results then
  CHECK(contains(refusal(with_n(peak + share + total + normal +
                                nest("S", "i", "vi", "", "T.float32(1)") + weighed)),
                 "needs"));
}

TEST_CASE(
    "cascade: shares of half precision are normalized first, since sums without are out of range") {
  const std::string normal = nest("N", "ij", "vi, vj", "", "E[vi, vj] / S[vi]"),
                    weighed = nest("Y", "iej", "vi, ve", zero, "Y[vi, ve] + N[vi, vj] * V[vj, ve]");
  std::string text = ir::print(rows("    N = T.alloc_buffer((5, 12), \"float32\")\n" + peak +
                                    share + total + normal + weighed));
  for (std::size_t at; (at = text.find("float32")) != std::string::npos;)
    text.replace(at, 7, "float16");
  const std::string why = refusal(ir::parse(text));
  CAPTURE(why);
  CHECK(contains(why, "is no product with a factor exp(x - m)"));
}

TEST_CASE("cascade: infinities, and parts of nothing but minus infinities") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::string masked = "T.Select(vj < 4, -T.infinity(\"float32\"), X[vi, vj])";
  const ir::function f = rows(peak + share + total + mixed + quotient),
                     g = rows(nest("M", "ij", "vi", lowest, "T.max(M[vi], " + masked + ")") +
                              nest("E", "ij", "vi, vj", "", "T.exp(" + masked + " - M[vi])") +
                              total + mixed + quotient);
  for (const ir::function& each : {f, g})
    for (const float special : {infinity, -infinity, std::nanf("")})
      if (!std::isnan(special) || !std::isnan(result(each, special)[0]))
        check_near(result(*primitive::reduce_in_parts(each, 4).function, special),
                   result(each, special));
}

TEST_CASE("cascade: what cannot be cut says why") {
  const std::string first = peak + share;
  CHECK(contains(refusal(rows(first + total + mixed + quotient), 5), "parts of 5 do not divide"));
  CHECK(contains(refusal(rows(first + total + mixed + quotient), 12), "parts of 12"));
  CHECK(contains(refusal(rows(first + total + mixed + quotient), 0), "parts of 0"));
  // another function, another element, and the least element
  for (const char* value :
       {"T.sigmoid(X[vi, vj] - M[vi])", "T.exp(V[vj, 0] - M[vi])", "T.exp(M[vi] - X[vi, vj])"})
    CHECK(contains(
        refusal(rows(peak + nest("E", "ij", "vi, vj", "", value) + total + mixed + quotient)),
        "no product with a factor exp(x - m)"));
  CHECK(contains(
      refusal(rows(nest("M", "ij", "vi", "T.max_value(\"float32\")", "T.min(M[vi], X[vi, vj])") +
                   share + total + mixed + quotient)),
      "no product with a factor"));
  // elements that someone else needs, and results that are needed too early
  CHECK(contains(refusal(rows(first + total + nest("Y", "ie", "vi, ve", "", "E[vi, ve] / S[vi]"))),
                 "needs elements of block E"));
  CHECK(contains(refusal(rows(first + nest("Y", "ie", "vi, ve", "", "M[vi] * T.float32(2)") +
                              total + nest("Z", "ie", "vi, ve", "", "Y[vi, ve] * S[vi]"))),
                 "before the last one is there"));
  // a maximum that is a result of the function while others have more dimensions
  CHECK(contains(refusal(rows(nest("P", "ij", "vi", lowest, "T.max(P[vi], X[vi, vj])") +
                                  nest("E", "ij", "vi, vj", "", "T.exp(X[vi, vj] - P[vi])") +
                                  total + mixed + quotient,
                              "P: T.Buffer((5,), \"float32\"), ")),
                 "makes a result of the function"));
  // nothing that depends on anything
  CHECK(contains(refusal(rows(nest("S", "ij", "vi", zero, "S[vi] + X[vi, vj]") +
                              nest("Y", "ie", "vi, ve", "", "S[vi] + V[ve, ve]"))),
                 "no reduction needs the result"));
}

TEST_CASE("cascade: a schedule goes on with parts of a drawn length, and its trace replays") {
  const ir::function f = rows(peak + share + total + mixed + quotient);
  schedule s(f);
  const expr_rv length = s.sample_categorical({3, 4, 6}, {1, 1, 1}, 2);
  s.annotate(s.get_block("root"), "tilewright.sizes", annotation_value::list{length});
  s.work_on("main.parts");
  CHECK(ir::equal(s.function(), *primitive::reduce_in_parts(f, 6).function));
  CHECK(ir::root_block(s.function())->annotations.empty());
  const block_rv whole = s.get_block("Z_whole");
  const std::vector<loop_rv> loops = s.get_loops(whole);
  s.reorder(loops[0], loops[2], loops[1]);
  s.compute_at(s.get_block("Z"), loops[2], true);
  s.compute_at(s.get_block("S"), loops[2], true);
  s.compute_at(s.get_block("E"), loops[2], true);
  s.compute_at(s.get_block("M"), loops[2], true);
  check_schedule(s, f);
  check_near(result(s.function()), result(f));
  schedule other(f);
  check_refusal(other, "work_on", 3, [&] { other.work_on("main.parts_7"); });
  check_refusal(other, "work_on", 3, [&] { other.work_on("main.parts_99999999999"); });
}

TEST_CASE("cascade: random programs compute the same in parts") {
  std::size_t parted = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    drawn_cascade drawn(seed);
    const ir::function f = drawn.function();
    const int length = drawn.some_length();
    INFO(ir::print(f));
    CAPTURE(length);
    const primitive::parted_cascade out = primitive::reduce_in_parts(f, length);
    CAPTURE(out.refusal);
    REQUIRE(out.function);
    ++parted;
    CHECK_NOTHROW(ir::verify(*out.function));
    check_near(result(*out.function), result(f));
  }
  CHECK(parted == 120);
}

TEST_CASE("cascade: part after part, results of a tile of rows grow in one block") {
  const ir::function f = rows(peak + share + total + mixed + quotient);
  schedule s(f);
  s.work_on("main.running_5_4");
  INFO(ir::print(s.function()));
  check_schedule(s, f);
  check_near(result(s.function()), result(f));
  const std::vector<block_rv> blocks = s.get_child_blocks(s.get_block("root"));
  REQUIRE(blocks.size() == 2);
  CHECK(s.get(blocks[0]).block->name == "main_parts");
  CHECK(s.get(blocks[0]).block->writes.size() == 3);
  // no buffer has an element for each of X
  for (const ir::buffer& b : ir::root_block(s.function())->alloc_buffers) CHECK(b->name != "E");
  schedule other(f);
  check_refusal(other, "work_on", 5, [&] { other.work_on("main.running_2_4"); });
  check_refusal(other, "work_on", 5, [&] { other.work_on("main.running_5_5"); });
  check_refusal(other, "work_on", 5, [&] { other.work_on("main.running_0_4"); });
}

TEST_CASE("cascade: weights that a product takes rounded become a tile of their own") {
  const std::string rounded =
      nest("Z", "iej", "vi, ve", zero,
           "Z[vi, ve] + T.cast(T.cast(E[vi, vj], \"float16\"), \"float32\") * V[vj, ve]");
  const ir::function f = rows(peak + share + total + rounded + quotient);
  const primitive::parted_cascade out = primitive::reduce_running(f, 5, 4);
  CAPTURE(out.refusal);
  REQUIRE(out.function);
  const std::string text = ir::print(*out.function);
  INFO(text);
  CHECK(contains(text, "E_rounded = T.alloc_buffer((5, 4), \"float16\")"));
  CHECK(contains(text, "T.exp2("));
  const std::vector<float> got = result(*out.function), expected = result(f);
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(2e-3).scale(1));
  // in parts that are combined, too
  const primitive::parted_cascade parted = primitive::reduce_in_parts(f, 4);
  REQUIRE(parted.function);
  const std::vector<float> combined = result(*parted.function);
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(combined[i] == doctest::Approx(expected[i]).epsilon(2e-3).scale(1));
}

TEST_CASE("cascade: random programs compute the same part after part") {
  std::size_t run = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    drawn_cascade drawn(seed);
    const ir::function f = drawn.function();
    const int length = drawn.some_length();
    for (const int tile : {1, 8}) {
      if (drawn.rows() % tile != 0) continue;
      INFO(ir::print(f));
      CAPTURE(length);
      const primitive::parted_cascade out = primitive::reduce_running(f, tile, length);
      CAPTURE(out.refusal);
      REQUIRE(out.function);
      ++run;
      CHECK_NOTHROW(ir::verify(*out.function));
      check_near(result(*out.function), result(f));
    }
  }
  CHECK(run > 120);
}

TEST_CASE("cascade: infinities and masked parts, part after part") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::string masked = "T.Select(vj < 4, -T.infinity(\"float32\"), X[vi, vj])";
  const ir::function f = rows(peak + share + total + mixed + quotient),
                     g = rows(nest("M", "ij", "vi", lowest, "T.max(M[vi], " + masked + ")") +
                              nest("E", "ij", "vi, vj", "", "T.exp(" + masked + " - M[vi])") +
                              total + mixed + quotient);
  for (const ir::function& each : {f, g})
    for (const float special : {infinity, -infinity})
      check_near(result(*primitive::reduce_running(each, 5, 4).function, special),
                 result(each, special));
}

TEST_CASE("cascade: rows and axis grow to multiples, and what is added changes nothing") {
  const ir::function f = rows(peak + share + total + mixed + quotient);
  schedule s(f);
  s.work_on("main.padded_4_8");
  const std::string text = ir::print(s.function());
  INFO(text);
  check_schedule(s, f);
  CHECK(contains(text, "X_pad = T.alloc_buffer((8, 16), \"float32\")"));
  CHECK(contains(text, "V_pad = T.alloc_buffer((16, 3), \"float32\")"));
  CHECK(contains(text, "T.Select(vj < 12, X_pad[vi, vj], T.float32(\"-inf\"))"));
  check_near(result(s.function()), result(f));
  s.work_on("main.running_4_8");
  check_near(result(s.function()), result(f));
  // nothing to do
  CHECK(ir::equal(*primitive::pad_cascade(f, 5, 12).function, f));
  schedule other(f);
  check_refusal(other, "work_on", 7, [&] { other.work_on("main.padded_0_8"); });
}

TEST_CASE("cascade: random programs compute the same with more rows and a longer axis") {
  std::size_t run = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    drawn_cascade drawn(seed);
    const ir::function f = drawn.function();
    INFO(ir::print(f));
    const primitive::parted_cascade out = primitive::pad_cascade(f, 16, 32);
    CAPTURE(out.refusal);
    REQUIRE(out.function);
    CHECK_NOTHROW(ir::verify(*out.function));
    check_near(result(*out.function), result(f));
    const primitive::parted_cascade running = primitive::reduce_running(*out.function, 16, 32);
    CAPTURE(running.refusal);
    REQUIRE(running.function);
    check_near(result(*running.function), result(f));
    ++run;
  }
  CHECK(run == 120);
}

TEST_CASE("cascade: what cannot be padded says why") {
  const auto why = [](const ir::function& f) {
    const primitive::parted_cascade out = primitive::pad_cascade(f, 4, 8);
    CHECK_FALSE(out.function);
    return out.refusal;
  };
  const std::string first = peak + share + total;
  // a result of the function, a place that is computed, and weights that are no number of nothing
  CHECK(contains(
      why(rows(first + nest("Y", "iej", "vi, ve", zero, "Y[vi, ve] + E[vi, vj] * V[vj, ve]"))),
      "is a result of the function"));
  CHECK(contains(
      why(rows(first + nest("Z", "iej", "vi, ve", zero, "Z[vi, ve] + E[vi, vj] * V[11 - vj, ve]") +
               quotient)),
      "at other places than its rows"));
  CHECK(contains(
      why(rows(first + nest("Z", "iej", "vi, ve", zero, "Z[vi, ve] + E[vi, vj] / V[vj, ve]") +
               quotient)),
      "may be no number"));
}

TEST_CASE("cascade: parts that a mask hides do nothing, and those that it shows are not masked") {
  const std::string shown = "T.Select(vj <= vi * 2, X[vi, vj], " + lowest + ")",
                    late = "T.Select(2 <= vj, X[vi, vj], " + lowest + ")";
  const auto masked = [&](const std::string& x) {
    return rows(nest("M", "ij", "vi", lowest, "T.max(M[vi], " + x + ")") +
                nest("E", "ij", "vi, vj", "", "T.exp(" + x + " - M[vi])") + total + mixed +
                quotient);
  };
  const ir::function f = masked(shown), g = masked(late);
  const std::string text = ir::print(*primitive::reduce_running(f, 1, 4).function);
  INFO(text);
  CHECK(contains(text, "T.where(vj_part * 2 <= vi_tile)"));
  CHECK(contains(text, "T.where(vi_tile <= vj_part * 2 + 1)"));
  check_near(result(*primitive::reduce_running(f, 1, 4).function), result(f));
  check_near(result(*primitive::reduce_running(f, 5, 2).function), result(f));
  // rows whose first elements are hidden: all parts count, since a row may have none that are shown
  const std::string all = ir::print(*primitive::reduce_running(g, 1, 4).function);
  CHECK_FALSE(contains(all, "parts_shown"));
  check_near(result(*primitive::reduce_running(g, 1, 4).function), result(g));
}
