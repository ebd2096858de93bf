// Figure 6 of the MetaSchedule paper: a program with random choices runs several times, and each
// run leaves a trace. The instructions are those of all runs; the decisions are its own.
#include <tilewright/tilewright.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace tw;

namespace {

constexpr auto matmul = kernel<"matmul">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

void tiles_and_unrolling(schedule& s) {
  const block_rv c = s.get_block("C");
  const auto [i, j, k] = s.loops<3>(c);
  const auto ti = s.split(i, s.sample_perfect_tile(i, 3));
  const auto tj = s.split(j, s.sample_tile(j, 2, {8, 16, 32}));
  const auto [k0, k1] = s.split(k, {infer, s.sample_categorical({2, 4, 8}, {1, 2, 1})});
  s.reorder(ti[0], tj[0], ti[1], k0, k1, ti[2], tj[1]);
  s.unroll(k1);
  s.vectorize(tj[1]);
}

std::string decision_text(const decision& d) {
  std::string out;
  for (const std::int64_t v : d) out += (out.empty() ? "" : " ") + std::to_string(v);
  return out;
}

}  // namespace

int main() {
  const ir::function f = reify(matmul, {{"M", 96}, {"N", 100}, {"K", 64}});
  std::vector<trace> runs;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    schedule s(f, seed);
    tiles_and_unrolling(s);
    runs.push_back(s.trace());
  }
  std::printf("%-24s %-10s %-10s %-10s %-10s\n", "instruction", "run 1", "run 2", "run 3", "run 4");
  for (std::size_t at = 0; at < runs[0].size(); ++at) {
    std::printf("%-24s", std::string(runs[0][at].what->kind->name).c_str());
    for (const trace& t : runs) std::printf(" %-10s", decision_text(t[at].choice).c_str());
    std::printf("\n");
  }
  std::printf("\nrun 1 as text:\n%s", runs[0].print().c_str());

  // A trace is all there is to know: from its text the same program comes again.
  schedule first(f), again(f);
  runs[0].apply_to(first);
  trace::parse(runs[0].print()).apply_to(again);
  return first.show() == again.show() ? 0 : 1;
}
