#include <tilewright/ir/rerouting.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

const buffer from = make_buffer("A", dtype::f32, {8, 8});
const buffer to = make_buffer("B", dtype::f32, {8, 8});

/// Accesses of `from` go to `to`, one row further down.
class row_below : public rerouting {
 private:
  bool reroutes(const buffer& b) const override { return b == from; }
  buffer_element rerouted(const buffer&, std::vector<expr> indices) override {
    indices[0] = indices[0] + 1;
    return {to, std::move(indices)};
  }
};

}  // namespace

TEST_CASE("reroute: loads, stores, and loads within their indices") {
  const buffer rows = make_buffer("R", dtype::i32, {8}), moved = make_buffer("S", dtype::i32, {16});
  const var i = make_var("i");
  const auto swapped = [](std::vector<expr> indices) {
    std::swap(indices[0], indices[1]);
    return indices;
  };
  const stmt s = make_store(from, {load(rows, {i}), i}, load(from, {i, load(rows, {i + 1})}));
  CHECK(equal(reroute(s, from, to, swapped),
              make_store(to, {i, load(rows, {i})}, load(to, {load(rows, {i + 1}), i}))));
  const auto shifted = [](std::vector<expr> indices) {
    indices[0] = indices[0] + 8;
    return indices;
  };
  CHECK(equal(
      reroute(s, rows, moved, shifted),
      make_store(from, {load(moved, {i + 8}), i}, load(from, {i, load(moved, {i + 1 + 8})}))));
}

TEST_CASE("reroute: what touches another buffer is the same statement") {
  const var i = make_var("i");
  const stmt s = make_loop(i, 0, 8, make_store(to, {i, i}, load(to, {i, 0})));
  CHECK(reroute(s, from, to, [](std::vector<expr> indices) { return indices; }) == s);
}

TEST_CASE("rerouting: regions and sources of parts follow, their lengths stay") {
  const var i = make_var("i");
  block_node b;
  b.name = "block";
  b.iters = {{i, {0, 4}, iter_kind::spatial}};
  b.reads = {{from, {{i, 2}, {0, 8}}}, {to, {{i, 1}, {0, 1}}}};
  b.writes = {{from, {{i, 1}, {i, 1}}}};
  b.match_buffers = {{make_buffer("part", dtype::f32, {2, 8}), {from, {{i, 2}, {0, 8}}}}};
  b.body = make_store(from, {i, i}, load(to, {i, 0}));
  const block before = make_block(b), after = row_below().mutate(before);
  CHECK(after->id == before->id);
  CHECK(after->reads[0].buffer == to);
  CHECK(equal(after->reads[0].box[0].min, i + 1));
  CHECK(is_int(after->reads[0].box[0].extent, 2));
  CHECK(is_int(after->reads[0].box[1].extent, 8));
  CHECK(equal(after->reads[1].box[0].min, i));  // was not rerouted, although it is of `to`
  CHECK(after->writes[0].buffer == to);
  CHECK(after->match_buffers[0].source.buffer == to);
  CHECK(equal(after->match_buffers[0].source.box[0].min, i + 1));
  CHECK(equal(after->body, make_store(to, {i + 1, i}, load(to, {i, 0}))));
}
