// Composition of rules into a space (MetaSchedule, section 3.3 and figure 5).
//
//   post_order(module(auto_inline{})) >>
//   post_order(when(needs_register_tiling, module(register_tiling))) >>
//   post_order(sample(weighted(3, attempt(module(vectorize_innermost))) | skip))
//
// A rule is a step that looks at the block at hand. `|` enumerates what it offers; `sample` draws
// it, and the trace records the draw with its probability. The structure that follows from a draw
// is part of the sketch: `assert_` fixes the decision, so that a replay without decisions keeps it
// and search varies sizes alone.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/space/expression.hpp>
#include <tilewright/space/names.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::space {

/// Names of the blocks of the program in the order in which `post_order` visits them: consumers
/// before their producers, blocks within a block before it. Blocks annotated `schedule_rule` =
/// "None" are left out. The root, which has no loops, is none of them: `on<"root">` is for rules
/// about the whole.
std::vector<std::string> blocks_in_post_order(const schedule& s);

namespace detail {

bool target_is(const context& where, std::string_view name);
/// Runs `step` on copies; where a primitive refuses, the program and what is known of it stay as they were.
void run_as_whole(schedule& s, scope& in, support::function_ref<void(schedule&, scope&)> step);

template <class Step>
struct post_order_step {
  using tilewright_space = void;
  Step step;
  void operator()(schedule& s, scope& in) const {
    for (const std::string& name : blocks_in_post_order(s)) {
      if (!in.exists(s, name)) continue;
      scope inner = in.on(name);
      step(s, inner);
    }
  }
  void write(expression_text& out) const {
    out.open();
    step.write(out);
    out.close("post_order(", ")");
  }
  static constexpr void walk(environment& e) { walk_apart<Step>(e); }
};

template <class Step>
struct attempt_step {
  using tilewright_space = void;
  Step step;
  void operator()(schedule& s, scope& in) const {
    run_as_whole(s, in, [this](schedule& trial, scope& inner) { step(trial, inner); });
  }
  void write(expression_text& out) const {
    out.open();
    step.write(out);
    out.close("attempt(", ")");
  }
  static constexpr void walk(environment& e) { walk_apart<Step>(e); }
};

struct skip_step {
  using tilewright_space = void;
  void operator()(schedule&, scope&) const {}
  void write(expression_text& out) const { out.item("skip"); }
};

template <class... Steps>
struct sample_step {
  using tilewright_space = void;
  std::tuple<weighted<Steps>...> options;
  void operator()(schedule& s, scope& in) const {
    const std::vector<double> weights = std::apply(
        [](const weighted<Steps>&... o) {
          return std::vector<double>{static_cast<double>(o.weight)...};
        },
        options);
    std::size_t left = in.choices->draw(s, weights);
    const auto offer = [&](const auto& option) {
      if (left-- == 0) option.step(s, in);
    };
    std::apply([&](const weighted<Steps>&... o) { (offer(o), ...); }, options);
  }
  void write(expression_text& out) const {
    out.open();
    write_options(out, options);
    out.close("sample(", ")");
  }
  static constexpr void walk(environment& e) { walk_alternatives<Steps...>(e); }
};

template <class Step>
struct sometimes_step {
  using tilewright_space = void;
  double probability;
  Step step;
  void operator()(schedule& s, scope& in) const {
    if (in.choices->draw(s, {probability, 1 - probability}) == 0) step(s, in);
  }
  void write(expression_text& out) const {
    out.open();
    step.write(out);
    out.close("sometimes(" + real_text(probability) + ", ", ")");
  }
  static constexpr void walk(environment& e) { walk_apart<Step>(e); }
};

struct named_target {
  std::string name;
  bool operator()(const context& where) const { return target_is(where, name); }
  std::string text() const { return "for_target(\"" + name + "\""; }
};

template <class Step>
struct names_of<post_order_step<Step>> : names_of_parts<Step> {};
template <class Step>
struct names_of<attempt_step<Step>> : names_of_parts<Step> {};
template <class Step>
struct names_of<sometimes_step<Step>> : names_of_parts<Step> {};
template <class... Steps>
struct names_of<sample_step<Steps...>> : names_of_parts<Steps...> {};

}  // namespace detail

/// @name Composition
/// @{
/// post_order(rule): the rule on every block, in the order of blocks_in_post_order. Blocks that the
/// rule makes are visited by the next post_order; those that it removes are passed over.
template <detail::expression Rule>
detail::post_order_step<Rule> post_order(Rule rule) {
  return {std::move(rule)};
}
/// attempt(step): the step as a whole where no primitive refuses it, else nothing.
template <detail::expression Step>
detail::attempt_step<Step> attempt(Step step) {
  return {std::move(step)};
}
/// Does nothing; what a rule that is one of several may be.
inline constexpr detail::skip_step skip{};
/// sample(a | weighted(3, b) | skip): one of the alternatives, drawn by weight and recorded.
template <class... Steps>
detail::sample_step<Steps...> sample(detail::choice<Steps...> among) {
  return {std::move(among.options)};
}
/// sometimes(0.3, step): the step with this probability; the draw is recorded.
/// @throws argument_error unless 0 < p < 1
template <detail::expression Step>
detail::sometimes_step<Step> sometimes(double p, Step step) {
  if (!(p > 0 && p < 1)) throw argument_error("sometimes(p, space) needs 0 < p < 1");
  return {p, std::move(step)};
}
/// for_target("avx512f", step): the step where the target has the feature, or the name.
template <detail::expression Step>
auto for_target(std::string name, Step step) {
  return when(detail::named_target{std::move(name)}, std::move(step));
}
/// @}

}  // namespace tilewright::space
