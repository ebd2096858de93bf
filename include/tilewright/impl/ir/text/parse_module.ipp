// What stands around the functions of a script: imports, constants, decorators, classes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::ir::detail {

TILEWRIGHT_INLINE void parser::skip_line() {
  while (!in_.at(token_kind::newline) && !in_.at_end()) in_.next();
  in_.accept(token_kind::newline);
}

TILEWRIGHT_INLINE void parser::skip_brackets() {
  // The tokenizer has checked that brackets match.
  int open = 0;
  do {
    const token t = in_.next();
    if (t.kind != token_kind::symbol) continue;
    if (t.text == "(" || t.text == "[" || t.text == "{") ++open;
    if (t.text == ")" || t.text == "]" || t.text == "}") --open;
  } while (open > 0);
}

/// The rest of a line that ends in ':' and the suite below it.
TILEWRIGHT_INLINE void parser::skip_definition() {
  skip_line();
  if (!in_.accept(token_kind::indent)) return;
  for (int open = 1; open > 0 && !in_.at_end();) {
    if (in_.at(token_kind::indent)) ++open;
    if (in_.at(token_kind::dedent)) --open;
    in_.next();
  }
}

/// `from tvm.script import tir as T`: the name that follows `as`, or `import`, is a spelling of T.
TILEWRIGHT_INLINE void parser::import_line() {
  std::string_view last, imported;
  while (!in_.at(token_kind::newline) && !in_.at_end()) {
    const token t = in_.next();
    if (t.kind != token_kind::name) {
      if (t.text == ",") last = "import";
      continue;
    }
    if (last == "import" || last.empty()) imported = t.text;
    const bool language = imported == "tir" || imported == "tirx" || imported == "s_tir";
    if (last == "as" && language) namespaces_.push_back(t.text);
    last = t.text;
  }
  in_.accept(token_kind::newline);
}

TILEWRIGHT_INLINE parser::decorated parser::decorators() {
  decorated found = decorated::nothing;
  while (in_.accept("@")) {
    const token space = in_.expect_name("T.prim_func");
    token last = space;
    while (in_.accept(".")) last = in_.expect_name("prim_func");
    // What R calls a function is a graph of the level above.
    const bool own = last.text == "prim_func" || (last.text == "function" && space.text != "R");
    const bool expands = last.text == "macro" || last.text == "inline";
    if (own) found = decorated::function;
    if (expands) found = decorated::macro;
    const bool known = last.text == "prim_func" || last.text == "ir_module" ||
                       last.text == "macro" || last.text == "inline" || last.text == "function" ||
                       last.text == "py_func" || last.text == "parse" || last.text == "fixture" ||
                       last.text == "register_func";
    if (!known) in_.fail(last, "prim_func");
    if (expands && in_.peek(1).text == "hygienic" && in_.peek(3).text == "False")
      found = decorated::unhygienic_macro;
    if (in_.at("(")) skip_brackets();
    in_.expect_newline();
  }
  return found;
}

/// A constant that functions may use, `N = 128`; other assignments and calls mean nothing here.
TILEWRIGHT_INLINE bool parser::module_statement() {
  if (in_.at(token_kind::string)) {  // a docstring
    skip_line();
    return true;
  }
  if (in_.at("pass")) {
    skip_line();
    return true;
  }
  if (!in_.at(token_kind::name)) return false;
  std::size_t names = 1;
  while (in_.peek(names).text == "," && in_.peek(names + 1).kind == token_kind::name) names += 2;
  if (in_.peek(names).text == "=") {
    std::size_t star = 0;
    const std::vector<token> targets = loop_names(star);
    in_.expect("=");
    const bool type_variable =
        in_.at("TypeVar") || (in_.at("typing") && in_.peek(2).text == "TypeVar");
    if (type_variable) {
      skip_line();
      entity e;
      e.variable = make_var(std::string(targets[0].text), dtype::i64);
      e.implied = true;
      define(targets[0], std::move(e));
      return true;
    }
    if (!defines_by_call()) {
      operand value = any();
      if (targets.size() == 1) {
        define_constant(targets[0], std::move(value));
      } else {
        if (in_.at(",")) {
          operand list;
          list.tuple = true;
          list.items.push_back(std::move(value));
          while (in_.accept(",")) list.items.push_back(any());
          value = std::move(list);
        }
        if (!value.tuple || value.items.size() != targets.size())
          in_.fail("as many values as names");
        for (std::size_t i = 0; i < targets.size(); ++i)
          define_constant(targets[i], value.items[i]);
      }
    } else {
      enter_namespace();
      const token call = in_.next();
      if (!variable_call(targets[0], call)) in_.fail(call, "a number, or a function");
    }
    in_.expect_newline();
    return true;
  }
  // I.module_attrs({...}) and the like
  const bool call = in_.peek(1).text == "." && in_.peek(2).text.substr(0, 6) == "module";
  if (call) skip_line();
  return call;
}

/// Notes the functions of a script, or of a class in it, and reads what stands between them.
TILEWRIGHT_INLINE void parser::outline(bool inside_class) {
  while (!in_.at_end() && !(inside_class && in_.at(token_kind::dedent))) {
    // The whole text may be indented.
    if (!inside_class && (in_.accept(token_kind::indent) || in_.accept(token_kind::dedent)))
      continue;
    if (in_.at("from") || in_.at("import")) {
      import_line();
      continue;
    }
    const bool marked = in_.at("@");
    const decorated what = decorators();
    const bool is_function = what == decorated::function;
    if (in_.at("class")) {
      in_.next();
      in_.expect_name("the name of the module");
      if (in_.at("(")) skip_brackets();
      in_.expect(":");
      in_.expect_newline();
      if (!in_.accept(token_kind::indent)) in_.fail("an indented line");
      outline(true);
      if (!in_.accept(token_kind::dedent) && !in_.at_end()) in_.fail("the end of the module");
    } else if (in_.at("def") && (is_function || (!marked && !inside_class))) {
      functions_.push_back({in_.mark(), in_.peek(1).text});
      skip_definition();
    } else if (in_.at("def") && (what == decorated::macro || what == decorated::unhygienic_macro)) {
      note_macro(what == decorated::macro);
    } else if (in_.at("def")) {
      skip_definition();  // a function of another language
    } else if (marked || !module_statement()) {
      in_.fail(functions_.empty() ? "'def'" : "the end of the text after one function");
    }
  }
}

/// The function of that name; without a name `main`, or the only one, or the first that is decorated.
TILEWRIGHT_INLINE function parser::run(std::string_view name) {
  outline(false);
  module_scope_ = scope_.size();
  if (functions_.empty()) in_.fail("'def'");
  const std::string_view wanted = name.empty() ? "main" : name;
  const auto found =
      support::find(functions_, [&](const candidate& c) { return c.name == wanted; });
  if (found == functions_.end() && !name.empty()) {
    std::string there;
    for (const candidate& c : functions_)
      there += (there.empty() ? "" : ", ") + std::string(c.name);
    throw argument_error("the script has no function \"" + std::string(name) + "\"; it has " +
                         there);
  }
  in_.rewind((found == functions_.end() ? functions_.front() : *found).at);
  return function_definition();
}

TILEWRIGHT_INLINE std::vector<std::string> parser::names_of_functions() {
  outline(false);
  if (functions_.empty()) in_.fail("'def'");
  std::vector<std::string> out;
  for (const candidate& c : functions_) out.emplace_back(c.name);
  return out;
}

}  // namespace tilewright::ir::detail
