// Spaces as expression templates.
//
//   on<"C">(tile<i, 2> >> tile<j, 2> >> reorder<i[0], j[0], k[0], i[1], j[1]> >> vectorize<j[1]>)
//     | on<"C">(tile<"SSRSRS">)
//
// `>>` is sequence and binds tighter than `|`, the choice. Tile sizes are random variables that the
// trace records; a choice is structural and yields one sketch an alternative. The steps of
// primitives and samplings stand in space/steps.hpp. That a step names a level that its axis has is checked by the compiler where the sequence itself tiled the axis, that
// blocks and axes exist where the kernel is known (space_for.hpp); whether a step is legal is found
// out when it runs. Loops of untiled axes are level 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/meta/axis.hpp>
#include <tilewright/meta/fixed_string.hpp>
#include <tilewright/meta/loop_level.hpp>
#include <tilewright/meta/mistake.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/expression_text.hpp>
#include <tilewright/space/operand.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {

/// What the steps of a space expression share while one sketch is built.
struct scope {
  const context* where = nullptr;
  chooser* choices = nullptr;
  std::string block;  // named by `on`; the last block of the program otherwise
  struct tiled_axis {
    std::string axis;
    std::vector<loop_rv> levels;  // outermost first
  };
  std::vector<tiled_axis> axes;
  struct named_values {
    std::string name;
    std::vector<rv> values;
  };
  std::vector<named_values> variables;  // what steps have made
  std::optional<block_rv> at_hand;      // the block, once a step has asked for it as `here`

  /// The loops that an axis has become; untiled axes are looked up by the loop's name.
  /// @throws schedule_error naming the axis when the block has no such loop
  std::vector<loop_rv>& levels(schedule& s, std::string_view axis);
  /// @throws schedule_error when the axis has fewer levels
  loop_rv at(schedule& s, const meta::loop_level& level);
  /// The block at hand.
  block_rv get_block(schedule& s) const;
  /// True when the program has a block of that name.
  bool exists(const schedule& s, std::string_view name) const;
  /// The same with another block at hand.
  scope on(std::string name) const;
};

/// A size that search draws; without weights all candidates are equally likely.
struct random_size {
  std::vector<std::int64_t> candidates;
  std::vector<double> weights;  // [candidates], or empty
};
/// choose({4, 6, 8}): a random variable; choose({4, 6, 8}, {1, 2, 1}): with weights.
/// @throws argument_error when there is no candidate, one is not positive, or the counts differ
random_size choose(std::vector<std::int64_t> candidates, std::vector<double> weights = {});

/// Sizes that divide the extent, the innermost one up to a limit, as sample_perfect_tile draws them:
/// `tile<"SSRSRS">(perfect(64))`. -1: no limit.
struct perfect_sizes {
  int max_innermost_factor = 64;
};
inline perfect_sizes perfect(int max_innermost_factor = 64) { return {max_innermost_factor}; }

/// @name Steps
/// @{
namespace detail {

void tile_structure(schedule& s, scope& in, std::string_view structure,
                    const std::optional<perfect_sizes>& perfect);
void tile_axis(schedule& s, scope& in, std::string_view axis, int levels,
               const random_size& innermost);
void write_tile(expression_text& out, std::string_view structure,
                const std::optional<perfect_sizes>& perfect);
void write_tile(expression_text& out, std::string_view axis, int levels,
                const random_size& innermost);

/// A step without its type.
struct held_step {
  virtual ~held_step() = default;
  virtual void run(schedule& s, scope& in) const = 0;
  virtual void write(expression_text& out) const = 0;
};
template <class Step>
struct holder final : held_step {
  Step step;
  explicit holder(Step s) : step(std::move(s)) {}
  void run(schedule& s, scope& in) const override { step(s, in); }
  void write(expression_text& out) const override { step.write(out); }
};
/// By way of a pointer to the base, which costs the compiler no control block a type.
using shared_step = std::shared_ptr<const held_step>;
template <class Step>
shared_step hold(Step step) {
  const held_step* held = new holder<Step>(std::move(step));
  return shared_step(held);
}
design_space space_of(shared_step expression);

/// Marks the types that `>>` and `|` combine.
template <class T>
concept expression = requires {
  typename T::tilewright_space;
};

/// What `tile` is about: an axis, or a structure such as "SSRSRS".
struct tile_key {
  static constexpr std::size_t capacity = 32;
  char text[capacity]{};
  std::size_t length = 0;
  bool is_axis = false;

