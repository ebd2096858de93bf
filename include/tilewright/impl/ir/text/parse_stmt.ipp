#pragma once

#include <algorithm>
#include <array>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/ir/text/literal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::ir::detail {

TILEWRIGHT_INLINE stmt parser::suite() {
  const level guard(*this);
  in_.expect(":");
  const std::size_t scope = scope_.size();
  if (!in_.at(token_kind::newline)) {  // `if c: statement; statement`
    stmt line = statements(true);
    leave_scope(scope);
    return line;
  }
  in_.expect_newline();
  if (!in_.accept(token_kind::indent)) in_.fail("an indented line");
  stmt body = statements();
  leave_scope(scope);
  if (!in_.accept(token_kind::dedent) && !in_.at_end()) in_.fail("the end of the indented lines");
  return body;
}

TILEWRIGHT_INLINE stmt parser::nested_suite() {
  block_frame* const outer = std::exchange(here_, nullptr);
  stmt body = suite();
  here_ = outer;
  return body;
}

/// The statement, or the scope that its line opened around nothing.
TILEWRIGHT_INLINE stmt parser::closed(open_scope& opened, stmt body) {
  return opened.close ? opened.close(body ? std::move(body) : make_seq({})) : body;
}

TILEWRIGHT_INLINE stmt parser::statements(bool on_one_line) {
  const int layers = layers_;
  std::vector<stmt> out;
  std::vector<open_scope> scopes;
  const std::size_t begin = in_.mark();
  const auto ends = [&] { return on_one_line && in_.mark() != begin && !in_.behind_semicolon(); };
  while (!in_.at(token_kind::dedent) && !in_.at_end() && !ends()) {
    open_scope opened;
    if (stmt s = statement(opened)) out.push_back(std::move(s));
    if (!opened.close) continue;
    if (++layers_ > max_depth) in_.fail("at most 1000 statements inside each other");
    opened.first = out.size();
    scopes.push_back(std::move(opened));
  }
  for (; !scopes.empty(); scopes.pop_back()) {
    const open_scope& last = scopes.back();
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(last.first);
    stmt body = make_seq(std::vector<stmt>(first, out.end()));
    out.erase(first, out.end());
    out.push_back(last.close(std::move(body)));
  }
  layers_ = layers;
  return make_seq(std::move(out));
}

/// One statement; null for header lines, and for a line that opens a scope, which it tells in
/// `opened`.
TILEWRIGHT_INLINE stmt parser::statement(open_scope& opened) {
  if (in_.at(token_kind::indent)) in_.fail("a line of the same indentation");
  if (in_.at("else") || in_.at("elif")) in_.fail("a statement: no if ends before this line");
  if (in_.at("for")) return for_loop();
  if (in_.at("if")) return branch();
  if (in_.at("while")) return while_loop();
  if (in_.at("with")) return with();
  if (in_.at("assert")) return assertion();
  if (in_.at(token_kind::string)) {  // a docstring
    string();
    in_.expect_newline();
    return {};
  }
  if (in_.accept("pass")) {
    in_.expect_newline();
    return {};
  }
  if (in_.at("return") || in_.at("break") || in_.at("continue")) {
    const std::string what = in_.at("return")  ? "tir.ret"
                             : in_.at("break") ? "tir.break_loop"
                                               : "tir.continue_loop";
    in_.next();
    std::vector<expr> args;
    if (!in_.at(token_kind::newline)) args.push_back(settle(expression()));
    in_.expect_newline();
    const dtype type = args.empty() ? dtype::handle : args[0].type();
    return make_evaluate(call(type, what, std::move(args)));
  }
  if (in_.at("@")) {  // a macro of the function's own
    if (decorators() < decorated::macro || !in_.at("def")) in_.fail("a macro");
    note_macro(false);
    return {};
  }
  if (at_namespace()) return command(opened);
  if (in_.at(token_kind::name) || in_.at("(") || in_.at("[") || in_.at("*"))
    return named_statement(opened);
  in_.fail("a statement");
}

/// `i, j`, `(i, j)`, `*spatial, k`; `star` is the place of the starred name, or their number.
TILEWRIGHT_INLINE std::vector<token> parser::loop_names(std::size_t& star) {
  std::vector<token> names;
  const std::string_view close = in_.accept("(") ? ")" : in_.accept("[") ? "]" : "";
  star = static_cast<std::size_t>(-1);
  do {
    if (!names.empty() && !in_.at(token_kind::name) && !in_.at("*")) break;
    if (in_.accept("*")) star = names.size();
    names.push_back(in_.expect_name("a loop variable"));
  } while (in_.accept(","));
  if (!close.empty()) in_.expect(close);
  return names;
}

