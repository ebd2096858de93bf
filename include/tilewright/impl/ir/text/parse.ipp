#pragma once

#include <optional>
#include <utility>

#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir {
namespace detail {

TILEWRIGHT_INLINE void parser::define(const token& name, entity e) {
  if (name.text == "T") in_.fail(name, "a name other than T");
  names_[name.text].push_back(std::move(e));
  scope_.push_back(name.text);
}

TILEWRIGHT_INLINE void parser::define_variable(const token& name, expr variable, range domain) {
  entity e;
  e.variable = std::move(variable);
  e.domain = std::move(domain);
  define(name, std::move(e));
}

TILEWRIGHT_INLINE void parser::define_tensor(const token& name, buffer b) {
  entity e;
  e.is = entity::kind::tensor;
  e.tensor = std::move(b);
  define(name, std::move(e));
}

TILEWRIGHT_INLINE void parser::define_constant(const token& name, operand value) {
  entity e;
  e.is = entity::kind::constant;
  e.constant = std::move(value);
  define(name, std::move(e));
}

TILEWRIGHT_INLINE const entity* parser::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() || found->second.empty() ? nullptr : &found->second.back();
}

TILEWRIGHT_INLINE const entity& parser::lookup(const token& name) const {
  const entity* found = name.kind == token_kind::name ? find(name.text) : nullptr;
  if (!found) in_.fail(name, "a name that is defined here");
  return *found;
}

TILEWRIGHT_INLINE void parser::leave_scope(std::size_t mark) {
  for (; scope_.size() > mark; scope_.pop_back()) names_[scope_.back()].pop_back();
}

/// Shapes may name scalars that a later parameter declares.
TILEWRIGHT_INLINE void parser::announce_scalars() {
  std::size_t depth = 1;
  for (std::size_t i = 0; depth > 0 && in_.peek(i).kind != token_kind::end; ++i) {
    const token& t = in_.peek(i);
    if (t.text == "(" || t.text == "[" || t.text == "{") ++depth;
    if (t.text == ")" || t.text == "]" || t.text == "}") --depth;
    if (depth != 1 || t.kind != token_kind::name || in_.peek(i + 1).text != ":") continue;
    std::size_t type = i + 2;
    while (in_.peek(type + 1).text == ".") type += 2;
    const std::optional<dtype> scalar = type_from_text(in_.peek(type).text);
    if (!scalar || *scalar == dtype::handle || find(t.text)) continue;
    entity e;
    e.variable = make_var(std::string(t.text), *scalar);
    e.implied = true;
    define(t, std::move(e));
  }
}

TILEWRIGHT_INLINE void parser::parameters() {
  in_.expect("(");
  announce_scalars();
  while (!in_.at(")")) {
    parameter();
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  in_.expect(")");
  if (!in_.accept("->") || in_.accept("None")) return;
  // The type of what T.ret gives.
  enter_namespace();
  in_.expect_name("a type");
  if (in_.at("(")) skip_brackets();
}

/// A: T.Buffer((8, 8), "float32"), a: T.handle, n: T.int32
TILEWRIGHT_INLINE void parser::parameter() {
  const token name = in_.expect_name("a parameter");
  if (support::contains(param_names_, name.text)) in_.fail(name, "a parameter of another name");
  param_names_.push_back(name.text);
  in_.expect(":");
  enter_namespace();
  const token type = in_.expect_name("Buffer, handle or an element type");
  param p;
  if (type.text == "Buffer" || type.text == "Tensor") {
    const std::string_view close = in_.accept("[") ? "]" : ")";
    if (close == ")") in_.expect("(");
    p.buffer = layout(name, close);
    define_tensor(name, p.buffer);
  } else if (type.text == "handle" || type.text == "Ptr") {
    if (in_.at("(")) skip_brackets();
    p.scalar = make_var(std::string(name.text), dtype::handle);
    entity e;
    e.is = entity::kind::handle;
    e.param = function_->params.size();
    define(name, std::move(e));
  } else {
    const entity* known = find(name.text);  // the shape of a buffer may have named it
    const bool implied = known && known->implied && known->variable.type() == type_of(type);
    p.scalar = implied ? known->variable : make_var(std::string(name.text), type_of(type));
    if (in_.at("(")) skip_brackets();
    define_variable(name, p.scalar);
  }
  function_->params.push_back(std::move(p));
}

/// Wraps what stands at the top into a root block where the script implies one.
TILEWRIGHT_INLINE stmt parser::finish_function(stmt body) {
  std::vector<buffer>& allocs = here_->node.alloc_buffers;
  const block_realize_node* realize = as_realize(body);
  bool blocks = false;
  for_each_stmt(body, [&](const stmt& s) { blocks = blocks || as_realize(s); });
  if (!allocs.empty() || (realize ? !realize->block->iters.empty() : blocks))
    return make_root(std::move(body), std::move(allocs));
  if (!realize || (!bare_root_reads_ && !bare_root_writes_)) return body;
  // An explicit root block: nothing is inferred for it.
  block_node root = *realize->block;
  if (bare_root_reads_) root.reads.clear();
  if (bare_root_writes_) root.writes.clear();
  return make_realize({}, realize->predicate, make_block(std::move(root)));
}

/// `def name(parameters): body`
TILEWRIGHT_INLINE function parser::function_definition() {
  in_.expect("def");
  function f;
  function_ = &f;
  f.name = std::string(in_.expect_name("the name of the function").text);
  parameters();
  block_frame top;
  top.top = true;
  here_ = around_ = &top;
  // A lone `pass` is a body too; the suite's own scope ends before the root block is made.
  stmt body = suite();
  f.body = finish_function(std::move(body));
  function_ = nullptr;
  here_ = around_ = nullptr;
  return f;
}

TILEWRIGHT_INLINE expr parser::expression_of(const std::vector<var>& variables) {
  for (const var& v : variables) {
    entity e;
    e.variable = v;
    names_[v->name].push_back(std::move(e));
    scope_.push_back(v->name);
  }
  return settle(expression());
}

}  // namespace detail

TILEWRIGHT_INLINE function parse(std::string_view text) { return detail::parser(text).run({}); }

TILEWRIGHT_INLINE function parse(std::string_view text, std::string_view name) {
  return detail::parser(text).run(name);
}

TILEWRIGHT_INLINE std::vector<std::string> function_names(std::string_view text) {
  return detail::parser(text).names_of_functions();
}

TILEWRIGHT_INLINE expr parse_expr(token_stream& in, const std::vector<var>& variables) {
  detail::parser reader(std::move(in));
  expr out = reader.expression_of(variables);
  in = reader.release();
  return out;
}

}  // namespace tilewright::ir
