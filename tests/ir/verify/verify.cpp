#include <tilewright/ir/verify/verify.hpp>

#include <functional>

#include <doctest/doctest.h>

#include "../programs.hpp"

using namespace tilewright;
using namespace tilewright::ir;
using test::point;
using test::realize;
using test::spatial;

namespace {

/// One elementwise block over A and B; `change` breaks a rule.
struct sketch {
  buffer a = make_buffer("A", dtype::f32, {8}), b = make_buffer("B", dtype::f32, {8});
  var i = make_var("i");
  block_node block;
  expr value = i, predicate = boolean(true);
  std::vector<buffer> params{a, b};
  sketch() {
    block.name = "B";
    block.iters = {spatial("vi", 8)};
    block.reads = {point(a, {vi()})};
    block.writes = {point(b, {vi()})};
    block.body = make_store(b, {vi()}, load(a, {vi()}));
  }
  var vi() const { return block.iters[0].var; }
  function build(stmt after = {}) const {
    stmt nest = make_loop(i, 0, 8, realize({value}, block, predicate));
    return test::make_function(params, make_seq({std::move(nest), std::move(after)}));
  }
};

void check_refused(const function& f, const char* part) {
  try {
    verify(f);
    FAIL("accepted, though: " << part);
  } catch (const verify_error& e) {
    CHECK_MESSAGE(std::string(e.what()).find(part) != std::string::npos, e.what());
  }
}

void check_refused(const std::function<void(sketch&)>& change, const char* part) {
  sketch s;
  change(s);
  check_refused(s.build(), part);
}

}  // namespace

TEST_CASE("well-formed programs pass") {
  for (const auto& program : test::all_programs()) {
    const char* const label = program.first;
    const function& f = program.second;
    CAPTURE(label);
    CHECK_NOTHROW(verify(f));
  }
  CHECK_NOTHROW(verify(sketch().build()));
}

TEST_CASE("rule 1: definitions") {
  check_refused([](sketch& s) { s.value = make_var("q"); }, "q is used where it is not defined");
  check_refused([](sketch& s) { s.block.body = make_loop(s.vi(), 0, 8, s.block.body); },
                "vi is defined again");
  sketch s;
  check_refused(s.build(make_loop(s.i, 0, 8, make_evaluate(s.i))),
                "two loops share the variable i");
}

TEST_CASE("rule 2: a block body is isolated from the loops outside") {
  check_refused([](sketch& s) { s.block.body = make_store(s.b, {s.vi()}, load(s.a, {s.i})); },
                "uses i of a loop outside");
}

TEST_CASE("rule 3: buffers are parameters or allocated") {
  check_refused([](sketch& s) { s.params = {s.a}; },
                "buffer B is neither a parameter nor allocated");
  check_refused([](sketch& s) { s.params = {s.a, s.b, s.b}; }, "buffer B is defined twice");
}

TEST_CASE("rule 4: types") {
  check_refused([](sketch& s) { s.predicate = s.i; }, "predicate i is not boolean");
  check_refused([](sketch& s) { s.block.iters[0].dom.extent = integer(dtype::i64, 8); }, "int64");
  check_refused([](sketch& s) { s.block.body = make_if(s.vi(), s.block.body); },
                "condition vi is not boolean");
  check_refused(
      [](sketch& s) { s.block.body = make_store(s.b, {load(s.a, {s.vi()})}, real(dtype::f32, 0)); },
      "is no integer");
}

TEST_CASE("rule 5: bindings") {
  check_refused(
      [](sketch& s) {
        s.i = make_var("i", dtype::i64);
        s.value = s.i;
      },
      "loop i of int64 runs over an extent of int32");
  check_refused([](sketch& s) { s.value = cast(dtype::i64, s.i); }, "differ in type");
}

