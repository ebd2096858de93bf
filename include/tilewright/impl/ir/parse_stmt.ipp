#pragma once

#include <algorithm>
#include <array>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/infer_regions.hpp>
#include <tilewright/impl/ir/parser.hpp>
#include <tilewright/ir/literal.hpp>

namespace tilewright::ir::detail {

/// Lines after a let or an allocation belong to it; it is closed where its suite ends.
struct open_scope {
  std::size_t first;  // statement of the suite with which its body begins
  var variable;       // of a let; null for an allocation
  expr value;
  buffer allocated;
};

TILEWRIGHT_INLINE stmt parser::suite() {
  const level guard(*this);
  in_.expect(":");
  in_.expect_newline();
  if (!in_.accept(token_kind::indent)) in_.fail("an indented line");
  const std::size_t scope = scope_.size();
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

TILEWRIGHT_INLINE stmt parser::statements() {
  const int layers = layers_;
  std::vector<stmt> out;
  std::vector<open_scope> scopes;
  while (!in_.at(token_kind::dedent) && !in_.at_end()) {
    open_scope opened{out.size(), {}, {}, {}};
    if (stmt s = statement(opened)) out.push_back(std::move(s));
    if (!opened.variable && !opened.allocated) continue;
    if (++layers_ > max_depth) in_.fail("at most 1000 statements inside each other");
    opened.first = out.size();
    scopes.push_back(std::move(opened));
  }
  for (; !scopes.empty(); scopes.pop_back()) {
    const open_scope& last = scopes.back();
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(last.first);
    stmt body = make_seq(std::vector<stmt>(first, out.end()));
    out.erase(first, out.end());
    out.push_back(last.allocated ? make_allocate(last.allocated, std::move(body))
                                 : make_let(last.variable, last.value, std::move(body)));
  }
  layers_ = layers;
  return make_seq(std::move(out));
}

/// One statement; null for header lines, and for a line that opens a scope, which it tells in
/// `opened`.
TILEWRIGHT_INLINE stmt parser::statement(open_scope& opened) {
  if (in_.at(token_kind::indent)) in_.fail("a line of the same indentation");
  if (in_.at("for")) return for_loop();
  if (in_.at("if")) return branch();
  if (in_.at("with")) return with();
  if (in_.accept("pass")) {
    in_.expect_newline();
    return {};
  }
  if (in_.at("T") && in_.peek(1).text == ".") return command();
  if (in_.at(token_kind::name)) return named_statement(opened);
  in_.fail("a statement");
}

TILEWRIGHT_INLINE stmt parser::for_loop() {
  in_.expect("for");
  std::vector<token> names;
  do names.push_back(in_.expect_name("a loop variable"));
  while (in_.accept(","));
  in_.expect("in");
  const std::size_t scope = scope_.size();
  const int layers = layers_;
  layers_ += static_cast<int>(std::min<std::size_t>(names.size(), max_depth + 1));
  if (layers_ > max_depth) in_.fail("at most 1000 statements inside each other");
  stmt out;
  if (in_.accept("range")) {
    out = single_loop(names, loop_kind::serial);
  } else {
    in_.expect("T");
    in_.expect(".");
    const token kind = in_.expect_name("a kind of loop");
    static constexpr std::array<std::string_view, 5> kinds{"serial", "parallel", "vectorized",
                                                           "unroll", "thread_binding"};
    const auto found = std::find(kinds.begin(), kinds.end(), kind.text);
    if (kind.text == "grid")
      out = nest(names);
    else if (found != kinds.end())
      out = single_loop(names, static_cast<loop_kind>(found - kinds.begin()));
    else
      in_.fail(kind, "grid, serial, parallel, vectorized, unroll or thread_binding");
  }
  leave_scope(scope);
  layers_ = layers;
  return out;
}

/// T.grid(a, b, ...)
TILEWRIGHT_INLINE stmt parser::nest(const std::vector<token>& names) {
  const token open = in_.expect("(");
  std::vector<expr> extents;
  while (!in_.at(")")) {
    extents.push_back(integer_expr("an integer extent"));
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  in_.expect(")");
  if (extents.size() != names.size())
    throw parse_error(open.at, std::to_string(names.size()) + " extents",
                      std::to_string(extents.size()));
  std::vector<var> vars;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const dtype type = extents[i].type();
    vars.push_back(make_var(std::string(names[i].text), type));
    define_variable(names[i], vars.back(), {integer(type, 0), extents[i]});
  }
  stmt body = nested_suite();
  for (std::size_t i = names.size(); i-- > 0;)
    body = make_loop(vars[i], integer(vars[i].type(), 0), extents[i], std::move(body));
  return body;
}

/// range(...), T.serial(stop), T.parallel(start, stop, annotations={...}), ...
TILEWRIGHT_INLINE stmt parser::single_loop(const std::vector<token>& names, loop_kind kind) {
  const token open = in_.expect("(");
  if (names.size() != 1) in_.fail(open, "one loop variable for this kind of loop");
  std::vector<operand> bounds;
  annotations notes;
  std::string thread;
  while (!in_.at(")")) {
    if (in_.at("annotations") && in_.peek(1).text == "=") {
      in_.next(), in_.next();
      notes = dictionary();
    } else if (in_.at("thread") && in_.peek(1).text == "=") {
      in_.next(), in_.next();
      thread = decode_string(in_.expect_string("the name of a thread axis"));
    } else if (in_.at(token_kind::string) && kind == loop_kind::thread_binding) {
      thread = decode_string(in_.next());
    } else {
      const token at = in_.peek();
      bounds.push_back(expression());
      if (!is_integer(bounds.back().value.type())) in_.fail(at, "an integer bound");
    }
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  if (bounds.empty() || bounds.size() > 2) in_.fail("one or two bounds before ')'");
  if (kind == loop_kind::thread_binding && thread.empty()) in_.fail("thread=\"...\" before ')'");
  in_.expect(")");
  if (bounds.size() == 1) bounds.insert(bounds.begin(), {integer(bounds[0].value.type(), 0), true});
  unify(open, bounds[0], bounds[1]);
  // Literals of different widths: the builder joins them, and 0 + x is x.
  const expr min = bounds[0].value, extent = extent_between(min, bounds[1].value);
  const dtype type = extent.type();
  const var v = make_var(std::string(names[0].text), type);
  const range domain{min.type() == type ? min : cast(type, min), extent};
  define_variable(names[0], v, domain);
  return make_loop(v, domain.min, domain.extent, nested_suite(), kind, std::move(notes),
                   std::move(thread));
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

TILEWRIGHT_INLINE stmt parser::with() {
  in_.expect("with");
  in_.expect("T");
  in_.expect(".");
  const token what = in_.expect_name("block, init, LetStmt or decl_buffer");
  if (what.text == "block" || what.text == "sblock") return block_statement();
  if (what.text == "init") {
    init(what);
    return {};
  }
  if (what.text == "LetStmt") return let_scope();
  if (what.text == "decl_buffer") return allocation_scope();
  in_.fail(what, "block, init, LetStmt or decl_buffer");
}

TILEWRIGHT_INLINE stmt parser::block_statement() {
  block_frame frame;
  in_.expect("(");
  frame.node.name = in_.at(")") ? "" : decode_string(in_.expect_string("the name of the block"));
  in_.expect(")");
  block_frame* const outer = std::exchange(here_, &frame);
  stmt body = suite();
  here_ = outer;
  return finish_block(frame, std::move(body));
}

TILEWRIGHT_INLINE void parser::init(const token& at) {
  block_frame& frame = block_here(at, "T.init directly inside a block");
  in_.expect("(");
  in_.expect(")");
  if (frame.node.init) in_.fail(at, "one T.init in a block");
  frame.node.init = nested_suite();
}

/// with T.LetStmt(value) as x:, with T.LetStmt(value, var=x):
TILEWRIGHT_INLINE stmt parser::let_scope() {
  in_.expect("(");
  const operand value = expression();
  const expr settled = settle(value);
  const std::size_t scope = scope_.size();
  var v;
  if (in_.accept(",")) {
    in_.expect("var");
    in_.expect("=");
    const token name = in_.expect_name("a variable");
    const entity& meant = lookup(name);
    if (meant.is != entity::kind::variable) in_.fail(name, "a variable");
    v = meant.variable;
    in_.expect(")");
    stmt body = nested_suite();
    return make_let(v, settled_as(name, value, v.type()), std::move(body));
  }
  in_.expect(")");
  in_.expect("as");
  const token name = in_.expect_name("a variable");
  v = make_var(std::string(name.text), settled.type());
  define_variable(name, v);
  stmt body = nested_suite();
  leave_scope(scope);
  return make_let(v, settled, std::move(body));
}

/// with T.decl_buffer(...) as A:
TILEWRIGHT_INLINE stmt parser::allocation_scope() {
  const std::size_t mark = in_.mark();
  // The name comes last but is wanted by the buffer: read the arguments twice.
  in_.expect("(");
  layout({}, ")");
  in_.expect("as");
  const token name = in_.expect_name("a buffer");
  in_.rewind(mark);
  in_.expect("(");
  const buffer b = layout(name, ")");
  in_.expect("as");
  in_.next();
  const std::size_t scope = scope_.size();
  define_tensor(name, b);
  stmt body = nested_suite();
  leave_scope(scope);
  return make_allocate(b, std::move(body));
}

/// A line that starts with `T.`: a header line or a call.
TILEWRIGHT_INLINE stmt parser::command() {
  const token name = in_.peek(2);
  static constexpr std::array<std::string_view, 6> headers{
      "reads", "writes", "where", "block_attr", "sblock_attr", "func_attr"};
  if (std::find(headers.begin(), headers.end(), name.text) != headers.end()) {
    for (int i = 0; i < 3; ++i) in_.next();
    in_.expect("(");
    header_command(name);
    in_.expect(")");
    in_.expect_newline();
    return {};
  }
  expr value;
  if (name.text == "evaluate") {
    for (int i = 0; i < 3; ++i) in_.next();
    in_.expect("(");
    value = settle(expression());
    in_.expect(")");
  } else {
    value = settle(expression());
  }
  in_.expect_newline();
  return make_evaluate(value);
}

/// A line that starts with a name: a store, a let, or the definition of names.
TILEWRIGHT_INLINE stmt parser::named_statement(open_scope& opened) {
  std::vector<token> names{in_.next()};
  if (in_.at("[")) return store(names[0]);
  if (in_.accept(":")) {
    opened.variable = annotated_let(names[0], opened.value);
    return {};
  }
  while (in_.accept(",")) names.push_back(in_.expect_name("a name"));
  in_.expect("=");
  if (!defines_by_call()) {
    if (names.size() != 1) in_.fail("T.axis.remap for several names");
    opened.value = settle(expression());
    in_.expect_newline();
    opened.variable = make_var(std::string(names[0].text), opened.value.type());
    define_variable(names[0], opened.variable);
    return {};
  }
  opened.allocated = assignment(names);
  in_.expect_newline();
  return {};
}

/// True before `T.axis...`, `T.alloc_buffer(`, `T.match_buffer(`, `T.decl_buffer(` and `T.int32()`.
TILEWRIGHT_INLINE bool parser::defines_by_call() const {
  if (!in_.at("T") || in_.peek(1).text != ".") return false;
  const std::string_view name = in_.peek(2).text;
  if (dtype_from_name(name)) return in_.peek(3).text == "(" && in_.peek(4).text == ")";
  return name == "axis" || name == "alloc_buffer" || name == "sblock_alloc_buffer" ||
         name == "match_buffer" || name == "decl_buffer";
}

/// x: T.int32 = value; TVM's x: T.let[T.int32] = value and x: T.let = value
TILEWRIGHT_INLINE var parser::annotated_let(const token& name, expr& value) {
  in_.expect("T");
  in_.expect(".");
  token type = in_.expect_name("a type");
  bool open = false;
  if (type.text == "let" && in_.accept("[")) {
    in_.expect("T");
    in_.expect(".");
    type = in_.expect_name("a type");
    in_.expect("]");
  } else if (type.text == "let") {
    open = true;
  }
  const dtype wanted = open ? dtype::i32 : type_of(type);
  in_.expect("=");
  const token at = in_.peek();
  const operand given = expression();
  value = open ? settle(given) : settled_as(at, given, wanted);
  in_.expect_newline();
  const var v = make_var(std::string(name.text), value.type());
  define_variable(name, v);
  return v;
}

TILEWRIGHT_INLINE stmt parser::store(const token& name) {
  const entity& meant = lookup(name);
  if (meant.is != entity::kind::tensor) in_.fail(name, "a buffer");
  const buffer to = meant.tensor;
  int depth = 1;
  std::vector<expr> at = indices(to, depth);
  static constexpr std::array<std::pair<std::string_view, op>, 4> updates{
      {{"+=", op::add}, {"-=", op::sub}, {"*=", op::mul}, {"/=", op::div}}};
  const token sign = in_.peek();
  const auto update = std::find_if(updates.begin(), updates.end(),
                                   [&](const auto& u) { return in_.accept(u.first); });
  if (update == updates.end()) in_.expect("=");
  const token start = in_.peek();
  operand value = expression();
  if (update != updates.end()) {
    if (update->second == op::div && !is_float(to->type))
      in_.fail(sign, "T.truncdiv or // between integers");
    operand old = deeper(name, load(to, at), depth);
    value = combine(sign, update->second, std::move(old), std::move(value));
  }
  const expr stored = settled_as(start, value, to->type);
  in_.expect_newline();
  return make_store(to, std::move(at), stored);
}

}  // namespace tilewright::ir::detail
