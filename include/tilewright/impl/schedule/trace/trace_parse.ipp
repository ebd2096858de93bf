// Parser of TVM's printed form of a trace: Python assignments and calls, and nothing else of
// Python.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/schedule/trace/default_argument.hpp>
#include <tilewright/impl/schedule/trace/former_spelling.hpp>
#include <tilewright/impl/schedule/trace/map_scalars.hpp>
#include <tilewright/impl/schedule/trace/nearest_kind.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/ir/text/literal.hpp>
#include <tilewright/ir/text/tokenize.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright {
namespace detail {

class trace_parser {
 public:
  explicit trace_parser(std::string_view text) : in_(text) {}

  trace run() {
    trace out;
    while (!in_.at_end()) {
      const bool layout = in_.accept(ir::token_kind::newline) ||
                          in_.accept(ir::token_kind::indent) || in_.accept(ir::token_kind::dedent);
      if (!layout) statement(out);
    }
    return out;
  }

 private:
  static constexpr int depth_limit = 64;   // of nested expressions
  static constexpr int length_limit = 64;  // of one sum or product
  static constexpr std::int64_t index_limit = 1 << 20;

  void statement(trace& out) {
    // The lines around the calls, and TVM's choice of a function of a module, say nothing.
    if (in_.at("def") || in_.at("from") || in_.at("import") || in_.at("return") ||
        in_.at(ir::token_kind::string) ||
        (in_.peek(2).text == "work_on" && in_.peek(4).text != "func_name"))
      while (!in_.at(ir::token_kind::newline) && !in_.at_end()) in_.next();
    else if (!in_.accept("pass"))
      call(out);
    if (!in_.at_end()) in_.expect_newline();
  }

  void call(trace& out) {
    const ir::token start = in_.peek();
    std::vector<std::string> targets;
    if (!(in_.peek(1).kind == ir::token_kind::symbol && in_.peek(1).text == ".")) {
      const std::string_view close = in_.accept("(") ? ")" : in_.accept("[") ? "]" : "=";
      do {
        targets.emplace_back(in_.expect_name("the name of a result").text);
      } while (in_.accept(",") && !in_.at(close));
      if (close != "=") in_.expect(close);
      in_.expect("=");
    }
    in_.expect_name("the name of the schedule");
    in_.expect(".");
    const ir::token name = in_.expect_name("the name of a primitive");
    const instruction_kind* kind = find_instruction_kind(name.text);
    if (!kind)
      in_.fail(name, "the name of a primitive (" +
                         detail::nearest_kind::advice(
                             name.text, [](const instruction_kind& k) { return k.name; }) +
                         ")");
    check_targets(*kind, targets.size(), start);
    auto* made = new instruction;
    support::ref<const instruction> what(made);
    made->kind = kind;
    decision choice = arguments(*kind, made->args);
    for (const std::string& target : targets) {
      const rv v{kind->output_class, next_++};
      names_[target] = v;
      made->outputs.push_back(v);
      if (split_selector_ && kind->name == "reindex") copies_of_2022_.push_back(v);
    }
    if (changes_nothing(*made)) return;
    out.append(std::move(what), std::move(choice));
  }

  void check_targets(const instruction_kind& kind, std::size_t count,
                     const ir::token& start) const {
    if (kind.outputs == output_shape::none && count != 0)
      in_.fail(start, "no result: " + std::string(kind.name) + " gives none");
    if (kind.outputs == output_shape::one && count > 1)
      in_.fail(start, "one name for the result of " + std::string(kind.name));
  }

  /// A copy of `reindex` had a variable for each one of its block in 2022, of extent 1 where the
  /// buffer does not need it; today it has those that it needs. The identity over all is the
  /// identity over these.
  bool changes_nothing(const instruction& made) const {
    if (made.kind->name != "transform_block_layout") return false;
    const auto* map = std::get_if<map_argument>(&made.args[1]);
    return map && is_identity(map->map) &&
           support::contains(copies_of_2022_, std::get<rv>(made.args[0]));
  }

  decision arguments(const instruction_kind& kind, std::vector<argument>& args) {
    args.assign(kind.parameters.size(), argument{});
    split_selector former;
    decision choice;
    std::size_t position = 0;
    in_.expect("(");
    while (!in_.at(")")) {
      const bool is_named = in_.at(ir::token_kind::name) && in_.peek(1).text == "=";
      if (is_named && named_before(kind, former))
        ;
      else if (is_named)
        named(kind, args, choice);
      else
        positional(kind, args, position);
      if (!in_.accept(",")) break;
    }
    const ir::token close = in_.expect(")");
    split_selector_ = former.any();
    if (split_selector_) selector_argument(kind, args) = joined(former, close);
    for (std::size_t i = 0; i < args.size(); ++i)
      if (std::holds_alternative<std::monostate>(args[i]))
        args[i] = missing(kind.parameters[i], close);
    return choice;
  }

