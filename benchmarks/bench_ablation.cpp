// Figure 10a of the MetaSchedule paper on a CPU: a fused dense layer searched with one rule of the paper after the other,
// beside the default space. X[512, 768] W[768, 3072] + bias, then max(x, 0), in f32 and in bytes; W is bound. One
// thread. Each space gets the same number of trials; a session compares its winner with double precision or exactly.
//
//   bench_ablation [--trials=64] [--types=bytes,float] [--out=ablation.json]
//
// results/ablation_chart.py makes a table and a chart of the file.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/multi_level_tiling_with_intrinsic.hpp>
#include <tilewright/space/modules/parallel_vectorize_unroll.hpp>
#include <tilewright/space/modules/random_compute_location.hpp>
#include <tilewright/space/postproc/disallow_dynamic_loop.hpp>
#include <tilewright/space/postproc/rewrite_layout.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>
#include <tilewright/target/cpu.hpp>

#include "turns.hpp"

namespace bench {
namespace {

namespace tw = tilewright;
using tw::space::design_space;

std::string fused_dense(bool bytes) {
  const std::string x = bytes ? "uint8" : "float32", w = bytes ? "int8" : "float32",
                    sum = bytes ? "int32" : "float32", zero = "T." + sum + "(0)";
  const auto wide = [&](const std::string& element) {
    return bytes ? "T.cast(" + element + ", \"int32\")" : element;
  };
  return "from tvm.script import tir as T\n\n@T.prim_func\ndef main(X: T.Buffer((512, 768), \"" +
         x + "\"), W: T.Buffer((768, 3072), \"" + w + "\"), bias: T.Buffer((3072,), \"" + sum +
         "\"), Y: T.Buffer((512, 3072), \"" + sum +
         "\")):\n"
         "    T.func_attr({\"layout_free_buffers\": [1]})\n"
         "    C = T.alloc_buffer((512, 3072), \"" +
         sum + "\")\n    B = T.alloc_buffer((512, 3072), \"" + sum +
         "\")\n"
         "    for i, j, k in T.grid(512, 3072, 768):\n"
         "        with T.block(\"C\"):\n"
         "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
         "            with T.init():\n                C[vi, vj] = " +
         zero + "\n            C[vi, vj] = C[vi, vj] + " + wide("X[vi, vk]") + " * " +
         wide("W[vk, vj]") +
         "\n    for i, j in T.grid(512, 3072):\n"
         "        with T.block(\"B\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            B[vi, vj] = C[vi, vj] + bias[vj]\n"
         "    for i, j in T.grid(512, 3072):\n"
         "        with T.block(\"Y\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            Y[vi, vj] = T.max(B[vi, vj], " +
         zero + ")\n";
}

template <class Rule>
auto each_block(Rule rule) {
  return tw::space::post_order(tw::space::module(std::move(rule)));
}

struct step {
  std::string name;
  design_space space;
};

/// The rules of the paper, one more with each step. Vectors, and places of the blocks that are left, come with the tiles.
std::vector<step> steps(bool bytes) {
  using namespace tw::space;
  const auto inlining = each_block(auto_inline{});
  const auto tiling = each_block(cpu_tiling());
  parallel_vectorize_unroll vectors, unrolled;
  vectors.unroll.max_steps.clear();
  const auto places = each_block(random_compute_location{});
  const auto in_vectors = on<"root">(module(vectors)) >> places,
             unroll = on<"root">(module(unrolled)) >> places;
  const std::vector<postproc> finish{disallow_dynamic_loop{}, rewrite_parallel_vectorize_unroll{},
                                     rewrite_reduction_block{}};
  std::vector<postproc> packed = finish;
  packed.push_back(rewrite_layout{});
  std::vector<step> out{
      {"naive", design_space([](tw::schedule&) {})},
      {"+ multi-level tiling", design_space(tiling >> in_vectors).with(finish)},
      {"+ auto-inline", design_space(inlining >> tiling >> in_vectors).with(finish)},
      {"+ random unroll", design_space(inlining >> tiling >> unroll).with(finish)},
      {"+ packing", design_space(inlining >> tiling >> unroll).with(packed)}};
  if (bytes) {
    multi_level_tiling_with_intrinsic dots;
    dots.intrinsic = "dot_16x4_vnni";
    std::vector<postproc> tensorized = finish;
    tensorized.push_back(rewrite_tensorize{true});
    tensorized.push_back(rewrite_layout{});
    out.push_back(
        {"+ intrinsic",
         design_space(inlining >> each_block(dots) >> tiling >> unroll).with(tensorized)});
  }
  out.push_back({"default space", default_cpu()});
  return out;
}

tw::search::tuning_result session(const tw::ir::function& f, const step& s, int trials) {
  tw::target::cpu machine = tw::target::host();
  machine.cores = 1;
  tw::search::workload w;
  w.function = f;
  w.key = {tw::ir::workload_key(f).hex(), machine.isa_key(), "ablation", 1};
  w.family = tw::search::family_of(f);
  w.machine = &machine;
  w.exec = &tw::backend::serial_executor();
  w.space = s.space;
  tw::search::session_options o;
  o.seconds = 600;
  o.trials = trials;
  tw::search::database db(":memory:");
  return tw::search::tune(w, o, db);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  int trials = 64;
  std::string types = "bytes,float", out;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals),
                      value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (name == "--trials") {
      trials = std::atoi(value.c_str());
    } else if (name == "--types") {
      types = value;
    } else if (name == "--out") {
      out = value;
    } else {
      std::fprintf(stderr, "bench_ablation has no option %s\n", argv[i]);
      return 2;
    }
  }
  std::string json;
  for (const std::string& type : words(types)) {
    const tilewright::ir::function f = tilewright::ir::parse(fused_dense(type == "bytes"));
    double naive = 0, before = 0;
    for (const step& s : steps(type == "bytes")) {
      const tilewright::search::tuning_result r = session(f, s, trials);
      const double best = r.best > 0 ? r.best : r.baseline;
      if (naive == 0) naive = before = best;
      std::printf(
          "%-6s %-22s %10.1f us  %6.2f of naive  %5.2f of the step before  %d trials, %.0f s\n",
          type.c_str(), s.name.c_str(), best * 1e6, naive / best, before / best, r.trials,
          r.seconds);
      std::fflush(stdout);
      before = best;
      json += std::string(json.empty() ? "" : ",\n") + "{\"type\": \"" + type + "\", \"step\": \"" +
              s.name + "\", \"us\": " + std::to_string(best * 1e6) +
              ", \"trials\": " + std::to_string(r.trials) + "}";
      if (!out.empty()) std::ofstream(out) << "[" << json << "]\n";
    }
  }
}
