// Figure 4 of the MetaSchedule paper: multi-level tiling as a module. A module analyses a block,
// draws what it does not know, and transforms; it says nothing about any one program.
#include <tilewright/space/block_profile.hpp>
#include <tilewright/tilewright.hpp>

#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

using namespace tw;

namespace {

constexpr auto matmul = kernel<"matmul">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

constexpr auto conv1d_relu = kernel<"conv1d_relu">(
    [](in<"X", float, "W", "C"> X, in<"F", float, "R", "C", "K"> F, out<"Y", float, "P", "K"> Y) {
      using axes::p, axes::k, axes::r, axes::c;
      return Y(p, k) = max(sum<r, c>(X(p + r, c) * F(r, c, k)), 0.0f);
    });

/// Analysis: a reduction whose operands are used more than once.
bool reuses_operands(const schedule& s, const std::string& block) {
  const auto p = space::profile(s, block);
  return p && p->reduction && p->contiguous() && p->reuse(*p->contiguous());
}

/// Sampling and transformation: every spatial loop gets four tiles, every reduction loop two.
void tile_in_levels(schedule& s, block_rv block) {
  constexpr std::string_view structure = "SSRSRS";
  std::vector<std::vector<loop_rv>> level(structure.size());
  const std::vector<loop_rv> loops = s.get_loops(block);
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const bool reduces = s.get(block).block->iters[l].kind == ir::iter_kind::reduce;
    const char letter = reduces ? 'R' : 'S';
    const auto n = static_cast<int>(std::count(structure.begin(), structure.end(), letter));
    const auto tiles = s.split(loops[l], s.sample_perfect_tile(loops[l], n, 64));
    for (std::size_t at = 0, next = 0; at < structure.size(); ++at)
      if (structure[at] == letter) level[at].push_back(tiles[next++]);
  }
  std::vector<loop_rv> order;
  for (const auto& tiles : level) order.insert(order.end(), tiles.begin(), tiles.end());
  s.reorder(order);
}

/// The module on every block, and the same as an expression: the structure is a step.
using space::post_order, space::when, space::module, space::tile, space::perfect;
const space::design_space by_function = post_order(when(reuses_operands, module(tile_in_levels)));
const space::design_space by_expression =
    post_order(when(reuses_operands, tile<"SSRSRS">(perfect(64))));

bool show(const char* name, const ir::function& f) {
  const space::context machine{&target::host(), 1};
  const schedule s = by_function.sketches(f, machine, 7).front();
  std::cout << "--- " << name << "\n" << s.trace().print() << "\n" << s.show() << "\n";
  return by_expression.sketches(f, machine, 7).front().trace() == s.trace();
}

}  // namespace

int main() {
  const bool same =
      show("matmul", reify(matmul, {{"M", 128}, {"N", 128}, {"K", 64}})) &&
      show("conv1d and relu: the reduction alone is tiled",
           reify(conv1d_relu, {{"W", 66}, {"C", 16}, {"R", 3}, {"P", 64}, {"K", 32}}));
  std::cout << (same ? "the expression draws the same\n" : "the expression draws something else\n");
  return same ? 0 : 1;
}
