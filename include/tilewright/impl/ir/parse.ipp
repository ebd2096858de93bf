#pragma once

#include <utility>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/infer_regions.hpp>
#include <tilewright/impl/ir/parser.hpp>
#include <tilewright/ir/literal.hpp>
#include <tilewright/ir/parse.hpp>
#include <tilewright/ir/visit.hpp>

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

TILEWRIGHT_INLINE const entity* parser::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() || found->second.empty() ? nullptr : &found->second.back();
}

TILEWRIGHT_INLINE const entity& parser::lookup(const token& name) const {
  const entity* found = find(name.text);
  if (!found) in_.fail(name, "a name that is defined here");
  return *found;
}

TILEWRIGHT_INLINE void parser::leave_scope(std::size_t mark) {
  for (; scope_.size() > mark; scope_.pop_back()) names_[scope_.back()].pop_back();
}

TILEWRIGHT_INLINE block_frame& parser::block_here(const token& at, std::string_view what) {
  if (!here_ || here_->top) in_.fail(at, what);
  return *here_;
}

TILEWRIGHT_INLINE annotations parser::dictionary() {
  const token at = in_.peek();
  attr value = parse_attr(in_);
  auto* dict = std::get_if<attr::dict>(&value.value);
  if (!dict) in_.fail(at, "a map {\"key\": value}");
  return std::move(*dict);
}

/// The rest of `T.reads(`, `T.writes(`, `T.where(`, `T.block_attr(` and `T.func_attr(`.
TILEWRIGHT_INLINE void parser::header_command(const token& name) {
  if (name.text == "func_attr") {
    if (!here_ || !here_->top) in_.fail(name, "T.func_attr at the top of the function");
    for (auto& [key, value] : dictionary()) function_->attrs.insert_or_assign(key, value);
    return;
  }
  block_frame& frame = block_here(name, "this line directly inside a block");
  if (name.text == "reads") {
    frame.has_reads = true;
    region_list(frame.node.reads);
  } else if (name.text == "writes") {
    frame.has_writes = true;
    region_list(frame.node.writes);
  } else if (name.text == "where") {
    frame.predicate = logical_and(frame.predicate, condition());
  } else {
    for (auto& [key, value] : dictionary()) frame.node.annotations.insert_or_assign(key, value);
  }
}

TILEWRIGHT_INLINE void parser::region_list(std::vector<buffer_region>& out) {
  const bool list = in_.accept("[");
  const std::string_view close = list ? "]" : ")";
  while (!in_.at(close)) {
    out.push_back(region());
    if (!in_.accept(",") && !in_.at(close)) in_.fail("',' between regions");
  }
  if (list) in_.expect("]");
}

/// The right side of `names = T....`; gives the buffer when it opens an allocation.
TILEWRIGHT_INLINE buffer parser::assignment(const std::vector<token>& names) {
  in_.expect("T");
  in_.expect(".");
  const token call = in_.next();
  if (call.text == "axis") {
    axis(names, call);
    return {};
  }
  if (names.size() != 1) in_.fail(call, "T.axis.remap for several names");
  if (const auto type = dtype_from_name(call.text)) {
    in_.expect("(");
    in_.expect(")");
    define_variable(names[0], make_var(std::string(names[0].text), *type));
    return {};
  }
  if (call.text == "match_buffer") {
    match(names[0], call);
    return {};
  }
  in_.expect("(");
  const buffer b = layout(names[0], ")");
  define_tensor(names[0], b);
  if (call.text == "decl_buffer") return b;
  if (!here_)
    in_.fail(call, "T.alloc_buffer directly inside a block or at the top of the function");
  here_->node.alloc_buffers.push_back(b);
  return {};
}

TILEWRIGHT_INLINE void parser::axis(const std::vector<token>& names, const token& at) {
  block_here(at, "T.axis directly inside a block");
  in_.expect(".");
  const token kind = in_.expect_name("spatial, reduce, scan, opaque or remap");
  if (kind.text == "remap") return remap(names);
  if (names.size() != 1) in_.fail(kind, "remap for several names");
  one_axis(names[0], kind);
}