  static std::size_t selector_position(const instruction_kind& kind) {
    std::size_t at = 0;
    while (at < kind.parameters.size() && kind.parameters[at].type != argument_type::buffer) ++at;
    return at;
  }
  static argument& selector_argument(const instruction_kind& kind, std::vector<argument>& args) {
    return args[selector_position(kind)];
  }

  /// Takes one of the parameters that were a buffer's together.
  bool named_before(const instruction_kind& kind, split_selector& former) {
    if (selector_position(kind) == kind.parameters.size()) return false;
    const ir::token name = in_.peek();
    const bool is_index = name.text == "buffer_index" &&
                          in_.peek(2).kind != ir::token_kind::string && in_.peek(2).text != "(";
    const bool is_type = name.text == "buffer_index_type", is_flag = name.text == "is_write_index";
    if (!is_index && !is_type && !is_flag) return false;
    in_.next(), in_.next();
    if (is_index ? former.index.has_value() : former.written.has_value())
      in_.fail(name, "one argument \"" + std::string(name.text) + "\"");
    if (is_index)
      former.index = buffer_number();
    else
      former.written = is_flag ? boolean() : buffer_list();
    return true;
  }

  buffer_selector joined(const split_selector& former, const ir::token& close) const {
    if (!former.index) in_.fail(close, "an argument \"buffer_index\"");
    if (!former.written) in_.fail(close, "an argument \"buffer_index_type\"");
    return *former.written ? written_buffer(static_cast<int>(*former.index))
                           : read_buffer(static_cast<int>(*former.index));
  }

  void named(const instruction_kind& kind, std::vector<argument>& args, decision& choice) {
    const ir::token name = in_.next();
    const std::string_view today = name_today(kind, name.text);
    in_.expect("=");
    if (name.text == "decision" && kind.choice != decision_shape::none) {
      if (!choice.empty()) in_.fail(name, "one decision");
      choice = kind.choice == decision_shape::one ? decision{in_.expect_integer()} : integers();
      return;
    }
    for (std::size_t i = 0; i < kind.parameters.size(); ++i)
      if (kind.parameters[i].name == today) {
        if (!std::holds_alternative<std::monostate>(args[i]))
          in_.fail(name, "one argument \"" + std::string(name.text) + "\"");
        args[i] = value(kind.parameters[i]);
        return;
      }
    in_.fail(name, "a parameter of " + std::string(kind.name));
  }

  // A positional list takes all arguments that have no name, one entry each.
  void positional(const instruction_kind& kind, std::vector<argument>& args,
                  std::size_t& position) {
    if (position >= kind.parameters.size()) in_.fail("no further argument");
    const parameter& p = kind.parameters[position];
    const bool variadic = p.positional && p.type == argument_type::loops;
    if (!variadic || in_.at("[")) {
      args[position++] = value(p);
      return;
    }
    if (!std::holds_alternative<std::vector<rv>>(args[position]))
      args[position] = std::vector<rv>{};
    std::get<std::vector<rv>>(args[position]).push_back(variable(rv_class::loop));
  }

  argument missing(const parameter& p, const ir::token& close) const {
    std::optional<argument> out = default_argument(p);
    if (!out) in_.fail(close, "an argument \"" + std::string(p.name) + "\"");
    return std::move(*out);
  }

  argument value(const parameter& p) {
    switch (p.type) {
      case argument_type::block: return variable(rv_class::block);
      case argument_type::loop: return variable(rv_class::loop);
      case argument_type::block_or_loop: return block_or_loop();
      case argument_type::loop_or_blocks:
        if (in_.at("[")) return variables(rv_class::block);
        return variable(rv_class::loop);
      case argument_type::blocks: return variables(rv_class::block);
      case argument_type::loops: return variables(rv_class::loop);
      case argument_type::factors: return list<factor>([&] { return sum(0); });
      case argument_type::boolean: return boolean();
      case argument_type::integer: return in_.expect_integer();
      case argument_type::string: return ir::decode_string(in_.expect_string());
      case argument_type::integers: return integers();
      case argument_type::reals: return list<double>([&] { return real(); });
      case argument_type::note: return note();
      case argument_type::value: return comparison();
      case argument_type::buffer: return buffer();
      case argument_type::index_map: return map(false);
      case argument_type::index_ranges: return map(true);
      case argument_type::padding: return padding();
    }
    throw internal_error("trace parser met an unknown type of parameter");
  }

