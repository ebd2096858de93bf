#include <tilewright/space/cpu.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/print.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;

namespace {

/// C[i, j] = sum over k of A[i, k] * B[k, j]
ir::function matmul(int m, int n, int k) {
  using namespace tilewright::ir;
  const buffer a = make_buffer("A", dtype::f32, {m, k}), b = make_buffer("B", dtype::f32, {k, n}),
               c = make_buffer("C", dtype::f32, {m, n});
  const var i = make_var("i"), j = make_var("j"), kk = make_var("k");
  const var vi = make_var("vi"), vj = make_var("vj"), vk = make_var("vk");
  block_node block;
  block.name = "C";
  block.iters = {{vi, {0, m}, iter_kind::spatial}, {vj, {0, n}, iter_kind::spatial}, {vk, {0, k}, iter_kind::reduce}};
  block.reads = {{a, point_box({vi, vk})}, {b, point_box({vk, vj})}};
  block.writes = {{c, point_box({vi, vj})}};
  block.init = make_store(c, {vi, vj}, real(dtype::f32, 0));
  block.body = make_store(c, {vi, vj}, load(c, {vi, vj}) + load(a, {vi, vk}) * load(b, {vk, vj}));
  function f;
  f.params = {{a, {}}, {b, {}}, {c, {}}};
  stmt nest = make_realize({i, j, kk}, boolean(true), make_block(std::move(block)));
  nest = make_loop(i, 0, m, make_loop(j, 0, n, make_loop(kk, 0, k, nest)));
  f.body = make_root(nest);
  return f;
}

}  // namespace

TEST_CASE("the default space offers several sketches of a matrix product") {
  const target::cpu cpu = target::named("haswell");
  const space::context where{&cpu, 1};
  const std::vector<schedule> sketches = space::default_cpu().sketches(matmul(127, 131, 129), where, 1);
  CHECK(sketches.size() >= 4);
  MESSAGE(sketches.front().show());
  MESSAGE(sketches.back().show());
  MESSAGE(sketches.back().trace().print());
}
