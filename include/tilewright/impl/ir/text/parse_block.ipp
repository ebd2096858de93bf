// Headers of blocks in scripts.
#pragma once

#include <utility>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/ir/text/literal.hpp>

namespace tilewright::ir::detail {

TILEWRIGHT_INLINE block_frame& parser::block_here(const token& at, std::string_view what) {
  if (!here_ || here_->top) in_.fail(at, what);
  return *here_;
}

TILEWRIGHT_INLINE annotations parser::dictionary() {
  const token at = in_.peek();
  attr value = parse_attr(in_, [&](std::string_view name) {
    const entity* known = find(name);
    return known && known->is == entity::kind::tensor;
  });
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
  const auto once = [&](bool& seen) {
    if (std::exchange(seen, true))
      in_.fail(name, "one T." + std::string(name.text) + " in a block");
  };
  if (name.text == "reads") {
    once(frame.has_reads);
    region_list(frame.node.reads);
  } else if (name.text == "writes") {
    once(frame.has_writes);
    region_list(frame.node.writes);
  } else if (name.text == "where") {
    once(frame.has_predicate);
    frame.predicate = condition();
  } else {
    for (auto& [key, value] : dictionary()) {
      const auto [old, fresh] = frame.node.annotations.try_emplace(key, value);
      if (!fresh && !(old->second == value))
        in_.fail(name, "one value of the annotation \"" + key + "\"");
    }
  }
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
  const std::string_view close = in_.accept("(") ? ")" : "]";
  if (close == "]") in_.expect("[");
  std::vector<iter_var> iters;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const token name = in_.expect_name("a loop variable");
    const entity& loop = lookup(name);
    if (!loop.domain.extent) in_.fail(name, "a loop variable");
    const iter_kind kind = kinds[i] == 'S'   ? iter_kind::spatial
                           : kinds[i] == 'R' ? iter_kind::reduce
                                             : iter_kind::ordered;
    if (kinds[i] != 'S' && kinds[i] != 'R' && kinds[i] != 'O')
      in_.fail(letters, "the kinds S and R");
    iters.push_back(
        {make_var(std::string(names[i].text), loop.variable.type()), loop.domain, kind});
    here_->values.push_back(loop.variable);
    if (!in_.accept(",") && !in_.at(close)) in_.fail("',' or '" + std::string(close) + "'");
  }
  in_.expect(close);
  in_.accept(",");
  in_.expect(")");
  for (std::size_t i = 0; i < names.size(); ++i) add_axis(names[i], std::move(iters[i]));
}

TILEWRIGHT_INLINE void parser::add_axis(const token& name, iter_var axis) {
  for (const iter_var& other : here_->node.iters)
    if (other.var->name == name.text && name.text != "_") in_.fail(name, "an axis of another name");
  define_variable(name, axis.var);
  here_->node.iters.push_back(std::move(axis));
}

/// T.axis.spatial(extent, value), T.axis.reduce((start, stop), value), ...
TILEWRIGHT_INLINE void parser::one_axis(const token& name, const token& kind) {
  iter_kind is = iter_kind::spatial;
  if (kind.text == "reduce" || kind.text == "R")
    is = iter_kind::reduce;
  else if (kind.text == "scan" || kind.text == "ordered" || kind.text == "O")
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
  std::optional<dtype> wanted;
  if (in_.accept(",") && !in_.at(")")) {
    if (in_.accept("dtype")) in_.expect("=");
    wanted = type_argument();
  }
  in_.expect(")");
  if (!is_integer(value.value.type())) in_.fail(at, "an integer value");
  dtype type = bare && !value.bare ? value.value.type() : domain.extent.type();
  if (wanted && bits(*wanted) > bits(type)) type = *wanted;
  const auto as = [&](const expr& e) {
    return is_int(e) ? integer(type, e->integer) : cast(type, e);
  };
  domain = {as(domain.min), as(domain.extent)};
  here_->values.push_back(converted(at, value, type));
  add_axis(name, {make_var(std::string(name.text), type), domain, is});
}

/// `extent` or `(start, stop)`; `bare` when made of literals without a type.
TILEWRIGHT_INLINE range parser::axis_domain(bool& bare) {
  const token at = in_.peek();
  const operand given = any();
  operand start{integer(dtype::i32, 0), true};
  operand stop = given;
  if (given.tuple) {
    if (given.items.size() != 2) in_.fail(at, "an extent or a pair (start, stop)");
    start = given.items[0];
    stop = given.items[1];
  }
  need_value(at, start);
  need_value(at, stop);
  if (!is_integer(start.value.type()) || !is_integer(stop.value.type()))
    in_.fail(at, "an integer extent");
  unify(at, start, stop);
  const expr extent = extent_between(start.value, stop.value);
  const expr min =
      start.value.type() == extent.type() ? start.value : cast(extent.type(), start.value);
  bare = start.bare && stop.bare && is_int(min) && is_int(extent);
  return {min, extent};
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

}  // namespace tilewright::ir::detail