  template <class T, class Item>
  std::vector<T> list(const Item& item) {
    std::vector<T> out;
    in_.expect("[");
    while (!in_.at("]")) {
      out.push_back(item());
      if (!in_.accept(",")) break;
    }
    in_.expect("]");
    return out;
  }

  std::vector<std::int64_t> integers() {
    return list<std::int64_t>([&] { return in_.expect_integer(); });
  }

  /// ("read", 0), or a name
  buffer_selector buffer() {
    if (in_.at(ir::token_kind::string)) return ir::decode_string(in_.next());
    in_.expect("(");
    const bool written = buffer_list();
    in_.expect(",");
    const auto index = static_cast<int>(buffer_number());
    in_.expect(")");
    return written ? written_buffer(index) : read_buffer(index);
  }
  bool buffer_list() {
    const ir::token list = in_.expect_string("\"read\" or \"write\"");
    const std::string which = ir::decode_string(list);
    if (which != "read" && which != "write") in_.fail(list, "\"read\" or \"write\"");
    return which == "write";
  }
  std::int64_t buffer_number() {
    const ir::token at = in_.peek();
    const std::int64_t index = in_.expect_integer();
    if (index < 0 || index > index_limit) in_.fail(at, "the number of a buffer");
    return index;
  }

  map_argument map(bool ranges) {
    map_argument out;
    out.map = ir::parse_index_map(
        in_, [&](std::string_view name) { return integer_variable(name, out); }, ranges);
    return out;
  }

  /// The expression variable for an integer of the schedule, one per map; null when the name is
  /// a block or a loop.
  ir::var integer_variable(std::string_view name, map_argument& out) {
    const auto found = names_.find(name);
    if (found == names_.end()) return operands::scalar(name, scalars_);
    if (found->second.kind != rv_class::integer) return {};
    for (const auto& [v, number] : out.variables)
      if (number.number == found->second.number) return v;
    out.variables.emplace_back(ir::make_var(std::string(name)), expr_rv{found->second.number});
    return out.variables.back().first;
  }

  argument padding() {
    if (in_.accept("None")) return {};
    if (in_.at(ir::token_kind::name) && !in_.at("True") && !in_.at("False") && !in_.at("float"))
      if (!in_.at("T") || in_.peek(2).text == "index_map") return map(false);
    const ir::token at = in_.peek();
    const ir::attr number = ir::parse_attr(in_);
    if (const auto* i = std::get_if<std::int64_t>(&number.value)) return *i;
    if (const auto* r = std::get_if<double>(&number.value)) return *r;
    in_.fail(at, "None, a number or a lambda");
  }

  rv lookup(std::string_view needed) {
    const ir::token name = in_.expect_name(needed);
    const auto found = names_.find(name.text);
    if (found == names_.end()) in_.fail(name, std::string(needed) + " that an earlier line gives");
    return found->second;
  }

  rv variable(rv_class needed) {
    const char* what = needed == rv_class::block  ? "a block"
                       : needed == rv_class::loop ? "a loop"
                                                  : "an integer";
    const ir::token name = in_.peek();
    const rv v = lookup(what);
    if (v.kind != needed) in_.fail(name, what);
    return v;
  }

  rv block_or_loop() {
    const ir::token name = in_.peek();
    const rv v = lookup("a block or a loop");
    if (v.kind == rv_class::integer) in_.fail(name, "a block or a loop");
    return v;
  }

  std::vector<rv> variables(rv_class needed) {
    if (in_.accept("None")) return {};
    return list<rv>([&] { return variable(needed); });
  }

  bool boolean() {
    if (in_.accept("True")) return true;
    if (in_.accept("False")) return false;
    const ir::token at = in_.peek();
    const std::int64_t number = in_.expect_integer("True or False");
    if (number != 0 && number != 1) in_.fail(at, "True or False");
    return number == 1;
  }

  double real() {
    const ir::token at = in_.peek();
    const ir::attr number = ir::parse_attr(in_);
    if (const auto* i = std::get_if<std::int64_t>(&number.value)) return static_cast<double>(*i);
    if (const auto* r = std::get_if<double>(&number.value)) return *r;
    in_.fail(at, "a number");
  }