  template <std::size_t N>
  requires(N <= capacity) constexpr tile_key(const char (&structure)[N])
      : length(N - 1) {  // NOLINT
    for (std::size_t i = 0; i < length; ++i) text[i] = structure[i];
  }
  template <class Axis>
  requires dsl::is_axis<Axis>
  constexpr tile_key(Axis)
      : length(meta::text_of<typename Axis::name>.size()), is_axis(true) {  // NOLINT
    for (std::size_t i = 0; i < length; ++i) text[i] = meta::text_of<typename Axis::name>[i];
  }
  constexpr std::string_view view() const { return {text, length}; }
};

/// What a step makes that may not run is nobody's: variables are forgotten behind it, and how many
/// levels its axes have.
template <class Step>
constexpr void walk_apart(environment& e) {
  const std::size_t before = e.count;
  variables_of<Step>::walk(e);
  e.count = before;
  e.tiled_count = 0;
}
/// Axes are those of a block.
template <class Step>
constexpr void walk_block(environment& e) {
  environment inner = e;
  inner.tiled_count = 0;
  variables_of<Step>::walk(inner);
  for (std::size_t n = e.count; n < inner.count; ++n) e.known[n] = inner.known[n];
  e.count = inner.count;
  e.note_mistakes(inner);
}
/// Behind alternatives a variable is known that each of them makes.
template <class... Steps>
constexpr void walk_alternatives(environment& e) {
  environment common;
  bool first = true;
  const auto walk = [&](auto step) {
    environment own = e;
    decltype(step)::type::walk(own);
    e.note_mistakes(own);
    std::size_t kept = 0;
    for (std::size_t n = 0; n < own.count; ++n)
      if (first || common.knows(own.known[n])) own.known[kept++] = own.known[n];
    own.count = kept;
    common = own;
    first = false;
  };
  (walk(std::type_identity<variables_of<Steps>>{}), ...);
  for (std::size_t n = e.count; n < common.count; ++n) e.known[n] = common.known[n];
  e.count = common.count;
  e.tiled_count = 0;
}
template <class Expression>
constexpr mistake_list mistakes_of() {
  environment out;
  variables_of<Expression>::walk(out);
  return out.mistakes;
}
template <class Expression>
struct unknown_variable {
  static constexpr std::string_view value = mistakes_of<Expression>().unknown;
};
template <class Expression>
struct repeated_variable {
  static constexpr std::string_view value = mistakes_of<Expression>().twice;
};
template <class Expression>
struct axis_without_level {
  static constexpr std::string_view value = mistakes_of<Expression>().short_axis;
};
/// @name Predicates of compile-time errors: false for the offenders they name
/// @{
template <class... T>
inline constexpr bool step_has_made = false;
template <class... T>
inline constexpr bool made_by_one_step = false;
template <class... T>
inline constexpr bool axis_has_level = false;
/// @}

constexpr bool is_structure(std::string_view text) {
  for (char c : text)
    if (c != 'S' && c != 'R') return false;
  return !text.empty();
}

template <tile_key What, int... Levels>
struct tile_step {
  using tilewright_space = void;
  static_assert(
      !What.is_axis && sizeof...(Levels) == 0 && is_structure(What.view()),
      "tilewright: tile needs an axis and its number of levels, tile<i, 2>, or a structure of the "
      "letters S and R, tile<\"SSRSRS\">");
  std::optional<perfect_sizes> perfect = {};

