#include "attention_workloads.hpp"

#include <utility>

#include <tilewright/ir/text/parse.hpp>

namespace gpu_workloads {
namespace {

using namespace tilewright;

std::string with_words(std::string text,
                       const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [from, to] : words)
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  return text;
}

workload attention(const std::string& name, const attention_case& what) {
  workload out;
  out.name = name;
  out.function = attention_function(what);
  const double scores = 1.0 * what.batch * what.queries * what.keys * (what.causal ? 0.5 : 1);
  out.operations = 4 * scores * what.depth;
  const double element = what.type == "float32" ? 4 : 2;
  out.bytes =
      1.0 * what.batch * what.depth * (what.queries * (element + 4) + 2.0 * what.keys * element);
  if (what.type != "float32") out.rounding = what.type == "float16" ? 0x1p-11 : 0x1p-8;
  return out;
}

}  // namespace

ir::function attention_function(const attention_case& what) {
  const bool wide = what.type == "float32";
  const auto summed = [&](const std::string& x) {
    return wide ? x : "T.cast(" + x + ", \"float32\")";
  };
  const std::string weight = "share[vb, vi, vj]";
  const std::string score =
      what.causal ? "T.Select(vj <= vi + {s}, score[vb, vi, vj], T.min_value(\"float32\"))"
                  : "score[vb, vi, vj]";
  const std::string text = R"(@T.prim_func
def main(Q: T.Buffer(({b}, {m}, {d}), "{t}"), K: T.Buffer(({b}, {n}, {d}), "{t}"), V: T.Buffer(({b}, {n}, {d}), "{t}"), Y: T.Buffer(({b}, {m}, {d}), "float32")):
    product = T.alloc_buffer(({b}, {m}, {n}), "float32")
    score = T.alloc_buffer(({b}, {m}, {n}), "float32")
    peak = T.alloc_buffer(({b}, {m}), "float32")
    share = T.alloc_buffer(({b}, {m}, {n}), "float32")
    total = T.alloc_buffer(({b}, {m}), "float32")
    mixed = T.alloc_buffer(({b}, {m}, {d}), "float32")
    for b, i, j, k in T.grid({b}, {m}, {n}, {d}):
        with T.block("product"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                product[vb, vi, vj] = T.float32(0)
            product[vb, vi, vj] = product[vb, vi, vj] + {q} * {k}
    for b, i, j in T.grid({b}, {m}, {n}):
        with T.block("score"):
            vb, vi, vj = T.axis.remap("SSS", [b, i, j])
            score[vb, vi, vj] = T.float32({scale}) * product[vb, vi, vj]
    for b, i, j in T.grid({b}, {m}, {n}):
        with T.block("peak"):
            vb, vi, vj = T.axis.remap("SSR", [b, i, j])
            with T.init():
                peak[vb, vi] = T.min_value("float32")
            peak[vb, vi] = T.max(peak[vb, vi], {x})
    for b, i, j in T.grid({b}, {m}, {n}):
        with T.block("share"):
            vb, vi, vj = T.axis.remap("SSS", [b, i, j])
            share[vb, vi, vj] = T.exp({x} - peak[vb, vi])
    for b, i, j in T.grid({b}, {m}, {n}):
        with T.block("total"):
            vb, vi, vj = T.axis.remap("SSR", [b, i, j])
            with T.init():
                total[vb, vi] = T.float32(0)
            total[vb, vi] = total[vb, vi] + share[vb, vi, vj]
    for b, i, e, j in T.grid({b}, {m}, {d}, {n}):
        with T.block("mixed"):
            vb, vi, ve, vj = T.axis.remap("SSSR", [b, i, e, j])
            with T.init():
                mixed[vb, vi, ve] = T.float32(0)
            mixed[vb, vi, ve] = mixed[vb, vi, ve] + {w} * {v}
    for b, i, e in T.grid({b}, {m}, {d}):
        with T.block("Y"):
            vb, vi, ve = T.axis.remap("SSS", [b, i, e])
            Y[vb, vi, ve] = mixed[vb, vi, ve] / total[vb, vi]
)";
  return ir::parse(with_words(
      text, {{"{x}", score},
             {"{q}", summed("Q[vb, vi, vk]")},
             {"{k}", summed("K[vb, vj, vk]")},
             {"{v}", summed("V[vb, vj, ve]")},
             {"{w}", wide ? weight : summed("T.cast(" + weight + ", \"" + what.type + "\")")},
             {"{scale}", std::to_string(what.scale)},
             {"{b}", std::to_string(what.batch)},
             {"{m}", std::to_string(what.queries)},
             {"{n}", std::to_string(what.keys)},
             {"{s}", std::to_string(what.keys - what.queries)},
             {"{d}", std::to_string(what.depth)},
             {"{t}", what.type}}));
}

std::vector<workload> attention_workloads() {
  constexpr int heads = 128 * 12;
  std::vector<workload> out;
  for (const int depth : {64, 128})
    for (const int length : {1024, 2048, 4096})
      out.push_back(attention("ATT" + std::to_string(depth) + "_" + std::to_string(length),
                              {"float16", heads, length, length, depth, false}));
  out.push_back(attention("ATT64_CAUSAL", {"float16", heads, 1024, 1024, 64, true}));
  out.push_back(attention("ATT64_1500", {"float16", heads, 1500, 1500, 64, false}));
  out.push_back(attention("ATT64_CAUSAL_4096", {"float16", heads, 4096, 4096, 64, true}));
  out.push_back(attention("ATT64_BF16", {"bfloat16", heads, 1024, 1024, 64, false}));
  out.push_back(attention("ATT64_F32", {"float32", 12, 1024, 1024, 64, false}));
  return out;
}

std::vector<workload> small_attention() {
  return {attention("ATT_F16", {"float16", 2, 128, 128, 64, false}),
          attention("ATT_F16_CAUSAL", {"float16", 1, 128, 256, 32, true}),
          attention("ATT_F16_RAGGED", {"float16", 2, 77, 197, 64, false}),
          attention("ATT_F16_RAGGED_CAUSAL", {"float16", 1, 150, 197, 64, true}),
          attention("ATT_F16_ONE_QUERY", {"float16", 2, 1, 300, 64, false}),
          attention("ATT_BF16", {"bfloat16", 1, 128, 128, 128, false}),
          attention("ATT_F32", {"float32", 2, 128, 64, 32, false})};
}

}  // namespace gpu_workloads
