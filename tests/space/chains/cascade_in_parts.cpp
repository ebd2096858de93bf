#include <tilewright/space/chains/cascade_in_parts.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/error.hpp>

#include "backend/harness.hpp"
#include "schedule/primitive/reductions/drawn_cascades.hpp"
#include "space/draws.hpp"
#include "space/trace_text.hpp"

using namespace tilewright;

namespace {

bool in_parts(const schedule& s) { return traces::mentions(s, "main.parts"); }

std::vector<schedule> parted_sketches(const ir::function& f, int threads = 1) {
  std::vector<schedule> out = space::default_cpu().sketches(f, draws::haswell(threads), 1);
  std::erase_if(out, [](const schedule& s) { return !in_parts(s); });
  return out;
}

/// What `f`, all of whose parameters are of one float type, leaves in the last one; the others begin with
/// numbers that both types hold.
template <class T>
std::vector<double> interpreted(const ir::function& f) {
  std::vector<std::vector<T>> memory;
  std::vector<ir::tensor_view> views;
  for (const ir::param& p : f.params) {
    std::vector<T>& data =
        memory.emplace_back(static_cast<std::size_t>(harness::elements(p.buffer)));
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<T>(harness::sample(static_cast<std::int64_t>(i), p.buffer->type));
    views.push_back({data.data(), {}});
  }
  ir::interpret(f, std::move(views));
  return {memory.back().begin(), memory.back().end()};
}

std::vector<double> compiled(const ir::function& f, const ir::function& scheduled) {
  std::vector<harness::argument> got = harness::make_arguments(f, {});
  REQUIRE(harness::run_compiled(pass::lower(scheduled, target::host()), target::host(), got, {}) ==
          backend::call_done);
  std::vector<double> out(static_cast<std::size_t>(harness::elements(f.params.back().buffer)));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<double>(harness::raw<float>(got.back().bytes.data() + i * sizeof(float)));
  return out;
}

}  // namespace

TEST_CASE("cascade in parts: random programs, interpreted and compiled, beside two precisions") {
  std::size_t sketches = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const drawn_cascade drawn(seed);
    if (drawn.keys() % 64 != 0 || drawn.keys() == 64) continue;
    const ir::function f = drawn.function();
    INFO(ir::print(f));
    const std::vector<schedule> made = parted_sketches(f, seed % 2 == 0 ? 4 : 1);
    REQUIRE_FALSE(made.empty());
    sketches += made.size();
    draws::check(f, made, 3);
    if (!harness::have_compiler()) continue;
    const std::vector<double> exact = interpreted<double>(drawn.function("float64")),
                              got = compiled(f, made[0].function());
    for (std::size_t i = 0; i < got.size(); ++i)
      REQUIRE(std::abs(got[i] - exact[i]) <= 2e-5 * std::max(1.0, std::abs(exact[i])));
  }
  CHECK(sketches > 10);
}

TEST_CASE("cascade in parts: scores of a part and a group of rows alone are stored") {
  std::uint64_t seed = 1;
  while (drawn_cascade(seed).keys() != 192 || drawn_cascade(seed).rows() != 24) ++seed;
  const ir::function f = drawn_cascade(seed).function();
  CHECK(space::cascade_part_lengths(schedule(f)) == std::vector<std::int64_t>{64});
  const ir::function lowered = pass::lower(parted_sketches(f)[0].function(), *draws::haswell().cpu);
  std::int64_t shares = 0;
  ir::for_each_stmt(lowered.body, [&](const ir::stmt& s) {
    const ir::allocate_node* made = ir::as_allocate(s);
    if (made && made->buffer->name == "share_part")
      shares = std::max(shares, harness::elements(made->buffer));
  });
  CHECK(shares >= 8 * 64);
  CHECK(shares <= 24 * (64 + 16));  // rows may be padded
}

TEST_CASE("cascade in parts: groups of rows come first where there are rows") {
  const auto first_moves = [](int rows) {
    std::uint64_t seed = 1;
    while (drawn_cascade(seed).rows() != rows || drawn_cascade(seed).keys() < 64) ++seed;
    const ir::function f = drawn_cascade(seed).function();
    const std::vector<schedule> all = space::default_cpu().sketches(f, draws::haswell(), 1);
    CHECK(all.size() > 2);
    draws::check(f, {all.front(), all.back()}, 6);
    return traces::mentions(all.front(), "sch.compute_at(") &&
           space::suits_cascade_in_parts(schedule(f));
  };
  CHECK(first_moves(16));
  CHECK(first_moves(24));
  CHECK_FALSE(first_moves(1));
}

TEST_CASE("cascade in parts: programs without a cascade keep their sketches") {
  const ir::function sum = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((8, 128), "float32"), Y: T.Buffer((8,), "float32")):
    for i, j in T.grid(8, 128):
        with T.block("Y"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vj]
)");
  schedule s(sum);
  CHECK(space::cascade_part_lengths(s).empty());
  space::chooser choices;
  CHECK_THROWS_AS(space::cascade_in_parts(s, draws::haswell(), choices), schedule_error);
}
