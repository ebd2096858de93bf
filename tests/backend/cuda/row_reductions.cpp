// Reductions of rows in the default space for GPUs: a block or a warp to a row, and several reductions of a row as one,
// each a choice of the search.
#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ops/normalization.hpp>
#include <tilewright/support/error.hpp>

#include "cases.hpp"
#include "gpu/workloads.hpp"
#include "gpu_list.hpp"

using namespace tilewright;

namespace {

/// What a sketch does with rows.
struct structure {
  bool joined, across_warps, across_blocks;
  explicit structure(const schedule& s) {
    const std::string text = s.trace().print();
    const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
    joined = has(".joined");
    across_warps = has("\"threadIdx.y\"");
    across_blocks = !across_warps && has("storage_scope=\"shared\"");
  }
  std::tuple<bool, bool, bool> all() const { return {joined, across_warps, across_blocks}; }
};

gpu_workloads::workload named(const std::vector<gpu_workloads::workload>& list,
                              const std::string& name) {
  for (const gpu_workloads::workload& w : list)
    if (w.name == name) return w;
  throw argument_error("no workload is called " + name);
}

/// Emulates members of each sketch. @returns the structures that came
std::set<std::tuple<bool, bool, bool>> check_sketches(const ir::function& f, int terms) {
  const space::design_space list = space::default_gpu();
  const std::vector<harness::argument> expected = cases::interpreted(f);
  std::set<std::tuple<bool, bool, bool>> out;
  for (const schedule& sketch : list.sketches(f, gpu_list::machine(), 7)) {
    out.insert(structure(sketch).all());
    const std::vector<schedule> members = gpu_list::members_of(f, sketch, 1, list);
    INFO(sketch.trace().print());
    CHECK(members.size() == 1);
    for (const schedule& s : members) {
      CHECK(trace::parse(s.trace().print()) == s.trace());
      const cases::cu::program p =
          cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
      INFO(p.text);
      const cases::cu::emulator kernels(p);
      cases::check_equal(cases::emulated(kernels, f, 3), expected, 1e-5 * (1 + terms / 64.0));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("rows: norms and softmax are offered as one reduction, a block or a warp to a row") {
  if (!cases::have_emulator()) return;
  for (const char* name : {"SFM", "SOFTMAX", "LAYERNORM"}) {
    CAPTURE(name);
    const gpu_workloads::workload w = named(gpu_workloads::small(), name);
    const auto met = check_sketches(w.function, w.terms);
    for (const bool joined : {false, true}) {
      CHECK(met.count({joined, true, false}) == 1);
      CHECK(met.count({joined, false, true}) == 1);
    }
  }
}

TEST_CASE("rows: kernels of the library") {
  if (!cases::have_emulator()) return;
  const dim_values dims{{"M", 5}, {"N", 70}};
  for (const ir::function& f :
       {reify(ops::softmax<float>, dims), reify(ops::log_softmax<float>, dims),
        reify(ops::online_softmax<float>, dims)}) {
    CAPTURE(f.name);
    const auto met = check_sketches(f, 70);
    const bool joined = f.name != "online_softmax";  // which is one already
    CHECK(met.count({joined, true, false}) == 1);
    CHECK(met.count({joined, false, true}) == 1);
  }
}

TEST_CASE("rows: sums of rows have a warp each") {
  if (!cases::have_emulator()) return;
  const gpu_workloads::workload w = named(gpu_workloads::small(), "ROWSUMS");
  CHECK(check_sketches(w.function, w.terms).count({false, true, false}) == 1);
}

TEST_CASE(
    "columns: sums of columns have a warp of them to a block, threads that lack a column or a row "
    "among them") {
  if (!cases::have_emulator()) return;
  const gpu_workloads::workload w = named(gpu_workloads::small(), "COLUMNSUMS");
  CHECK(check_sketches(w.function, w.terms).count({false, true, false}) == 1);
}

TEST_CASE("rows: elements side by side are loaded as vectors") {
  // four elements for each thread of a warp, one load of them
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((4, 256), "float32"), S: T.Buffer((4,), "float32")):
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for j_0 in range(2):
            for j_1 in T.thread_binding(32, thread="threadIdx.x"):
                for j_2 in T.unroll(4):
                    with T.block("S"):
                        vi = T.axis.spatial(4, i)
                        vj = T.axis.reduce(256, j_0 * 128 + j_1 * 4 + j_2)
                        with T.init():
                            S[vi] = T.float32(0)
                        S[vi] = S[vi] + X[vi, vj] * X[vi, vj]
)");
  const std::string text = cases::cu::print(pass::lower(f, cases::device()), cases::device()).text;
  INFO(text);
  const std::size_t first = text.find("tw_load_vector<4>(X, ");
  CHECK(first != std::string::npos);
  CHECK(text.find("tw_load_vector", first + 1) == std::string::npos);
  CHECK(text.find("X[") == std::string::npos);
  cases::check_emulated(f, 1e-4);
}

TEST_CASE("rows: a member of each structure compiles without spills") {
  if (!cases::have_nvrtc()) return;
  const target::gpu device = target::named_gpu("sm_90a");
  const space::context where{&device, 1};
  const space::design_space list = space::default_gpu();
  for (const char* name : {"SOFTMAX", "LAYERNORM"}) {
    CAPTURE(name);
    const gpu_workloads::workload w = named(gpu_workloads::full(), name);
    std::set<std::tuple<bool, bool, bool>> met;
    int in_vectors = 0;
    for (const schedule& sketch : list.sketches(w.function, where, 1)) {
      if (!met.insert(structure(sketch).all()).second) continue;
      const std::vector<schedule> members =
          gpu_list::members_of(w.function, sketch, 1, list, where);
      REQUIRE(members.size() == 1);
      INFO(members[0].trace().print());
      const cases::cu::program p =
          cases::cu::print(pass::lower(members[0].function(), device), device);
      INFO(p.text);
      in_vectors += p.text.find("tw_load_vector<") != std::string::npos ? 1 : 0;
      const cases::cu::compiled c = cases::cu::compile(p, device, std::chrono::seconds(60));
      for (const backend::launch& l : c.artifact.launches)
        CHECK(cases::cu::why_rejected(l, c.report, device) == "");
    }
    CHECK(met.size() >= 4);
    CHECK(in_vectors > 0);
  }
}