TEST_CASE("rule 6: names and ids of blocks") {
  sketch s, t;
  t.block.writes = {point(s.b, {t.vi()})};
  t.block.reads = {point(s.a, {t.vi()})};
  t.block.body = make_store(s.b, {t.vi()}, load(s.a, {t.vi()}));
  check_refused(s.build(make_loop(t.i, 0, 8, realize({t.i}, t.block))),
                "another block has this name");
  t.block.name = "C";
  CHECK_NOTHROW(verify(s.build(make_loop(t.i, 0, 8, realize({t.i}, t.block)))));
  s.block.id = t.block.id = fresh_block_id();
  check_refused(s.build(make_loop(t.i, 0, 8, realize({t.i}, t.block))),
                "another block has this id");
}

TEST_CASE("rule 7: reads, writes and init") {
  check_refused([](sketch& s) { s.block.reads.clear(); }, "A is read but not listed");
  check_refused([](sketch& s) { s.block.writes.clear(); }, "B is written but not listed");
  check_refused([](sketch& s) { s.block.reads[0].box.clear(); }, "0 ranges for 1 dimensions");
  check_refused([](sketch& s) { s.block.body = make_store(s.b, {s.vi()}, load(s.b, {s.vi()})); },
                "B is read but not listed");
  check_refused(
      [](sketch& s) {
        s.block.iters.push_back(test::reduce("vk", 4));
        s.block.init = make_store(s.b, {s.block.iters[1].var}, real(dtype::f32, 0));
        s.block.body = make_store(s.b, {s.vi()}, load(s.a, {s.vi()}));
        s.block.iters.pop_back();
      },
      "vk is used where it is not defined");
  sketch s;
  s.block.iters.push_back(test::reduce("vk", 4));
  s.block.init = make_store(s.b, {s.block.iters[1].var}, real(dtype::f32, 0));
  check_refused(test::make_function({s.a, s.b}, make_loop(s.i, 0, 8, realize({s.i, 0}, s.block))),
                "init uses the reduce iteration variable vk");
}

TEST_CASE("rule 8: what matches a region") {
  const auto matching = [](dtype type, std::vector<expr> shape, std::int64_t extent = 8) {
    return [=](sketch& s) {
      const buffer view = make_buffer("V", type, shape);
      s.block.match_buffers.push_back({view, {s.a, {{0, integer(dtype::i32, extent)}}}});
    };
  };
  sketch s;
  matching(dtype::f32, {8})(s);
  CHECK_NOTHROW(verify(s.build()));
  check_refused(matching(dtype::i32, {8}),
                "V matches a region of A and has elements of type int32 instead of float32");
  check_refused(matching(dtype::f32, {8, 1}), "V matches a region of A and has more dimensions");
  check_refused(matching(dtype::f32, {4}), "V matches a region of A and has other extents");
  check_refused(matching(dtype::f32, {}), "V matches a region of A and has other extents");
  sketch element;
  matching(dtype::f32, {}, 1)(element);
  CHECK_NOTHROW(verify(element.build()));
  // what the block allocates can be matched without a declaration
  sketch own;
  const buffer scratch = make_buffer("D", dtype::f32, {16}),
               part = make_buffer("V", dtype::f32, {8});
  own.block.alloc_buffers.push_back(scratch);
  own.block.match_buffers.push_back({part, {scratch, {{0, 8}}}});
  CHECK_NOTHROW(verify(own.build()));
}

TEST_CASE("an inner block accesses only what the outer one lists") {
  function f = test::tiled_view();
  CHECK_NOTHROW(verify(f));
  const buffer c = f.params[1].buffer, other = make_buffer("D", dtype::f16, {64, 64});
  f.params.push_back({other, {}});
  struct rename : mutator {
    buffer from, to;
    using mutator::mutate;
    block mutate(const block& b) override {
      return b->name == "C" ? replace_buffers(b, {{from, to}}) : mutator::mutate(b);
    }
  } change;
  change.from = c;
  change.to = other;
  f.body = change.mutate(f.body);
  check_refused(f, "buffer D is written but not listed");
}

TEST_CASE("missing parts are named, not followed") {
  function f = test::matmul(4, 4, 4);
  f.body = {};
  check_refused(f, "the body is missing");
  f.body = make_loop(make_var("i"), 0, 4, {});
  check_refused(f, "a statement is missing");
  f.body = make_evaluate({});
  check_refused(f, "an evaluated expression is missing");
}