TILEWRIGHT_INLINE stmt parser::for_loop() {
  in_.expect("for");
  std::size_t star = 0;
  const std::vector<token> names = loop_names(star);
  in_.expect("in");
  const std::size_t scope = scope_.size();
  const int layers = layers_;
  layers_ += static_cast<int>(std::min<std::size_t>(names.size(), max_depth + 1));
  if (layers_ > max_depth) in_.fail("at most 1000 statements inside each other");
  stmt out;
  if (in_.accept("range")) {
    out = single_loop(names, loop_kind::serial);
  } else {
    enter_namespace();
    const token kind = in_.expect_name("a kind of loop");
    static constexpr std::array<std::string_view, 5> kinds{"serial", "parallel", "vectorized",
                                                           "unroll", "thread_binding"};
    const auto found = std::find(kinds.begin(), kinds.end(), kind.text);
    if (kind.text == "grid")
      out = nest(names, star, kind);
    else if (found != kinds.end())
      out = single_loop(names, static_cast<loop_kind>(found - kinds.begin()));
    else
      in_.fail(kind, "grid, serial, parallel, vectorized, unroll or thread_binding");
  }
  leave_scope(scope);
  layers_ = layers;
  return out;
}

/// T.grid(a, b, ...); one name for several extents is a tuple.
TILEWRIGHT_INLINE stmt parser::nest(std::vector<token> names, std::size_t star, const token& at) {
  const token open = in_.expect("(");
  const operand list = [&] {
    operand given = sequence(")");
    if (given.tuple) return given;
    operand one;
    one.tuple = true;
    one.items.push_back(std::move(given));
    return one;
  }();
  std::vector<expr> extents;
  for (const operand& item : list.items) {
    need_value(at, item);
    if (!is_integer(item.value.type())) in_.fail(at, "integer extents");
    extents.push_back(item.value);
  }
  const bool starred = star < names.size();
  if (!starred && names.size() == 1 && extents.size() > 1) star = 0;
  const bool gathers = star < names.size();
  if (gathers ? extents.size() + 1 < names.size() : extents.size() != names.size())
    throw parse_error(open.at, std::to_string(names.size()) + " extents",
                      std::to_string(extents.size()));
  layers_ += static_cast<int>(extents.size() - std::min(extents.size(), names.size()));
  if (layers_ > max_depth) in_.fail("at most 1000 statements inside each other");
  const std::size_t gathered = extents.size() + 1 - names.size();
  std::vector<var> vars;
  operand tuple;
  tuple.tuple = true;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const dtype type = extents[i].type();
    const bool inside = gathers && i >= star && i < star + gathered;
    const token& name = names[!gathers || i < star ? i : inside ? star : i + 1 - gathered];
    std::string spelled(name.text);
    if (inside) spelled += "_" + std::to_string(i - star);
    vars.push_back(make_var(std::move(spelled), type));
    if (inside)
      tuple.items.push_back({vars.back()});
    else
      define_variable(name, vars.back(), {integer(type, 0), extents[i]});
  }
  if (gathers) define_constant(names[star], std::move(tuple));
  stmt body = nested_suite();
  for (std::size_t i = extents.size(); i-- > 0;)
    body = make_loop(vars[i], integer(vars[i].type(), 0), extents[i], std::move(body));
  return body;
}