  tile_step operator()(perfect_sizes sizes) const { return {sizes}; }
  void operator()(schedule& s, scope& in) const { tile_structure(s, in, What.view(), perfect); }
  void write(expression_text& out) const { write_tile(out, What.view(), perfect); }
};

template <tile_key What, int Levels>
requires(What.is_axis) struct tile_step<What, Levels> {
  using tilewright_space = void;
  static_assert(Levels >= 2, "tilewright: tile<axis, levels> needs at least two levels");
  static constexpr std::string_view axis = What.view();
  random_size innermost{{4, 8, 16, 32, 64}, {}};

  /// The same with another innermost size: `tile<i, 2>(choose({4, 6, 8}))`.
  tile_step operator()(random_size size) const { return {std::move(size)}; }
  void operator()(schedule& s, scope& in) const {
    tile_axis(s, in, What.view(), Levels, innermost);
  }
  void write(expression_text& out) const { write_tile(out, What.view(), Levels, innermost); }
  static constexpr void walk(environment& e) { e.tile(axis, Levels); }
};

template <class F>
struct module_step {
  using tilewright_space = void;
  F function;
  void operator()(schedule& s, scope& in) const {
    using name = const std::string&;
    if constexpr (std::is_invocable_v<const F&, schedule&, block_rv>)
      function(s, in.get_block(s));
    else if constexpr (std::is_invocable_v<const F&, schedule&, block_rv, const context&>)
      function(s, in.get_block(s), *in.where);
    else if constexpr (std::is_invocable_v<const F&, schedule&, name, const context&, chooser&>)
      function(s, in.block, *in.where, *in.choices);
    else if constexpr (std::is_invocable_v<const F&, schedule&, name>)
      function(s, in.block);
    else if constexpr (std::is_invocable_v<const F&, schedule&, const context&>)
      function(s, *in.where);
    else
      function(s);
  }
  void write(expression_text& out) const { out.item("module(" + callable_text<F>() + ")"); }
};

template <class Predicate, class Step>
struct when_step {
  using tilewright_space = void;
  Predicate predicate;
  Step step;
  bool holds(const schedule& s, const scope& in) const {
    using name = const std::string&;
    if constexpr (std::is_invocable_v<const Predicate&, const schedule&>)
      return predicate(s);
    else if constexpr (std::is_invocable_v<const Predicate&, const context&>)
      return predicate(*in.where);
    else if constexpr (std::is_invocable_v<const Predicate&, const schedule&, name>)
      return predicate(s, in.block);
    else
      return predicate(s, in.block, *in.where);
  }
  void operator()(schedule& s, scope& in) const {
    if (holds(s, in)) step(s, in);
  }
  void write(expression_text& out) const {
    out.open();
    step.write(out);
    if constexpr (requires { predicate.text(); })
      out.close(predicate.text() + ", ", ")");
    else
      out.close("when(" + callable_text<Predicate>() + ", ", ")");
  }
  static constexpr void walk(environment& e) { walk_apart<Step>(e); }
};

template <fixed_string Block, class Step>
struct on_step {
  using tilewright_space = void;
  Step step;
  void operator()(schedule& s, scope& in) const {
    scope inner = in.on(std::string(Block.view()));
    step(s, inner);
    in.variables = std::move(inner.variables);
  }
  void write(expression_text& out) const {
    out.open();
    step.write(out);
    out.close("on<\"" + std::string(Block.view()) + "\">(", ")");
  }
  static constexpr void walk(environment& e) { walk_block<Step>(e); }
};

/// A sequence of two; nested pairs are a tenth of the cost of a tuple that grows.
template <class First, class Next>
struct then_step {
  using tilewright_space = void;
  First first;
  Next next;
  void operator()(schedule& s, scope& in) const {
    first(s, in);
    next(s, in);
  }
  void write(expression_text& out) const {
    first.write(out);
    next.write(out);
  }
  static constexpr void walk(environment& e) {
    variables_of<First>::walk(e);
    variables_of<Next>::walk(e);
  }
};

template <class Step>
struct weighted {
  int weight;
  Step step;
};

/// What `|` lists, as it is written.
template <class... Steps>
void write_options(expression_text& out, const std::tuple<weighted<Steps>...>& options) {
  const auto write = [&](const auto& option) {
    out.open();
    option.step.write(out);
    if (option.weight == 1)
      out.close();
    else
      out.close("weighted(" + std::to_string(option.weight) + ", ", ")");
  };
  std::apply([&](const weighted<Steps>&... o) { (write(o), ...); }, options);
  out.choice(sizeof...(Steps));
}

template <class... Steps>
struct choice {
  using tilewright_space = void;
  std::tuple<weighted<Steps>...> options;
  void operator()(schedule& s, scope& in) const {
    const std::size_t total = std::apply(
        [](const weighted<Steps>&... o) { return (static_cast<std::size_t>(o.weight) + ...); },
        options);
    std::size_t ticket = in.choices->pick(total);
    bool done = false;
    const auto offer = [&](const auto& option) {
      const auto share = static_cast<std::size_t>(option.weight);
      if (!done && ticket < share) {
        option.step(s, in);
        done = true;
      }
      ticket -= done ? 0 : share;
    };
    std::apply([&](const weighted<Steps>&... o) { (offer(o), ...); }, options);
  }
  void write(expression_text& out) const { write_options(out, options); }
  static constexpr void walk(environment& e) { walk_alternatives<Steps...>(e); }
};

template <class Step>
struct as_options {
  static std::tuple<weighted<Step>> of(Step s) { return {{1, std::move(s)}}; }
};
template <class Step>
struct as_options<weighted<Step>> {
  static std::tuple<weighted<Step>> of(weighted<Step> w) { return {std::move(w)}; }
};
template <class... Steps>
struct as_options<choice<Steps...>> {
  static auto of(choice<Steps...> c) { return std::move(c.options); }
};

template <class T>
inline constexpr bool is_weighted = false;
template <class Step>
inline constexpr bool is_weighted<weighted<Step>> = true;
template <class T>
concept option = expression<T> || is_weighted<T>;

template <class... Steps>
choice<Steps...> make_choice(std::tuple<weighted<Steps>...> options) {
  return {std::move(options)};
}

/// a >> b: first a, then b.
template <expression First, expression Next>
then_step<First, Next> operator>>(First first, Next next) {
  return {std::move(first), std::move(next)};
}

/// a | b: one of both; alternatives are equally likely unless `weighted` says otherwise.
template <option A, option B>
auto operator|(A a, B b) {
  return make_choice(
      std::tuple_cat(as_options<A>::of(std::move(a)), as_options<B>::of(std::move(b))));
}

/// The C++ that writes the expression. Functions have no text: their type stands for them, or a
/// comment; variables and axes are written by their names.
template <expression Expression>
std::string cpp_text(const Expression& e) {
  expression_text out;
  e.write(out);
  return out.text();
}

/// Makes the space of an expression, one sketch per combination of its choices; design_space's
/// constructor finds it by argument-dependent lookup.
template <expression Expression>
design_space to_space(Expression e) {
  constexpr mistake_list found = mistakes_of<Expression>();
  if constexpr (!found.unknown.empty()) {
    using name = meta::shown<meta::name_from<unknown_variable<Expression>>>;
    TILEWRIGHT_MISTAKE(step_has_made,
                       "tilewright: a step takes a variable that no step before it has made; write "
                       "let<name> = step",
                       name);
  } else if constexpr (!found.twice.empty()) {
    using name = meta::shown<meta::name_from<repeated_variable<Expression>>>;
    TILEWRIGHT_MISTAKE(made_by_one_step,
                       "tilewright: two steps make one variable; give each its own name", name);
  } else if constexpr (!found.short_axis.empty()) {
    using name = meta::shown<meta::name_from<axis_without_level<Expression>>>;
    TILEWRIGHT_MISTAKE(axis_has_level,
                       "tilewright: a step names a level that its axis does not have; tile<axis, "
                       "levels> gives the levels 0 to levels - 1",
                       name);
  }
  return space_of(hold(std::move(e)));
}

}  // namespace detail

