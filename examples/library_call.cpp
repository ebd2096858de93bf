// A library as one of several algorithms, and a pass of one's own. Search measures the library's
// product beside the schedules that it finds, and keeps what is faster.
#include <tilewright/tilewright.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/external.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/pass_builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>

#include <iostream>

using namespace tw;

namespace {

/// What stands for the library here: C = A B, row by row.
void library_product(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m * n; ++i) c[i] = 0;
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
}

constexpr const char* by_loops = R"(@T.prim_func
def by_loops(A: T.Buffer((64, 96), "float32"), B: T.Buffer((96, 128), "float32"), C: T.Buffer((64, 128), "float32")):
    for i, j, k in T.grid(64, 128, 96):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

constexpr const char* by_library = R"(@T.prim_func
def by_library(A: T.Buffer((64, 96), "float32"), B: T.Buffer((96, 128), "float32"), C: T.Buffer((64, 128), "float32")):
    with T.block("C"):
        T.reads(A[0:64, 0:96], B[0:96, 0:128])
        T.writes(C[0:64, 0:128])
        T.evaluate(T.call_extern("int32", "library_product", A.data, B.data, C.data, 64, 128, 96))
)";

}  // namespace

int main() {
  ir::add_external("library_product", &library_product);

  // a pass that looks at every candidate on its way to code
  int loops = 0;
  pass::pipeline passes = pass::pipeline::standard();
  passes.insert_after("peel_tails",
                      {"count_loops", [&](const ir::function& f, const target::machine&) {
                         ir::for_each_stmt(
                             f.body, [&](const ir::stmt& s) { loops += ir::as_loop(s) ? 1 : 0; });
                         return f;
                       }});
  passes.verify();

  search::workload w;
  w.function = ir::with_alternatives(ir::parse(by_loops), {ir::parse(by_library)});
  w.key = {ir::workload_key(w.function).hex(), target::host().isa_key(), "", 1};
  w.machine = target::host();
  w.exec = &backend::serial_executor();
  w.space = space::default_cpu();
  search::session_options how;
  how.trials = 24;
  how.measuring.build = search::pass_builder(passes);
  search::database db(":memory:");
  const search::tuning_result found = search::tune(w, how, db);

  const bool library_won = found.trace.find("by_library") != std::string::npos;
  std::cout << found.trials << " candidates, best " << found.best * 1e6 << " us, "
            << (library_won ? "the library's" : "a schedule of the loops") << "; " << loops
            << " loops went through the pass\n";
  return found.trials > 0 && loops > 0 ? 0 : 1;
}
