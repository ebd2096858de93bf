#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include <tilewright/impl/schedule/trace/default_argument.hpp>
#include <tilewright/impl/schedule/trace/map_scalars.hpp>
#include <tilewright/impl/space/expression/argument_value.hpp>
#include <tilewright/impl/space/expression/at_hand.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/ir/text/tokenize.hpp>
#include <tilewright/space/steps.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail {

TILEWRIGHT_INLINE step_argument::step_argument(const operand& o)
    : held_(std::make_shared<const held>(held{o})) {}
TILEWRIGHT_INLINE step_argument::step_argument(std::shared_ptr<const arithmetic> tree)
    : held_(std::make_shared<const held>(held{std::move(tree)})) {}
TILEWRIGHT_INLINE step_argument::step_argument(argument given)
    : held_(std::make_shared<const held>(held{std::move(given)})) {}
TILEWRIGHT_INLINE step_argument::step_argument(given_decision decided)
    : held_(std::make_shared<const held>(held{std::move(decided)})) {}

/// Takes the arguments of a step one parameter after the other.
class argument_reader {
 public:
  argument_reader(schedule& s, scope& in, const instruction_kind& kind,
                  std::vector<argument_value> given)
      : s_(s), in_(in), kind_(kind), given_(std::move(given)) {}

  std::vector<argument> read() {
    std::vector<argument> out;
    for (const parameter& p : kind_.parameters) out.push_back(value(p, out));
    if (next_ < given_.size())
      refuse("it takes " + std::to_string(kind_.parameters.size()) + " arguments, and number " +
             std::to_string(next_ + 1) + " is one too many");
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw schedule_error(
        "space", 3, "step " + std::string(kind_.name) + ": " + what + ". " + at_hand_text(s_, in_));
  }
  [[noreturn]] void need(const parameter& p, const char* what) const {
    refuse("argument \"" + std::string(p.name) + "\" needs " + what + "; " + given_text());
  }

  /// What stands where something else is needed.
  std::string given_text() const {
    if (!peek()) return "nothing is left for it";
    const operand* o = peek_operand();
    const std::string name = o ? "\"" + std::string(o->view()) + "\"" : std::string();
    if (!o) return "it is given a value that is none";
    switch (o->is) {
      case operand::role::variable: return name + " is " + kinds_text(values_of(*o));
      case operand::role::level: return name + " is an axis";
      case operand::role::text: return name + " is a text";
      case operand::role::number: return std::to_string(o->number) + " is a number";
      case operand::role::inferred: return "infer is a factor";
      case operand::role::here: return "here is a block";
    }
    return {};
  }
  static std::string kinds_text(const std::vector<rv>& values) {
    if (values.empty()) return "nothing";
    const rv_class kind = values.front().kind;
    const std::string one = kind == rv_class::block  ? "block"
                            : kind == rv_class::loop ? "loop"
                                                     : "number";
    return values.size() == 1 ? "one " + one : std::to_string(values.size()) + " " + one + "s";
  }

  const argument_value* peek() const { return next_ < given_.size() ? &given_[next_] : nullptr; }
  const operand* peek_operand() const { return peek() ? std::get_if<operand>(peek()) : nullptr; }
  bool at(operand::role role) const { return peek_operand() && peek_operand()->is == role; }

