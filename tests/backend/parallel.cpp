// Parallel loops of compiled functions (impl/backend/llvm/function.ipp).
#include <atomic>

#include "harness.hpp"

using namespace harness;

namespace {

/// Y[i, j] = X[i, j] * s + i through a parallel loop that needs everything a region may capture.
function captured() {
  const buffer x = make_buffer("X", dtype::f32, {37, 8}),
               y = make_buffer("Y", dtype::f32, {3, 37, 8}),
               row = make_buffer("row", dtype::f32, {8}, "local");
  const var s = make_var("s", dtype::f32), flag = make_var("flag", dtype::boolean),
            o = make_var("o"), i = make_var("i"), j = make_var("j"), t = make_var("t", dtype::i32);
  const expr value = load(x, {i, j}) * s + load(row, {j}) + cast(dtype::f32, o * 100 + t);
  const stmt inner = make_loop(j, 0, 8, make_store(y, {o, i, j}, select(flag, value, -value)),
                               loop_kind::vectorized);
  const stmt region = make_loop(i, 0, 37, make_let(t, i * 2 + o, inner), loop_kind::parallel);
  const stmt fill = make_loop(j, 0, 8, make_store(row, {j}, load(x, {o, j}) * real(dtype::f32, 2)),
                              loop_kind::vectorized);
  function f =
      make("captured", {x, y}, make_loop(o, 0, 3, make_allocate(row, make_seq({fill, region}))));
  f.params.push_back({{}, s});
  f.params.push_back({{}, flag});
  return f;
}

}  // namespace

TEST_CASE("a parallel loop sees outer variables, scalars and stack slots, on any executor") {
  backend::pool two(2), five(5);
  const std::vector<const backend::executor*> executors{nullptr,       &backend::serial_executor(),
                                                        &two.view(),   &five.view(),
                                                        &five.view(1), &five.view(3)};
  for (const backend::executor* exec : executors) {
    options o;
    o.exec = exec;
    o.values["flag"] = {1};
    o.tolerance = 1e-6;
    check_agrees(captured(), o);
  }
}

TEST_CASE("workers write to slots of their own in the workspace") {
  buffer_node node;
  node.name = "W";
  node.type = dtype::f32;
  node.shape = {64};
  node.scope = "worker";
  node.elem_offset = 0;
  const buffer w(new buffer_node(node)), x = make_buffer("X", dtype::f32, {40, 64}),
                                         y = make_buffer("Y", dtype::f32, {40, 64});
  const var i = make_var("i"), j = make_var("j"), k = make_var("k");
  const stmt fill = make_loop(j, 0, 64, make_store(w, {j}, load(x, {i, expr(63) - j})));
  const stmt drain = make_loop(k, 0, 64, make_store(y, {i, k}, load(w, {k}) + real(dtype::f32, 1)));
  function f =
      make("workers", {x, y},
           make_loop(i, 0, 40, make_allocate(w, make_seq({fill, drain})), loop_kind::parallel));
  f.attrs["tilewright.workspace_bytes"] = 64 + 2 * 4096;
  f.attrs["tilewright.worker_offset"] = 64;
  f.attrs["tilewright.worker_bytes"] = 4096;
  f.attrs["tilewright.workers"] = 2;
  backend::pool two(2), four(4);
  for (const backend::executor* exec :
       {static_cast<const backend::executor*>(nullptr), &two.view(), &four.view()}) {
    options o;  // four threads are more than the workspace has slots for: the loop runs serially
    o.exec = exec;
    check_agrees(f, o);
  }
}

TEST_CASE("a cancelled call ends early and says so") {
  if (!have_compiler()) return;
  const buffer x = make_buffer("X", dtype::f32, {64, 64}),
               y = make_buffer("Y", dtype::f32, {64, 64});
  const var i = make_var("i"), j = make_var("j"), k = make_var("k");
  const auto body = [&](loop_kind kind) {
    return make(
        "work", {x, y},
        make_loop(i, 0, 64,
                  make_loop(j, 0, 64,
                            make_loop(k, 0, 64,
                                      make_store(y, {i, j}, load(y, {i, j}) + load(x, {i, k})))),
                  kind));
  };
  backend::pool two(2);
  for (loop_kind kind : {loop_kind::serial, loop_kind::parallel})
    for (const backend::executor* exec :
         {static_cast<const backend::executor*>(nullptr), &two.view()}) {
      const function f = body(kind);
      options o;
      std::atomic<int> flag{1};
      o.exec = exec;
      o.cancel = &flag;
      std::vector<argument> args = make_arguments(f, o);
      CHECK(run_compiled(f, target::host(), args, o) == backend::call_cancelled);
      flag = 0;
      CHECK(run_compiled(f, target::host(), args, o) == backend::call_done);
    }
}