/// T.axis.remap("SR", [i, j])
TILEWRIGHT_INLINE void parser::remap(const std::vector<token>& names) {
  in_.expect("(");
  const token letters = in_.expect_string("the kinds of the axes, such as \"SSR\"");
  const std::string kinds = decode_string(letters);
  if (kinds.size() != names.size())
    throw parse_error(letters.at, std::to_string(names.size()) + " kinds",
                      std::to_string(kinds.size()));
  in_.expect(",");
  in_.expect("[");
  std::vector<iter_var> iters;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const token name = in_.expect_name("a loop variable");
    const entity& loop = lookup(name);
    if (!loop.domain.extent) in_.fail(name, "a loop variable");
    if (kinds[i] != 'S' && kinds[i] != 'R') in_.fail(letters, "the kinds S and R");
    iters.push_back({make_var(std::string(names[i].text), loop.variable.type()), loop.domain,
                     kinds[i] == 'S' ? iter_kind::spatial : iter_kind::reduce});
    here_->values.push_back(loop.variable);
    if (!in_.accept(",") && !in_.at("]")) in_.fail("',' or ']'");
  }
  in_.expect("]");
  in_.expect(")");
  for (std::size_t i = 0; i < names.size(); ++i) {
    define_variable(names[i], iters[i].var);
    here_->node.iters.push_back(std::move(iters[i]));
  }
}

/// T.axis.spatial(extent, value), T.axis.reduce((start, stop), value), ...
TILEWRIGHT_INLINE void parser::one_axis(const token& name, const token& kind) {
  iter_kind is = iter_kind::spatial;
  if (kind.text == "reduce" || kind.text == "R")
    is = iter_kind::reduce;
  else if (kind.text == "scan")
    is = iter_kind::ordered;
  else if (kind.text == "opaque")
    is = iter_kind::opaque;
  else if (kind.text != "spatial" && kind.text != "S")
    in_.fail(kind, "spatial, reduce, scan, opaque or remap");
  in_.expect("(");
  bool bare = false;
  range domain = axis_domain(bare);
  in_.expect(",");
  const token at = in_.peek();
  operand value = expression();
  in_.expect(")");
  if (!is_integer(value.value.type())) in_.fail(at, "an integer value");
  const dtype type = bare && !value.bare ? value.value.type() : domain.extent.type();
  if (bare) domain = {integer(type, domain.min->integer), integer(type, domain.extent->integer)};
  here_->values.push_back(settled_as(at, value, type));
  const var v = make_var(std::string(name.text), type);
  here_->node.iters.push_back({v, domain, is});
  define_variable(name, v);
}

/// `extent` or `(start, stop)`; `bare` when made of literals without a type.
TILEWRIGHT_INLINE range parser::axis_domain(bool& bare) {
  const std::size_t mark = in_.mark();
  const token at = in_.peek();
  operand start{integer(dtype::i32, 0), true};
  operand stop;
  bool pair = false;
  if (in_.accept("(")) {
    start = expression();
    pair = in_.accept(",");
    if (pair) {
      stop = expression();
      in_.accept(",");
      in_.expect(")");
    } else {
      in_.rewind(mark);
      start = {integer(dtype::i32, 0), true};
    }
  }
  if (!pair) stop = expression();
  if (!is_integer(start.value.type()) || !is_integer(stop.value.type()))
    in_.fail(at, "an integer extent");
  unify(at, start, stop);
  const expr extent = extent_between(start.value, stop.value);
  const expr min =
      start.value.type() == extent.type() ? start.value : cast(extent.type(), start.value);
  bare = start.bare && stop.bare && is_int(min) && is_int(extent);
  return {min, extent};
}

/// A = T.match_buffer(handle, shape, ...), or of a region inside a block
TILEWRIGHT_INLINE void parser::match(const token& name, const token& call) {
  in_.expect("(");
  const token of = in_.peek();
  const entity* meant = find(of.text);
  if (of.kind != token_kind::name || !meant) in_.fail("a handle or a buffer");
  if (meant->is == entity::kind::handle) {
    const std::size_t param = meant->param;
    in_.next();
    in_.expect(",");
    const buffer b = layout(name, ")");
    if (function_->params[param].buffer) in_.fail(of, "a handle that is not matched yet");
    function_->params[param].buffer = b;
    return define_tensor(name, b);
  }
  block_frame& frame = block_here(call, "T.match_buffer of a region directly inside a block");
  buffer_region source = region();
  in_.expect(",");
  const buffer b = layout(name, ")");
  frame.node.match_buffers.push_back({b, std::move(source)});
  define_tensor(name, b);
}