  factor sum(int depth) {
    factor out = product(depth);
    for (int i = 0;; ++i) {
      if (i > length_limit) in_.fail("a shorter expression");
      if (in_.accept("+"))
        out = {factor::op::add, out, product(depth)};
      else if (in_.accept("-"))
        out = {factor::op::sub, out, product(depth)};
      else
        return out;
    }
  }

  factor comparison() {
    using op = factor::op;
    constexpr std::array<std::pair<std::string_view, op>, 6> signs{{{"==", op::eq},
                                                                    {"!=", op::ne},
                                                                    {"<=", op::le},
                                                                    {">=", op::ge},
                                                                    {"<", op::lt},
                                                                    {">", op::gt}}};
    factor left = sum(0);
    for (const auto& [sign, meaning] : signs)
      if (in_.accept(sign)) return {meaning, left, sum(0)};
    return left;
  }

  factor product(int depth) {
    factor out = leaf(depth);
    for (int i = 0;; ++i) {
      if (i > length_limit) in_.fail("a shorter expression");
      if (in_.accept("*"))
        out = {factor::op::mul, out, leaf(depth)};
      else if (in_.accept("//"))
        out = {factor::op::floordiv, out, leaf(depth)};
      else if (in_.accept("%"))
        out = {factor::op::floormod, out, leaf(depth)};
      else
        return out;
    }
  }

  factor leaf(int depth) {
    if (depth > depth_limit) in_.fail("less nesting");
    if (in_.accept("(")) {
      factor out = sum(depth + 1);
      in_.expect(")");
      return out;
    }
    if (in_.accept("None")) return infer;
    if (in_.at("T") && in_.peek(1).text == ".") return typed_leaf(depth);
    if (in_.at(ir::token_kind::name)) return expr_rv{variable(rv_class::integer).number};
    return in_.expect_integer();
  }

  /// `T.int64(4)`: integers of a schedule have one width, so the type says nothing.
  factor typed_leaf(int depth) {
    in_.next(), in_.next();
    const ir::token type = in_.expect_name("an integer type");
    if (type.text != "int32" && type.text != "int64") in_.fail(type, "int32 or int64");
    in_.expect("(");
    factor out = sum(depth + 1);
    in_.expect(")");
    return out;
  }

  /// Whether an integer of the schedule occurs in the value that comes, a list or a map.
  bool holds_variables() const {
    int depth = 0;
    for (std::size_t i = 0;; ++i) {
      const ir::token& t = in_.peek(i);
      if (t.kind == ir::token_kind::end) return false;
      if (t.kind == ir::token_kind::name && names_.count(t.text) != 0) return true;
      if (t.kind != ir::token_kind::symbol) continue;
      if (t.text == "[" || t.text == "{" || t.text == "(") ++depth;
      if ((t.text == "]" || t.text == "}" || t.text == ")") && --depth == 0) return false;
    }
  }

  annotation_value::dict note_map(int depth) {
    annotation_value::dict out;
    in_.expect("{");
    while (!in_.at("}")) {
      std::string key = ir::decode_string(in_.expect_string("a key"));
      in_.expect(":");
      out.insert_or_assign(std::move(key), note(depth + 1));
      if (!in_.accept(",")) break;
    }
    in_.expect("}");
    return out;
  }

  /// A constant, or an expression, list or map in which an integer of the schedule occurs.
  annotation_value note(int depth = 0) {
    if (depth > depth_limit) in_.fail("less nesting");
    if ((in_.at("[") || in_.at("{")) && holds_variables()) {
      if (in_.at("{")) return note_map(depth);
      return list<annotation_value>([&] { return note(depth + 1); });
    }
    const bool is_variable = in_.at(ir::token_kind::name) && names_.count(in_.peek().text) != 0;
    if (is_variable || in_.at("(")) return sum(0);
    const std::size_t start = in_.mark();
    if (in_.at(ir::token_kind::integer)) {
      factor f = sum(0);
      if (f.kind() != factor::op::literal) return f;
      in_.rewind(start);
    }
    return ir::parse_attr(in_);
  }

  ir::token_stream in_;
  std::map<std::string, rv, std::less<>> names_;
  std::map<std::string, ir::var, std::less<>> scalars_;  // of the function, in index maps
  std::uint32_t next_ = 0;
  bool split_selector_ = false;  // the buffer of the last call was written as in 2022
  std::vector<rv> copies_of_2022_;
};

}  // namespace detail

TILEWRIGHT_INLINE trace trace::parse(std::string_view text) {
  return detail::trace_parser(text).run();
}

}  // namespace tilewright