using detail::cpp_text;

/// tile<i, 3>: splits the axis into levels of sampled sizes that need not divide its extent.
/// tile<"SSRSRS">: every spatial loop of the block gets the S levels, every reduction loop the R
/// levels, in this order from outside inwards (MetaSchedule, section 3.2).
template <detail::tile_key What, int... Levels>
inline const detail::tile_step<What, Levels...> tile{};

/// on<"C">(step): the step acts on the block C.
template <fixed_string Block, detail::expression Step>
detail::on_step<Block, Step> on(Step step) {
  return {std::move(step)};
}
/// when(predicate, step): the step where the predicate holds, which may ask for the schedule, for
/// it and the name of the block at hand, for these and the context, or for the context alone.
template <class Predicate, detail::expression Step>
detail::when_step<Predicate, Step> when(Predicate predicate, Step step) {
  return {std::move(predicate), std::move(step)};
}
/// module(f): a function as a step. It takes the schedule; the schedule and the block at hand, by
/// variable or by name; and after these, where it likes, the context, as the modules of the library
/// do (space/modules).
template <class F>
detail::module_step<F> module(F f) {
  return {std::move(f)};
}
/// weighted(3, a) | b: a is drawn three times as often as b.
/// @throws argument_error when the weight is not positive
template <detail::expression Step>
detail::weighted<Step> weighted(int times, Step step) {
  if (times < 1) throw argument_error("weighted(n, space) needs n >= 1");
  return {times, std::move(step)};
}
/// @}

}  // namespace tilewright::space
