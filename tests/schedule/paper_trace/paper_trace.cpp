// The trace that the MetaSchedule paper prints (appendix A.3): tensor cores for a dense layer with
// GeLU. It is applied as the paper prints it and as TVM prints it today, and gives what TVM 0.27
// makes of it.
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include <tilewright/arith/normalize.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/schedule/schedule.hpp>

#include "../script_schedule.hpp"

using namespace tilewright;

namespace {

std::string text_of(const std::string& name) {
  std::ifstream in("tests/schedule/paper_trace/" + name, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The product of the layer in float32, small enough to be run.
constexpr const char* small_layer = R"(@T.prim_func
def main(X: T.Buffer((32, 8), "float32"), W: T.Buffer((32, 8), "float32"), bias: T.Buffer((32,), "float32"), out: T.Buffer((32, 32), "float32")):
    d = T.alloc_buffer((32, 32), "float32")
    for i, j, k in T.grid(32, 32, 8):
        with T.block("T_dense"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                d[vi, vj] = T.float32(0)
            d[vi, vj] = d[vi, vj] + X[vi, vk] * W[vj, vk]
    for i, j in T.grid(32, 32):
        with T.block("T_add"):
            vi, vj = T.axis.remap("SS", [i, j])
            out[vi, vj] = T.max(d[vi, vj] + bias[vj], T.float32(0))
)";

}  // namespace

TEST_CASE("the trace of the paper, in the spelling of 2022 and in today's, gives TVM's result") {
  const ir::function f = ir::parse(text_of("program.py"));
  const ir::function expected = arith::normalize(ir::parse(text_of("result_of_tvm.py")));
  for (const char* name : {"trace_2022.txt", "trace_today.txt"}) {
    CAPTURE(name);
    const trace t = trace::parse(text_of(name));
    schedule s(f);
    REQUIRE_NOTHROW(t.apply_to(s));
    CHECK(ir::equal(arith::normalize(s.function()), expected));
    CHECK(trace::parse(s.trace().print()) == s.trace());
  }
}

TEST_CASE("the trace of the paper: its steps on a layer that can be run change nothing") {
  const ir::function f = ir::parse(small_layer);
  schedule s(f);
  const block_rv dense = s.block("T_dense");
  const block_rv back = s.reindex(dense, written_buffer(0));
  const block_rv x = s.reindex(dense, read_buffer(0)), w = s.reindex(dense, read_buffer(1));
  const auto [i, j, k] = s.loops<3>(dense);
  const auto [i0, i1] = s.split(i, {8, 4});
  const auto [j0, j1] = s.split(j, {8, 4});
  const auto [k0, k1] = s.split(k, {2, 4});
  s.reorder(i0, j0, k0, i1, j1, k1);
  const block_rv tile = s.blockize(i1);
  const auto rows = s.split(i0, {2, 2, 2}), columns = s.split(j0, {2, 2, 2});
  s.reorder(rows[0], columns[0], rows[1], columns[1], k0, rows[2], columns[2]);
  s.bind(s.fuse(rows[0], columns[0]), "blockIdx.x");
  const loop_rv warps = s.fuse(rows[1], columns[1]);
  s.bind(warps, "threadIdx.y");
  const block_rv store = s.write_at(warps, tile, 0, "wmma.accumulator");
  s.reverse_compute_inline(back);
  s.read_at(k0, tile, 0, "shared.dyn");
  s.read_at(k0, tile, 1, "shared.dyn");
  s.read_at(k0, tile, 0, "wmma.matrix_a");
  s.read_at(k0, tile, 1, "wmma.matrix_b");
  s.compute_inline(x);
  s.compute_inline(w);
  s.reverse_compute_inline(s.block("T_add"));
  CHECK(s.get(store).block->writes[0].buffer->name == "out");
  CHECK(s.get(store).block->reads.size() == 2);
  check_meaning(s, f);
}
