// Every primitive and every sampling as a step of a space expression.
//
//   constexpr variable<"tiles"> tiles;
//   constexpr variable<"copy"> copy;
//
//   on<"C">(steps(let<tiles> = sample_perfect_tile<i, 2>,
//                 split<i, tiles>,
//                 let<copy> = cache_write<here, 0, "local">,
//                 reverse_compute_at<copy, i[0]>))
//
// A step is called after its primitive and takes the primitive's arguments in their order, as
// template arguments: random variables, loops of axes, blocks (a variable, a name, or `here`),
// numbers and texts. Numbers that arithmetic makes, weights, index maps and buffers follow in
// parentheses: `split<i>(infer, tiles[1] * 2)`, `reindex<here>(read_buffer(0))`. Arguments with a
// default may be left out. What a loop of an axis is split into are the levels of the axis.
//
// The steps come from the list of instruction kinds (schedule/instruction_list.hpp), one each. That a
// variable was made by a step before is checked by the compiler; whether it is of the right kind,
// and whether the step is legal, is found out when it runs.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/meta/loop_level.hpp>
#include <tilewright/schedule/instruction_list.hpp>
#include <tilewright/space/names.hpp>
#include <tilewright/space/operand.hpp>

namespace tilewright::space {
namespace detail {

/// Runs the primitive of that name and returns what it makes.
/// @throws schedule_error naming the step where an argument is none that the primitive takes
std::vector<rv> run_primitive(schedule& s, scope& in, std::string_view primitive,
                              const operand* operands, std::size_t count,
                              const std::vector<step_argument>& more);
/// @throws schedule_error when there are several names, and not one for each of the values
void name_values(scope& in, const operand* names, std::size_t count, std::vector<rv> values);

template <operand... Operands>
struct operand_list {
  static constexpr std::array<operand, sizeof...(Operands) + 1> all{Operands..., operand(0)};
  static constexpr std::size_t size = sizeof...(Operands);
  /// Calls `visit(name)` for the axes among them.
  template <class Visit>
  static constexpr void each_axis(const Visit& visit) {
    for (std::size_t n = 0; n < size; ++n)
      if (all[n].is == operand::role::level) visit(all[n].view());
  }
  static constexpr void walk(environment& e) {
    for (std::size_t n = 0; n < size; ++n)
      if (all[n].is == operand::role::variable)
        e.use(all[n].view());
      else if (all[n].is == operand::role::level)
        e.use_level(all[n].view(), all[n].number);
  }
  /// A split leaves its axis with levels that nobody has counted.
  static constexpr void walk_split(environment& e) {
    if (size > 0 && all[0].is == operand::role::level) e.tile(all[0].view(), 0);
  }
};

/// A primitive with further arguments in parentheses.
template <fixed_string Primitive, class Operands, class... More>
struct called_step {
  using tilewright_space = void;
  using operands = Operands;
  static constexpr std::string_view primitive = Primitive.view();
  std::vector<step_argument> more;

  std::vector<rv> run(schedule& s, scope& in) const {
    return run_primitive(s, in, primitive, Operands::all.data(), Operands::size, more);
  }
  void operator()(schedule& s, scope& in) const { run(s, in); }
  void write(expression_text& out) const {
    out.step(primitive, Operands::all.data(), Operands::size, more);
  }
  static constexpr void walk(environment& e) {
    Operands::walk(e);
    (variables_of<More>::walk(e), ...);
    if (primitive == "split") Operands::walk_split(e);
  }
};

template <fixed_string Primitive, operand... Operands>
struct primitive_step {
  using tilewright_space = void;
  using operands = operand_list<Operands...>;
  static constexpr std::string_view primitive = Primitive.view();

  std::vector<rv> run(schedule& s, scope& in) const {
    return run_primitive(s, in, primitive, operands::all.data(), operands::size, {});
  }
  void operator()(schedule& s, scope& in) const { run(s, in); }
  void write(expression_text& out) const {
    out.step(primitive, operands::all.data(), operands::size);
  }
  static constexpr void walk(environment& e) {
    operands::walk(e);
    if (primitive == "split") operands::walk_split(e);
  }

  template <step_value... More>
  called_step<Primitive, operands, More...> operator()(const More&... more) const {
    return {{to_argument(more)...}};
  }
  /// Weights: `sample_categorical<2, 4, 8>({1, 2, 1})`, and a decision where one is given:
  /// `sample_categorical<2, 4, 8>({1, 2, 1}, with_decision(1))`.
  template <std::same_as<given_decision>... Decision>
  called_step<Primitive, operands> operator()(std::initializer_list<double> weights,
                                              const Decision&... decided) const {
    return {{argument(std::vector<double>(weights)), step_argument(decided)...}};
  }
};

/// A step, and the names of what it makes.
template <class Step, operand... Names>
struct let_step {
  using tilewright_space = void;
  using names = operand_list<Names...>;
  Step step;

  void operator()(schedule& s, scope& in) const {
    name_values(in, names::all.data(), names::size, step.run(s, in));
  }
  void write(expression_text& out) const {
    out.let(names::all.data(), names::size);
    step.write(out);
  }
  static constexpr void walk(environment& e) {
    Step::walk(e);
    (e.make(names_of_step(Names)), ...);
  }
  static constexpr std::string_view names_of_step(const operand& name) {
    for (const operand& n : names::all)
      if (n.view() == name.view()) return n.view();
    return {};
  }
};

template <class Step>
concept value_step = expression<Step> && requires(const Step& step, schedule& s, scope& in) {
  step.run(s, in);
};

template <operand... Names>
struct let_names {
  static_assert(sizeof...(Names) > 0 &&
                    ((Names.is == operand::role::variable || Names.is == operand::role::text) &&
                     ...),
                "tilewright: let needs the names of variables, let<tiles> or let<\"tiles\">");
  template <value_step Step>
  constexpr let_step<Step, Names...> operator=(Step step) const {  // NOLINT
    return {std::move(step)};
  }
};

template <class Step, operand... Names>
struct names_of<let_step<Step, Names...>> : names_of<Step> {};

}  // namespace detail

/// let<tiles> = sample_perfect_tile<i, 2>: gives what a step makes a name; let<a, b> = ... gives
/// each of several values its own.
template <detail::operand... Names>
inline constexpr detail::let_names<Names...> let{};

#define TILEWRIGHT_STEP(NAME, ...)       \
  template <detail::operand... Operands> \
  inline constexpr detail::primitive_step<#NAME, Operands...> NAME{};
TILEWRIGHT_INSTRUCTIONS(TILEWRIGHT_STEP)
#undef TILEWRIGHT_STEP

/// steps(a, b, ...): the same as a >> b >> ...
template <detail::expression... Steps>
auto steps(Steps... each) {
  return (... >> each);
}

}  // namespace tilewright::space