/// `shape, dtype, keyword=value...` up to and including `close`
TILEWRIGHT_INLINE buffer parser::layout(const token& name, std::string_view close) {
  auto* node = new buffer_node;
  const buffer owner(node);
  node->name = std::string(name.text);
  node->shape = dims();
  while (in_.accept(",")) {
    if (in_.at(close)) break;
    if (in_.at(token_kind::string)) {
      node->type = type_name();
      continue;
    }
    const token key = in_.expect_name("a keyword argument of a buffer");
    in_.expect("=");
    if (key.text == "dtype")
      node->type = type_name();
    else if (key.text == "strides")
      node->strides = dims();
    else if (key.text == "elem_offset")
      node->elem_offset = integer_expr("an integer offset");
    else if (key.text == "scope")
      node->scope = decode_string(in_.expect_string("a scope"));
    else if (key.text == "align")
      node->alignment = small_integer(key);
    else if (key.text == "offset_factor")
      node->offset_factor = small_integer(key);
    else
      in_.fail(key, "dtype, strides, elem_offset, scope, align or offset_factor");
  }
  if (!node->strides.empty() && node->strides.size() != node->shape.size())
    in_.fail("as many strides as extents before '" + std::string(close) + "'");
  in_.expect(close);
  return owner;
}

TILEWRIGHT_INLINE int parser::small_integer(const token& key) {
  const std::int64_t value = in_.expect_integer();
  if (value < 0 || value > (1 << 30)) in_.fail(key, "a value from 0 to 2^30");
  return static_cast<int>(value);
}

TILEWRIGHT_INLINE stmt parser::finish_block(block_frame& frame, stmt body) {
  frame.node.body = std::move(body);
  if (frame.node.iters.empty()) {
    bare_root_reads_ = !frame.has_reads;
    bare_root_writes_ = !frame.has_writes;
  }
  infer_regions(frame.node, !frame.has_reads, !frame.has_writes);
  return make_realize(std::move(frame.values), std::move(frame.predicate),
                      make_block(std::move(frame.node)));
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

/// Imports and decorators.
TILEWRIGHT_INLINE void parser::preamble() {
  while (in_.at("from") || in_.at("import")) {
    while (!in_.at(token_kind::newline) && !in_.at_end()) in_.next();
    in_.accept(token_kind::newline);
  }
  while (in_.accept("@")) {
    token last = in_.expect_name("T.prim_func");
    while (in_.accept(".")) last = in_.expect_name("prim_func");
    if (last.text != "prim_func") in_.fail(last, "prim_func");
    if (in_.at("(")) skip_brackets();
    in_.expect_newline();
  }
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

TILEWRIGHT_INLINE void parser::parameters() {
  in_.expect("(");
  while (!in_.at(")")) {
    parameter();
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  in_.expect(")");
  if (in_.accept("->")) in_.expect("None");
}

/// A: T.Buffer((8, 8), "float32"), a: T.handle, n: T.int32
TILEWRIGHT_INLINE void parser::parameter() {
  const token name = in_.expect_name("a parameter");
  if (find(name.text)) in_.fail(name, "a parameter of another name");
  in_.expect(":");
  in_.expect("T");
  in_.expect(".");
  const token type = in_.expect_name("Buffer, handle or an element type");
  param p;
  if (type.text == "Buffer") {
    const std::string_view close = in_.accept("[") ? "]" : ")";
    if (close == ")") in_.expect("(");
    p.buffer = layout(name, close);
    define_tensor(name, p.buffer);
  } else if (type.text == "handle") {
    if (in_.at("(")) skip_brackets();
    entity e;
    e.is = entity::kind::handle;
    e.param = function_->params.size();
    define(name, std::move(e));
    handles_.push_back({name, e.param});
  } else {
    p.scalar = make_var(std::string(name.text), type_of(type));
    define_variable(name, p.scalar);
  }
  function_->params.push_back(std::move(p));
}

TILEWRIGHT_INLINE function parser::run() {
  preamble();
  in_.expect("def");
  function f;
  function_ = &f;
  f.name = std::string(in_.expect_name("the name of the function").text);
  parameters();
  block_frame top;
  top.top = true;
  here_ = &top;
  // A lone `pass` is a body too; the suite's own scope ends before the root block is made.
  stmt body = suite();
  for (const auto& [name, index] : handles_)
    if (!f.params[index].buffer) in_.fail(name, "a T.match_buffer of this handle");
  f.body = finish_function(std::move(body));
  if (!in_.at_end()) in_.fail("the end of the text after one function");
  return f;
}

}  // namespace detail

TILEWRIGHT_INLINE function parse(std::string_view text) { return detail::parser(text).run(); }

}  // namespace tilewright::ir
