// Macros of scripts: T.macro and T.inline.
//
// A macro is expanded by reading its text again wherever it is called, with its parameters standing
// for what the call gives: buffers, or values. Names that are free in it are those of the module, or
// with hygienic=False those where it is called; a macro inside a function sees the function's.
#pragma once

#include <utility>
#include <vector>

#include <tilewright/impl/ir/text/parser.hpp>

namespace tilewright::ir::detail {

/// Notes the macro whose `def` comes next.
TILEWRIGHT_INLINE void parser::note_macro(bool hygienic) {
  macros_[in_.peek(1).text] = {in_.mark(), hygienic};
  skip_definition();
}

/// What one argument of a call stands for.
TILEWRIGHT_INLINE entity parser::macro_argument() {
  const std::string_view after = in_.peek(1).text;
  const entity* known = after == "," || after == ")" ? find(in_.peek().text) : nullptr;
  if (in_.at(token_kind::name) && known) {
    in_.next();
    return *known;
  }
  entity e;
  e.is = entity::kind::constant;
  e.constant = any();
  return e;
}

/// `name(arguments)` of a macro: its statements.
TILEWRIGHT_INLINE stmt parser::expand(const macro& called) {
  const level guard(*this);
  const token name = in_.next();
  if (++expansions_ > max_expansions) in_.fail(name, "at most 1000 calls of macros");
  std::vector<std::pair<token, entity>> given;  // an empty name: by position
  in_.expect("(");
  while (!in_.at(")")) {
    token key = name;
    key.text = {};
    if (in_.at(token_kind::name) && in_.peek(1).text == "=") {
      key = in_.next();
      in_.next();
    }
    given.emplace_back(key, macro_argument());
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  in_.expect(")");
  in_.expect_newline();
  const std::size_t back = in_.mark();
  std::vector<std::pair<std::string_view, entity>> unseen;  // by a hygienic macro
  while (called.hygienic && scope_.size() > module_scope_) {
    std::vector<entity>& meanings = names_[scope_.back()];
    unseen.emplace_back(scope_.back(), std::move(meanings.back()));
    meanings.pop_back();
    scope_.pop_back();
  }
  const std::size_t scope = scope_.size();
  in_.rewind(called.at);
  in_.next(), in_.next();  // def name
  in_.expect("(");
  for (std::size_t i = 0; !in_.at(")"); ++i) {
    const token parameter = in_.expect_name("a parameter");
    if (in_.accept(":")) {
      enter_namespace();
      in_.expect_name("a type");
    }
    const token* found = nullptr;
    for (std::size_t g = 0; g < given.size() && !found; ++g)
      if (given[g].first.text == parameter.text || (given[g].first.text.empty() && g == i)) {
        define(parameter, given[g].second);
        found = &parameter;
      }
    if (in_.accept("=")) {
      operand otherwise = any();
      if (!found) define_constant(parameter, std::move(otherwise));
      found = &parameter;
    }
    if (!found) in_.fail(name, "an argument \"" + std::string(parameter.text) + "\"");
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  in_.expect(")");
  if (in_.accept("->")) in_.expect("None");
  stmt body = suite();
  leave_scope(scope);
  for (; !unseen.empty(); unseen.pop_back()) {
    names_[unseen.back().first].push_back(std::move(unseen.back().second));
    scope_.push_back(unseen.back().first);
  }
  in_.rewind(back);
  return body;
}

}  // namespace tilewright::ir::detail