  /// The values of a variable, or the one of them that is asked for.
  std::vector<rv> values_of(const operand& o) const {
    for (const scope::named_values& known : in_.variables) {
      if (known.name != o.view()) continue;
      if (o.number == operand::all) return known.values;
      const auto size = static_cast<std::int64_t>(known.values.size());
      const std::int64_t at = o.number < 0 ? o.number + size : o.number;
      if (at < 0 || at >= size)
        refuse("variable \"" + known.name + "\" has " + std::to_string(known.values.size()) +
               " values; number " + std::to_string(o.number) + " does not exist");
      return {known.values[static_cast<std::size_t>(at)]};
    }
    std::string known;
    for (const scope::named_values& v : in_.variables)
      known += (known.empty() ? "; there are " : ", ") + v.name;
    refuse("no step has made a variable \"" + std::string(o.view()) + "\"" +
           (known.empty() ? "; there is none yet" : known));
  }
  /// The values of the class that the next operand stands for; nothing when it does not.
  std::optional<std::vector<rv>> values(rv_class wanted) {
    const operand* o = peek_operand();
    if (!o) return std::nullopt;
    if (o->is == operand::role::variable) {
      const std::vector<rv> found = values_of(*o);
      const auto fits = [&](const rv& v) { return v.kind == wanted; };
      if (!support::all(found, fits)) return std::nullopt;
      return found;
    }
    if (wanted == rv_class::block && o->is == operand::role::here) {
      if (!in_.at_hand) in_.at_hand = in_.get_block(s_);
      return {{*in_.at_hand}};
    }
    if (wanted == rv_class::block && o->is == operand::role::text)
      return {{s_.get_block(o->view())}};
    if (wanted == rv_class::loop && o->is == operand::role::level) {
      if (o->number != operand::all)
        return {{in_.at(s_, meta::loop_level(o->view(), static_cast<int>(o->number)))}};
      const std::vector<loop_rv>& levels = in_.levels(s_, o->view());
      return std::vector<rv>(levels.begin(), levels.end());
    }
    return std::nullopt;
  }
  std::vector<rv> all_values(rv_class wanted) {
    std::vector<rv> out;
    while (const auto next = values(wanted)) {
      out.insert(out.end(), next->begin(), next->end());
      ++next_;
    }
    return out;
  }
  rv one(const parameter& p, std::initializer_list<rv_class> wanted, const char* what) {
    for (const rv_class c : wanted)
      if (const auto found = values(c)) {
        if (found->size() != 1) need(p, what);
        ++next_;
        return found->front();
      }
    need(p, what);
  }

  /// A number, a random one, arithmetic on these, or what follows from the others.
  std::optional<std::vector<factor>> numbers(const argument_value& a) const {
    if (const auto* tree = std::get_if<std::shared_ptr<const arithmetic>>(&a))
      return {
          {factor((*tree)->op, number((*(*tree)->left).value), number((*(*tree)->right).value))}};
    const operand* o = std::get_if<operand>(&a);
    if (!o) return std::nullopt;
    if (o->is == operand::role::number) return {{factor(o->number)}};
    if (o->is == operand::role::inferred) return {{factor(infer)}};
    if (o->is != operand::role::variable) return std::nullopt;
    std::vector<factor> out;
    for (const rv& v : values_of(*o)) {
      if (v.kind != rv_class::integer) return std::nullopt;
      out.emplace_back(expr_rv{v.number});
    }
    return out;
  }
  factor number(const argument_value& a) const {
    const auto found = numbers(a);
    if (!found || found->size() != 1) refuse("arithmetic needs integers, one a variable");
    return found->front();
  }

  std::int64_t integer(const parameter& p) {
    if (!at(operand::role::number)) need(p, "an integer");
    return std::get<operand>(given_[next_++]).number;
  }

  map_argument map(const parameter& p, bool ranges) {
    std::string text;
    if (at(operand::role::text))
      text = std::string(peek_operand()->view());
    else if (const auto* given = peek() ? std::get_if<argument>(peek()) : nullptr) {
      if (const auto* made = std::get_if<map_argument>(given)) return ++next_, *made;
      if (const auto* written = std::get_if<std::string>(given)) text = *written;
    }
    if (text.empty()) need(p, "an index map, as \"lambda i, j: (j, i)\"");
    ++next_;
    map_argument out;
    ir::token_stream in(text);
    std::map<std::string, ir::var, std::less<>> scalars;
    out.map = ir::parse_index_map(
        in, [&](std::string_view name) { return map_variable(name, out, scalars); }, ranges);
    return out;
  }
  /// The variable of a map that stands for an integer that a step has made.
  ir::var map_variable(std::string_view name, map_argument& out,
                       std::map<std::string, ir::var, std::less<>>& scalars) const {
    for (const auto& [v, known] : out.variables)
      if (v->name == name) return v;
    for (const scope::named_values& known : in_.variables)
      if (known.name == name && known.values.size() == 1 &&
          known.values[0].kind == rv_class::integer) {
        out.variables.emplace_back(ir::make_var(known.name), expr_rv{known.values[0].number});
        return out.variables.back().first;
      }
    return tilewright::detail::operands::scalar(name, scalars);
  }

  annotation_value note(const parameter& p) {
    if (at(operand::role::text)) return std::string(std::get<operand>(given_[next_++]).view());
    const auto found = peek() ? numbers(*peek()) : std::nullopt;
    if (!found || found->size() != 1) need(p, "a number, a text or a random number");
    ++next_;
    if (found->front().kind() == factor::op::literal) return found->front().value();
    return found->front();
  }

