#pragma once

#include <algorithm>
#include <functional>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/space/expression/at_hand.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/expression.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE random_size choose(std::vector<std::int64_t> candidates,
                                     std::vector<double> weights) {
  if (candidates.empty() || support::any(candidates, [](std::int64_t c) { return c < 1; }))
    throw argument_error("choose({sizes}) needs at least one size, all positive");
  if (!weights.empty() && weights.size() != candidates.size())
    throw argument_error("choose({sizes}, {weights}) needs one weight a size");
  return {std::move(candidates), std::move(weights)};
}

TILEWRIGHT_INLINE scope scope::on(std::string name) const {
  return {where, choices, std::move(name), {}, variables, {}};
}

TILEWRIGHT_INLINE block_rv scope::get_block(schedule& s) const { return s.get_block(block); }

TILEWRIGHT_INLINE bool scope::exists(const schedule& s, std::string_view name) const {
  return has_block(s, std::string(name));
}

TILEWRIGHT_INLINE std::vector<loop_rv>& scope::levels(schedule& s, std::string_view axis) {
  for (tiled_axis& known : axes)
    if (known.axis == axis) return known.levels;
  for (loop_rv loop : s.get_loops(get_block(s)))
    if (s.get(loop).var->name == axis) {
      axes.push_back({std::string(axis), {loop}});
      return axes.back().levels;
    }
  primitive::refusal{"space"}(
      1, {"block ", block, " has no loop of axis ", axis, "; ", detail::loops_text(s, *this)});
}

TILEWRIGHT_INLINE loop_rv scope::at(schedule& s, const meta::loop_level& level) {
  const std::vector<loop_rv>& loops = levels(s, level.axis());
  if (level.level < 0 || static_cast<std::size_t>(level.level) >= loops.size())
    primitive::refusal{"space"}(
        2, {"axis ", level.axis(), " of block ", block, " has ", loops.size(), " levels; level ",
            level.level, " does not exist, the first one is level 0"});
  return loops[static_cast<std::size_t>(level.level)];
}

namespace detail {

TILEWRIGHT_INLINE void tile_axis(schedule& s, scope& in, std::string_view axis, int levels,
                                 const random_size& innermost) {
  const loop_rv loop = in.at(s, meta::loop_level(axis, 0));
  std::vector<loop_rv> tiled;
  if (innermost.weights.empty()) {
    tiled = s.split(loop, s.sample_tile(loop, levels, innermost.candidates));
  } else {
    const expr_rv inner = s.sample_categorical(innermost.candidates, innermost.weights);
    const auto [outer, last] = s.split(loop, {infer, inner});
    tiled = levels == 2 ? std::vector<loop_rv>{outer}
                        : s.split(outer, s.sample_perfect_tile(outer, levels - 1, -1));
    tiled.push_back(last);
  }
  in.levels(s, axis) = std::move(tiled);
}

TILEWRIGHT_INLINE void write_tile(expression_text& out, std::string_view structure,
                                  const std::optional<perfect_sizes>& perfect) {
  std::string text = "tile<\"" + std::string(structure) + "\">";
  if (perfect) text += "(perfect(" + std::to_string(perfect->max_innermost_factor) + "))";
  out.item(std::move(text));
}

TILEWRIGHT_INLINE void write_tile(expression_text& out, std::string_view axis, int levels,
                                  const random_size& innermost) {
  std::string text = "tile<" + std::string(axis) + ", " + std::to_string(levels) + ">(choose(" +
                     list_text(innermost.candidates);
  if (!innermost.weights.empty()) text += ", " + list_text(innermost.weights);
  out.item(text + "))");
}

TILEWRIGHT_INLINE void tile_structure(schedule& s, scope& in, std::string_view structure,
                                      const std::optional<perfect_sizes>& perfect) {
  const block_rv b = in.get_block(s);
  const std::vector<loop_rv> loops = s.get_loops(b);
  const ir::block_node& block = *s.get(b).block;
  if (loops.size() != block.iters.size())
    primitive::refusal{"tile"}(1, {"block ", in.block, " is already tiled: it has ", loops.size(),
                                   " loops for ", block.iters.size(), " iteration variables"});
  std::vector<std::vector<loop_rv>> position(structure.size());
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const char letter = block.iters[l].kind == ir::iter_kind::reduce ? 'R' : 'S';
    const int levels = static_cast<int>(std::count(structure.begin(), structure.end(), letter));
    const std::string axis = s.get(loops[l]).var->name;
    std::vector<loop_rv> tiled{loops[l]};
    if (perfect && levels >= 2)
      tiled =
          s.split(loops[l], s.sample_perfect_tile(loops[l], levels, perfect->max_innermost_factor));
    else if (levels >= 2)
      tiled = s.split(loops[l], s.sample_tile(loops[l], levels, {4, 8, 16, 32, 64}));
    std::erase_if(in.axes, [&](const auto& known) { return known.axis == axis; });
    in.axes.push_back({axis, tiled});
    std::size_t next = 0;
    for (std::size_t p = 0; p < structure.size() && next < tiled.size(); ++p)
      if (structure[p] == letter) position[p].push_back(tiled[next++]);
  }
  std::vector<loop_rv> order;
  for (const std::vector<loop_rv>& p : position) order.insert(order.end(), p.begin(), p.end());
  s.reorder(order);
}

/// One sketch for each combination of the choices that `build` makes.
inline std::vector<schedule> expand(schedule start, const context& where, const held_step& build) {
  constexpr std::size_t limit = 256;
  return enumerate(start, where, limit, [&](schedule& s, chooser& choices) {
    const std::vector<std::string> blocks = root_block_names(s);
    scope in{&where, &choices, blocks.empty() ? std::string() : blocks.back(), {}, {}, {}};
    build.run(s, in);
  });
}

TILEWRIGHT_INLINE design_space space_of(shared_step expression) {
  expression_text text;
  expression->write(text);
  return design_space(
      design_space::function([e = std::move(expression)](schedule s, const context& where) {
        return expand(std::move(s), where, *e);
      }),
      text.text());
}

}  // namespace detail
}  // namespace tilewright::space
