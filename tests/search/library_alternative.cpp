// A call of a library as one of several algorithms, and passes of one's own, in a session.
#include <doctest/doctest.h>

#include <atomic>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/external.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/pass_builder.hpp>

#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

namespace {

std::atomic<int> calls{0};

void library(const float* a, const float* b, float* c, int m, int n, int k) {
  ++calls;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
}
void wrong_library(const float*, const float*, float* c, int m, int n, int) {
  for (int i = 0; i < m * n; ++i) c[i] = 1;
}

struct known {
  known(const char* name, void (*f)(const float*, const float*, float*, int, int, int))
      : name_(name) {
    ir::add_external(name, f);
  }
  ~known() { ir::remove_external(name_); }
  const char* name_;
};

/// The product with a second algorithm, a call of this function and then max(., 0).
workload with_call_of(const std::string& name) {
  workload w = product(48);
  const ir::function second = ir::parse(R"(@T.prim_func
def by_library(A: T.Buffer((48, 32), "float32"), B: T.Buffer((32, 64), "float32"), C: T.Buffer((48, 64), "float32")):
    P = T.alloc_buffer((48, 64), "float32")
    with T.block("P"):
        T.reads(A[0:48, 0:32], B[0:32, 0:64])
        T.writes(P[0:48, 0:64])
        T.evaluate(T.call_extern("int32", ")" +
                                        name + R"(", A.data, B.data, P.data, 48, 64, 32))
    for i, j in T.grid(48, 64):
        with T.block("R"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(P[vi, vj], T.float32(0))
)");
  w.function = ir::with_alternatives(w.function, {second});
  return w;
}

}  // namespace

TEST_CASE("a call of a library is measured beside the schedules of a program") {
  const known function("test_library", &library);
  const workload w = with_call_of("test_library");
  database db(":memory:");
  calls = 0;
  const tuning_result r = tune(w, few(24), db);
  CHECK(r.trials == 24);
  CHECK(calls > 0);
  CHECK_FALSE(r.code.object.empty());
  bool called = false;
  for (const record& x : db.all())
    called = called || x.trace.find("by_library") != std::string::npos;
  CHECK(called);
}

TEST_CASE("a library that computes something else is refused") {
  const known function("test_wrong_library", &wrong_library);
  database db(":memory:");
  CHECK_THROWS_AS(tune(with_call_of("test_wrong_library"), few(12), db), error);
}

TEST_CASE("candidates are built with passes of one's own") {
  std::atomic<int> ran{0};
  pass::pipeline mine = pass::pipeline::standard();
  mine.insert_after("lower_blocks",
                    {"count", [&ran](const ir::function& f, const target::machine&) {
                       ++ran;
                       return f;
                     }});
  mine.verify();
  const workload w = product();
  const built made = pass_builder(mine)(w.function, w.machine);
  CHECK(made.error.empty());
  CHECK(made.code);
  CHECK(ran == 1);
  session_options o = few(4);
  o.measuring.build = pass_builder(mine);
  database db(":memory:");
  CHECK(tune(w, o, db).trials == 4);
  CHECK(ran > 4);
  mine.insert_before("plan_workspace",
                     {"break", [](const ir::function&, const target::machine&) -> ir::function {
                        throw build_error("pass \"break\" does not like it");
                      }});
  CHECK(pass_builder(mine)(w.function, w.machine).error == "pass \"break\" does not like it");
}
