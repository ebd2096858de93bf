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

/// A primitive with its operands and the names of what it makes, as data: what runs, writes and
/// checks a step is one piece of code for all of them, whatever their types.
struct primitive_record {
  using tilewright_space = void;
  std::string_view primitive;
  operand_refs operands;
  operand_refs names;  // none: what it makes is nobody's

  void operator()(schedule& s, scope& in) const;
  void write(expression_text& out) const;
  constexpr primitive_record named(operand_refs by) const { return {primitive, operands, by}; }

  /// @throws schedule_error naming the step where an argument is none that the primitive takes, or
  /// where there are several names, and not one for each of the values
  void run(schedule& s, scope& in, const std::vector<step_argument>& more) const;
  void write(expression_text& out, const std::vector<step_argument>& more) const;

  constexpr void walk_operands(environment& e) const {
    for (std::size_t n = 0; n < operands.size; ++n)
      if (operands[n].is == operand::role::variable)
        e.use(operands[n].view());
      else if (operands[n].is == operand::role::level)
        e.use_level(operands[n].view(), operands[n].number);
  }
  /// A split leaves its axis with levels that nobody has counted.
  constexpr void walk_outputs(environment& e) const {
    if (primitive == "split" && operands.size > 0 && operands[0].is == operand::role::level)
      e.tile(operands[0].view(), 0);
    for (std::size_t n = 0; n < names.size; ++n) e.make(names[n].view());
  }
  constexpr void walk_through(environment& e) const {
    walk_operands(e);
    walk_outputs(e);
  }
};

/// One with further arguments in parentheses.
struct called_record : primitive_record {
  std::vector<step_argument> more;
  void operator()(schedule& s, scope& in) const;
  void write(expression_text& out) const;
};

/// A primitive with further arguments in parentheses. The types of these are kept, for the names in
/// them.
template <class Step, class... More>
struct called_step : called_record {
  using operands_of = typename Step::operands_of;
  using values = called_record;  // what `let` names
  static constexpr void walk_before(environment& e) {
    Step::record.walk_operands(e);
    (variables_of<More>::walk(e), ...);
  }
  static constexpr void walk(environment& e) {
    walk_before(e);
    Step::record.walk_outputs(e);
  }
};

template <fixed_string Primitive, operand... Operands>
struct primitive_step : primitive_record {
  using operands_of = primitive_step;
  using values = primitive_record;
  static constexpr const operand* list[] = {&Operands..., nullptr};
  static constexpr primitive_record record{Primitive.view(), {list, sizeof...(Operands)}, {}};

  constexpr primitive_step() : primitive_record(record) {}
  static constexpr void walk(environment& e) { record.walk_through(e); }

  using primitive_record::operator();
  template <step_value... More>
  called_step<primitive_step, More...> operator()(const More&... more) const {
    return {{*this, {to_argument(more)...}}};
  }
  /// Weights: `sample_categorical<2, 4, 8>({1, 2, 1})`, and a decision where one is given:
  /// `sample_categorical<2, 4, 8>({1, 2, 1}, with_decision(1))`.
  template <std::same_as<given_decision>... Decision>
  called_step<primitive_step> operator()(std::initializer_list<double> weights,
                                         const Decision&... decided) const {
    return {{*this, {argument(std::vector<double>(weights)), step_argument(decided)...}}};
  }
};

/// A step, and the names of what it makes.
template <class Step, operand... Names>
struct let_step : Step::values {
  static constexpr const operand* list[] = {&Names...};
  static constexpr operand_refs made{list, sizeof...(Names)};

  constexpr explicit let_step(const Step& s) : Step::values(s) { this->names = made; }
  static constexpr void walk(environment& e) {
    Step::walk_before(e);
    Step::operands_of::record.named(made).walk_outputs(e);
  }
};
template <fixed_string Primitive, operand... Operands, operand... Names>
struct let_step<primitive_step<Primitive, Operands...>, Names...> : primitive_record {
  static constexpr const operand* list[] = {&Names...};
  static constexpr primitive_record record =
      primitive_step<Primitive, Operands...>::record.named({list, sizeof...(Names)});

  constexpr explicit let_step(const primitive_record&) : primitive_record(record) {}
  static constexpr void walk(environment& e) { record.walk_through(e); }
};

template <class Step>
concept value_step = requires {
  typename Step::values;
};

template <operand... Names>
struct let_names {
  static_assert(sizeof...(Names) > 0 &&
                    ((Names.is == operand::role::variable || Names.is == operand::role::text) &&
                     ...),
                "tilewright: let needs the names of variables, let<tiles> or let<\"tiles\">");
  template <value_step Step>
  constexpr let_step<Step, Names...> operator=(const Step& step) const {  // NOLINT
    return let_step<Step, Names...>(step);
  }
};

template <class Step, operand... Names>
struct names_of<let_step<Step, Names...>> : names_of<Step> {};

/// @name An element of a list of steps
/// @{
shared_step listed(const primitive_record& r);
shared_step listed(const called_record& r);
template <expression Step>
requires(!std::derived_from<Step, primitive_record>) shared_step listed(const Step& step) {
  return hold(step);
}
/// @}
struct step_list {
  using tilewright_space = void;
  std::vector<shared_step> steps;
  void operator()(schedule& s, scope& in) const;
  void write(expression_text& out) const;
};

/// A list of steps. Their types are the arguments of one type instead of parts of each other, and
/// stay for what the compiler checks alone.
template <class... Steps>
struct sequence : step_list {
  static constexpr void walk(environment& e) { (walk_one<Steps>(e), ...); }

 private:
  template <class Step>
  static constexpr void walk_one(environment& e) {
    if constexpr (requires { Step::record; })
      Step::record.walk_through(e);
    else
      variables_of<Step>::walk(e);
  }
};
template <class... Steps>
struct names_of<sequence<Steps...>> : names_of_parts<Steps...> {};

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

/// steps(a, b, ...): the same as a >> b >> ..., and cheaper to compile.
template <detail::expression... Steps>
requires(sizeof...(Steps) > 0) detail::sequence<Steps...> steps(const Steps&... each) {
  return {{{detail::listed(each)...}}};
}

}  // namespace tilewright::space
