#include <tilewright/pass/vector/streams.hpp>

#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/target/cpu.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

const target::cpu& haswell() {
  static const target::cpu cpu = target::named("haswell");
  return cpu;
}

/// Y[j + shift] = X[j] in a vectorized loop over j with these notes.
stmt row(std::int64_t extent, const annotations& notes, const expr& shift = 0,
         dtype type = dtype::f32, std::int64_t step = 1) {
  const buffer x = make_buffer("X", type, {dim(extent)}),
               y = make_buffer("Y", type, {dim(4 * extent)});
  const var j = make_var("j");
  return make_loop(j, 0, dim(extent), make_store(y, {j * dim(step) + shift}, load(x, {j})),
                   loop_kind::vectorized, notes);
}

pass::stream stream_of(const stmt& s) { return pass::stream_of(*as_loop(s), haswell()); }

}  // namespace

TEST_CASE("a loop that asks for it is a stream, in the machine's vectors") {
  const pass::stream far = stream_of(row(64, {{ir::stream_note, 1}}));
  CHECK(far.nontemporal);
  CHECK(far.ahead == 0);
  CHECK(far.lanes == 8);
  const pass::stream near = stream_of(row(64, {{ir::stream_ahead_note, 4}}));
  CHECK_FALSE(near.nontemporal);
  CHECK(near.ahead == 4);
  CHECK(stream_of(row(32, {{ir::stream_note, 1}}, 0, dtype::f64)).lanes == 4);
}

TEST_CASE("no stream: nothing asked for, few vectors, elements apart, another kind of loop") {
  CHECK_FALSE(stream_of(row(64, {})));
  CHECK_FALSE(stream_of(row(64, {{ir::stream_note, 0}, {ir::stream_ahead_note, 0}})));
  CHECK_FALSE(stream_of(row(63, {{ir::stream_note, 1}})));
  CHECK_FALSE(stream_of(row(64, {{ir::stream_note, 1}}, 0, dtype::f32, 2)));
  const stmt serial = pass::with_kind(*as_loop(row(64, {{ir::stream_note, 1}})), loop_kind::serial,
                                      as_loop(row(64, {}))->body);
  CHECK_FALSE(stream_of(serial));
}

TEST_CASE("streams stay whole where other vectorized loops are split") {
  const auto vectors = [](const annotations& notes) {
    const stmt s = row(1000, notes);
    const buffer y = as_store(as_loop(s)->body)->buffer;
    const buffer x = as_store(as_loop(s)->body)->value->buffer;
    const function f = make_function({x, y}, s), g = pass::split_vectors(f, haswell());
    check_same(f, pass::lower(f, haswell()));
    return count(g.body, stmt_kind::loop);
  };
  CHECK(vectors({{ir::stream_note, 1}}) == 1);
  CHECK(vectors({}) > 1);
}