  std::vector<factor> factors(const parameter& p) {
    std::vector<factor> out;
    while (peek()) {
      const auto next = numbers(*peek());
      if (!next) break;
      out.insert(out.end(), next->begin(), next->end());
      ++next_;
    }
    if (out.empty()) need(p, "factors");
    return out;
  }

  std::vector<std::int64_t> integers(const parameter& p) {
    std::vector<std::int64_t> out;
    while (at(operand::role::number)) out.push_back(integer(p));
    if (out.empty()) need(p, "integers");
    return out;
  }

  argument value(const parameter& p, const std::vector<argument>& before) {
    if (peek() && given_as(p)) return std::get<argument>(given_[next_++]);
    const bool variadic = p.type == argument_type::loops || p.type == argument_type::blocks ||
                          p.type == argument_type::factors || p.type == argument_type::integers;
    if (!peek() && !variadic) return left_out(p, before);
    using role = operand::role;
    switch (p.type) {
      case argument_type::block: return one(p, {rv_class::block}, "one block");
      case argument_type::loop: return one(p, {rv_class::loop}, "one loop");
      case argument_type::block_or_loop:
        return one(p, {rv_class::block, rv_class::loop}, "one block or loop");
      case argument_type::loop_or_blocks: {
        if (const auto loops = values(rv_class::loop); loops && loops->size() == 1)
          return ++next_, loops->front();
        std::vector<rv> blocks = all_values(rv_class::block);
        if (blocks.empty()) need(p, "a loop or blocks");
        return blocks;
      }
      case argument_type::blocks: return all_values(rv_class::block);
      case argument_type::loops: {
        std::vector<rv> loops = all_values(rv_class::loop);
        if (loops.empty()) need(p, "loops");
        return loops;
      }
      case argument_type::factors: return factors(p);
      case argument_type::boolean: return integer(p) != 0;
      case argument_type::integer: return integer(p);
      case argument_type::string:
        if (!at(role::text))
          return p.fallback ? left_out(p, before) : (need(p, "a text"), argument());
        return std::string(std::get<operand>(given_[next_++]).view());
      case argument_type::integers: return integers(p);
      case argument_type::reals: return left_out(p, before);
      case argument_type::note: return note(p);
      case argument_type::value: {
        const factor f = number(*peek());
        return ++next_, f;
      }
      case argument_type::buffer:
        if (!at(role::text)) need(p, "a buffer, as read_buffer(0), or its name");
        return buffer_selector(std::string(std::get<operand>(given_[next_++]).view()));
      case argument_type::index_map: return map(p, false);
      case argument_type::index_ranges: return map(p, true);
      case argument_type::padding:
        if (at(role::number)) return integer(p);
        return map(p, false);
    }
    throw internal_error("a step met an unknown type of parameter");
  }

  /// Whether the argument was made outside and is of the parameter's type as it is.
  bool given_as(const parameter& p) const {
    const argument* a = std::get_if<argument>(peek());
    if (!a) return false;
    switch (p.type) {
      case argument_type::reals: return std::holds_alternative<std::vector<double>>(*a);
      case argument_type::integers: return std::holds_alternative<std::vector<std::int64_t>>(*a);
      case argument_type::buffer: return std::holds_alternative<buffer_selector>(*a);
      case argument_type::note: return std::holds_alternative<annotation_value>(*a);
      case argument_type::string: return std::holds_alternative<std::string>(*a);
      case argument_type::padding: return std::holds_alternative<double>(*a);
      default: return false;
    }
  }

  /// The default; of weights, equal ones for all that is drawn from.
  argument left_out(const parameter& p, const std::vector<argument>& before) const {
    if (p.type == argument_type::reals && !before.empty())
      if (const auto* drawn = std::get_if<std::vector<std::int64_t>>(&before.back()))
        return std::vector<double>(drawn->size(), 1.0);
    std::optional<argument> out = tilewright::detail::default_argument(p);
    if (!out) refuse("argument \"" + std::string(p.name) + "\" is missing");
    return std::move(*out);
  }

  schedule& s_;
  scope& in_;
  const instruction_kind& kind_;
  std::vector<argument_value> given_;
  std::size_t next_ = 0;
};