/// range(...), T.serial(stop), T.parallel(start, stop, annotations={...}), ...
TILEWRIGHT_INLINE stmt parser::single_loop(const std::vector<token>& names, loop_kind kind) {
  const token open = in_.expect("(");
  if (names.size() != 1) in_.fail(open, "one loop variable for this kind of loop");
  std::vector<operand> bounds;
  operand start, stop, step;
  annotations notes;
  std::string thread;
  while (!in_.at(")")) {
    const bool named = in_.at(token_kind::name) && in_.peek(1).text == "=";
    const token key = in_.peek();
    if (named) in_.next(), in_.next();
    if (named && key.text == "annotations") {
      if (!in_.accept("None")) notes = dictionary();
    } else if (named && key.text == "thread") {
      thread = decode_string(in_.expect_string("the name of a thread axis"));
    } else if (!named && in_.at(token_kind::string) && kind == loop_kind::thread_binding) {
      thread = decode_string(in_.next());
    } else if (named && key.text != "start" && key.text != "stop" && key.text != "step" &&
               key.text != "end") {
      in_.fail(key, "start, stop, step, thread or annotations");
    } else {
      const token at = in_.peek();
      operand bound = expression();
      if (!is_integer(bound.value.type())) in_.fail(at, "an integer bound");
      if (named)
        (key.text == "start" ? start : key.text == "step" ? step : stop) = std::move(bound);
      else
        bounds.push_back(std::move(bound));
    }
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  if (bounds.size() > 3 || (bounds.empty() && !stop.value))
    in_.fail("one or two bounds before ')'");
  if (bounds.size() == 1) (stop.value ? start : stop) = bounds[0];
  if (bounds.size() > 1) start = bounds[0], stop = bounds[1];
  if (bounds.size() > 2) step = bounds[2];
  if (kind == loop_kind::thread_binding && thread.empty()) in_.fail("thread=\"...\" before ')'");
  in_.expect(")");
  if (!start.value) start = {integer(stop.value.type(), 0), true};
  unify(open, start, stop);
  if (step.value && !is_int(step.value, 1)) {
    if (is_int(step.value) && step.value->integer < 1) in_.fail(open, "a positive step");
    return stepped(names[0], start.value, stop.value, step.value, kind, std::move(notes),
                   std::move(thread));
  }
  // Literals of different widths: the builder joins them, and 0 + x is x.
  const expr min = start.value, extent = extent_between(min, stop.value);
  const dtype type = extent.type();
  const var v = make_var(std::string(names[0].text), type);
  const range domain{min.type() == type ? min : cast(type, min), extent};
  define_variable(names[0], v, domain);
  return make_loop(v, domain.min, domain.extent, nested_suite(), kind, std::move(notes),
                   std::move(thread));
}

/// A loop with a step runs over the number of its iterations: start + i * step stands for its
/// variable.
TILEWRIGHT_INLINE stmt parser::stepped(const token& name, const expr& start, const expr& stop,
                                       const expr& step, loop_kind kind, annotations notes,
                                       std::string thread) {
  expr length = extent_between(start, stop);
  const dtype type =
      bits(step.type()) > bits(length.type()) && !is_int(step) ? step.type() : length.type();
  if (length.type() != type) length = cast(type, length);
  const var counted = make_var(std::string(name.text), type);
  const expr by = is_int(step)          ? integer(type, step->integer)
                  : step.type() == type ? step
                                        : cast(type, step);
  define_variable(name, counted);
  const stmt body = nested_suite();
  const expr value = (start.type() == type ? start : cast(type, start)) + counted * by;
  const expr extent = ceildiv(length, by);
  const var fresh = make_var(std::string(name.text), type);
  return make_loop(fresh, integer(type, 0), extent,
                   substitute(body, {{counted, substitute(value, {{counted, fresh}})}}), kind,
                   std::move(notes), std::move(thread));
}

TILEWRIGHT_INLINE stmt parser::branch() {
  const level guard(*this);  // elif recurses
  in_.next();
  expr test = condition();
  stmt yes = nested_suite(), no;
  if (in_.at("elif")) {
    no = branch();
  } else if (in_.accept("else")) {
    no = nested_suite();
  }
  return make_if(std::move(test), std::move(yes), std::move(no));
}

TILEWRIGHT_INLINE stmt parser::while_loop() {
  in_.expect("while");
  expr test = condition();
  return make_while(std::move(test), nested_suite());
}

/// assert condition, "message"
TILEWRIGHT_INLINE stmt parser::assertion() {
  in_.expect("assert");
  std::vector<expr> args{condition()};
  if (in_.accept(",")) args.push_back(argument(any()));
  in_.expect_newline();
  return make_evaluate(call(dtype::boolean, "tir.Assert", std::move(args)));
}

/// A line that starts with `T.`: a header line, a scope or a call.
TILEWRIGHT_INLINE stmt parser::command(open_scope& opened) {
  const std::size_t start = in_.mark();
  enter_namespace();
  const token name = in_.peek();
  static constexpr std::array<std::string_view, 7> headers{
      "reads", "writes", "where", "block_attr", "sblock_attr", "sp_iter_attr", "func_attr"};
  if (support::contains(headers, name.text)) {
    in_.next();
    in_.expect("(");
    header_command(name);
    in_.expect(")");
    in_.expect_newline();
    return {};
  }
  const bool lets = name.text == "LetStmt" || name.text == "let";
  const bool binds = (name.text == "Bind" || name.text == "bind") && in_.peek(1).text == "(";
  if (lets || binds || name.text == "attr" || name.text == "launch_thread") {
    in_.next();
    if (name.text == "attr")
      attribute_scope(opened);
    else if (name.text == "launch_thread")
      thread_scope(nullptr, opened);
    else
      let_scope(name, opened);
    in_.expect_newline();
    return {};
  }
  expr value;
  if (name.text == "evaluate") {
    in_.next();
    in_.expect("(");
    value = argument(any());
    in_.expect(")");
  } else {
    in_.rewind(start);
    value = settle(expression());
  }
  in_.expect_newline();
  return make_evaluate(value);
}

/// A line that starts with a name: a store, a let, or the definition of names.
TILEWRIGHT_INLINE stmt parser::named_statement(open_scope& opened) {
  if (in_.at(token_kind::name)) {
    const token first = in_.peek();
    const std::string_view next = in_.peek(1).text;
    const entity* meant = find(first.text);
    if (next == "[") {
      in_.next();
      return store(first);
    }
    if (const auto called = macros_.find(first.text); next == "(" && called != macros_.end())
      return expand(macro(called->second));
    if (meant && meant->scalar && next != "." && next != ":") {
      const buffer to = meant->tensor;
      in_.next();
      return stored(first, to, {integer(dtype::i32, 0)}, 1);
    }
    if (next == "." && meant && meant->is == entity::kind::tensor) {
      in_.next();
      return vector_store(first);
    }
    if (next == ":") {
      in_.next(), in_.next();
      annotated(first, opened);
      return {};
    }
  }
  std::size_t star = 0;
  const std::vector<token> names = loop_names(star);
  in_.expect("=");
  if (star < names.size()) in_.fail(names[star], "names without *");
  if (defines_by_call())
    assignment(names, opened);
  else if (names.size() == 1 && view(names[0], opened))
    ;  // defined
  else
    assign_values(names, opened);
  in_.expect_newline();
  return {};
}

TILEWRIGHT_INLINE stmt parser::store(const token& name) {
  const entity& meant = lookup(name);
  if (meant.is != entity::kind::tensor) in_.fail(name, "a buffer");
  const buffer to = meant.tensor;
  int depth = 1;
  std::vector<expr> at = indices(to, depth);
  return stored(name, to, std::move(at), depth);
}

/// `= value`, `+= value`, ... behind the place.
TILEWRIGHT_INLINE stmt parser::stored(const token& name, const buffer& to, std::vector<expr> at,
                                      int depth) {
  static constexpr std::array<std::pair<std::string_view, op>, 6> updates{{{"+=", op::add},
                                                                           {"-=", op::sub},
                                                                           {"*=", op::mul},
                                                                           {"/=", op::div},
                                                                           {"//=", op::floordiv},
                                                                           {"%=", op::floormod}}};
  const token sign = in_.peek();
  const auto update = support::find(updates, [&](const auto& u) { return in_.accept(u.first); });
  if (update == updates.end()) in_.expect("=");
  const token start = in_.peek();
  operand value = expression();
  if (update != updates.end()) {
    if (update->second == op::div && !is_float(to->type))
      in_.fail(sign, "T.truncdiv or // between integers");
    operand old = deeper(name, load(to, at), depth);
    value = combine(sign, update->second, std::move(old), std::move(value));
  }
  const expr stored = converted(start, value, access_type(to, at));
  in_.expect_newline();
  return make_store(to, std::move(at), stored);
}

/// A.vstore([i], value): a store at a ramp of indices is A[i:i + lanes] = value.
TILEWRIGHT_INLINE stmt parser::vector_store(const token& name) {
  const buffer to = lookup(name).tensor;
  in_.expect(".");
  const token what = in_.expect_name("vstore");
  if (what.text != "vstore") in_.fail(what, "vstore");
  const call_args args = arguments();
  in_.expect_newline();
  if (args.list.size() != 2) in_.fail(what, "the indices and the value");
  std::vector<expr> at;
  const operand& where = args.list[0];
  for (const operand& o : where.tuple ? where.items : std::vector<operand>{where})
    at.push_back(o.value);
  if (at.empty() || at.size() != to->shape.size()) in_.fail(what, "an index for every dimension");
  need_value(what, args.list[1]);
  at.back() = ramp_from(what, at.back(), args.list[1].value.type(), to);
  const dtype type = access_type(to, at);
  return make_store(to, std::move(at), converted(what, args.list[1], type));
}

}  // namespace tilewright::ir::detail