/// Loops that a step has made of the only loop of an axis, or of one of its levels, are levels.
inline void follow_axis(scope& in, std::string_view primitive, const operand_refs& operands,
                        const std::vector<rv>& made) {
  if (primitive != "split" || operands.size == 0 || operands[0].is != operand::role::level) return;
  for (scope::tiled_axis& known : in.axes) {
    if (known.axis != operands[0].view()) continue;
    const auto at = static_cast<std::ptrdiff_t>(std::max<std::int64_t>(operands[0].number, 0));
    known.levels.erase(known.levels.begin() + at);
    std::vector<loop_rv> loops;
    for (const rv& v : made) loops.push_back({v.number});
    known.levels.insert(known.levels.begin() + at, loops.begin(), loops.end());
  }
}

/// The decision that a sampling is given; it is no argument.
inline decision take_decision(std::vector<argument_value>& given, const instruction_kind& kind) {
  decision out;
  std::erase_if(given, [&](const argument_value& a) {
    const auto* d = std::get_if<given_decision>(&a);
    if (d) out = d->value;
    return d != nullptr;
  });
  if (!out.empty() && kind.choice == decision_shape::none)
    throw schedule_error("space", 5,
                         "step " + std::string(kind.name) +
                             ": with_decision is for samplings, and this step draws nothing");
  return out;
}

/// What the primitive makes.
inline std::vector<rv> run_primitive(schedule& s, scope& in, std::string_view primitive,
                                     const operand_refs& operands,
                                     const std::vector<step_argument>& more) {
  const instruction_kind* kind = find_instruction_kind(primitive);
  if (!kind) throw internal_error("there is no primitive " + std::string(primitive));
  std::vector<argument_value> given;
  for (std::size_t n = 0; n < operands.size; ++n) given.emplace_back(operands[n]);
  for (const step_argument& a : more) given.push_back((*a).value);
  const decision choice = take_decision(given, *kind);
  std::vector<argument> args = argument_reader(s, in, *kind, std::move(given)).read();
  if (primitive == "get_block") args.back() = s.function().name;
  try {
    std::vector<rv> out = s.apply(*kind, std::move(args), choice);
    follow_axis(in, primitive, operands, out);
    return out;
  } catch (const argument_error& e) {
    // "sample_tile: ..." says the name of the step already
    const std::string_view why = e.what();
    const std::string name = std::string(kind->name) + ": ";
    throw schedule_error("space", 5,
                         "step " + (why.starts_with(name) ? std::string() : name) +
                             std::string(why) + "; block at hand " + in.block);
  }
}

inline void name_values(scope& in, std::string_view primitive, const operand_refs& names,
                        std::vector<rv> values) {
  const auto name = [&](std::string_view text, std::vector<rv> what) {
    std::erase_if(in.variables, [&](const auto& known) { return known.name == text; });
    in.variables.push_back({std::string(text), std::move(what)});
  };
  if (names.size == 1) return name(names[0].view(), std::move(values));
  if (values.size() != names.size)
    throw schedule_error("space", 4,
                         "step " + std::string(primitive) + ": let gives " +
                             std::to_string(names.size) + " names, \"" +
                             std::string(names[0].view()) + "\" the first, to " +
                             std::to_string(values.size()) + " values");
  for (std::size_t n = 0; n < names.size; ++n) name(names[n].view(), {values[n]});
}

TILEWRIGHT_INLINE void primitive_record::run(schedule& s, scope& in,
                                             const std::vector<step_argument>& more) const {
  std::vector<rv> made = run_primitive(s, in, primitive, operands, more);
  if (names.size > 0) name_values(in, primitive, names, std::move(made));
}
TILEWRIGHT_INLINE void primitive_record::write(expression_text& out,
                                               const std::vector<step_argument>& more) const {
  if (names.size > 0) out.let(names);
  out.step(primitive, operands, more);
}

TILEWRIGHT_INLINE void primitive_record::operator()(schedule& s, scope& in) const {
  run(s, in, {});
}
TILEWRIGHT_INLINE void primitive_record::write(expression_text& out) const { write(out, {}); }

TILEWRIGHT_INLINE void called_record::operator()(schedule& s, scope& in) const { run(s, in, more); }
TILEWRIGHT_INLINE void called_record::write(expression_text& out) const {
  primitive_record::write(out, more);
}

TILEWRIGHT_INLINE shared_step listed(const primitive_record& r) { return hold(r); }
TILEWRIGHT_INLINE shared_step listed(const called_record& r) { return hold(r); }

TILEWRIGHT_INLINE void step_list::operator()(schedule& s, scope& in) const {
  for (const shared_step& step : steps) step->run(s, in);
}
TILEWRIGHT_INLINE void step_list::write(expression_text& out) const {
  for (const shared_step& step : steps) step->write(out);
}

}  // namespace tilewright::space::detail
