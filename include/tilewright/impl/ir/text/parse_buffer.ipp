// Buffers in scripts: their layout, matching, and regions of them.
#pragma once

#include <array>
#include <optional>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/ir/text/literal.hpp>

namespace tilewright::ir::detail {

/// `shape, dtype, keyword=value...` up to and including `close`; positions as TVM orders them.
TILEWRIGHT_INLINE buffer parser::layout(const token& name, std::string_view close, bool allocated) {
  static constexpr std::array<std::string_view, 10> order{
      "shape", "dtype", "data",          "strides",     "elem_offset",
      "scope", "align", "offset_factor", "buffer_type", "axis_separators"};
  auto* node = new buffer_node;
  const buffer owner(node);
  node->name = std::string(name.text);
  std::size_t position = 0;
  bool shaped = false;
  while (!in_.at(close)) {
    token key = in_.peek();
    if (in_.at(token_kind::name) && in_.peek(1).text == "=") {
      in_.next(), in_.next();
    } else if (position < order.size()) {
      key.text = order[position++];
      // Older scripts leave arguments out: a string that is no type is the scope.
      if (key.text == "data" && in_.at(token_kind::string)) key.text = "scope";
    } else {
      in_.fail("'" + std::string(close) + "'");
    }
    shaped = shaped || key.text == "shape";
    layout_field(key, *node);
    if (!in_.accept(",") && !in_.at(close)) in_.fail("',' or '" + std::string(close) + "'");
  }
  if (!shaped) in_.fail("the shape of the buffer before '" + std::string(close) + "'");
  // One unit stride, whatever the rank is, stands where TVM's cache_index allocates: it means none.
  if (allocated && node->strides.size() == 1 && is_int(node->strides[0], 1)) node->strides.clear();
  if (!node->strides.empty() && node->strides.size() != node->shape.size())
    in_.fail("as many strides as extents before '" + std::string(close) + "'");
  in_.expect(close);
  return owner;
}

TILEWRIGHT_INLINE void parser::layout_field(const token& key, buffer_node& node) {
  if (in_.accept("None")) return;
  if (key.text == "shape") {
    node.shape = dims();
  } else if (key.text == "dtype") {
    const token at = in_.peek();
    node.type = type_argument();
    if (node.type == dtype::handle)
      in_.fail(at, "the name of an element type, such as \"float32\"");
  } else if (key.text == "data") {
    const token at = in_.peek();
    const operand o = expression();
    if (o.value.type() != dtype::handle) in_.fail(at, "a pointer");
    node.data = o.value;
  } else if (key.text == "strides") {
    node.strides = dims(dtype::i32);
  } else if (key.text == "elem_offset") {
    const std::vector<expr> offset = dims(dtype::i32);
    if (offset.size() != 1) in_.fail(key, "an integer offset");
    node.elem_offset = offset[0];
  } else if (key.text == "scope") {
    const token at = in_.peek();
    const operand o = expression();
    if (o.value->op != op::text) in_.fail(at, "a scope");
    node.scope = o.value->name.empty() ? "global" : o.value->name;
  } else if (key.text == "align") {
    node.alignment = small_integer(key);
  } else if (key.text == "offset_factor") {
    node.offset_factor = small_integer(key);
  } else if (key.text == "buffer_type" || key.text == "type") {
    const std::string type = decode_string(in_.expect_string("\"default\" or \"auto\""));
    node.broadcasts = type == "auto" || type == "auto_broadcast";
  } else if (key.text == "axis_separators") {
    node.axis_separators = separators();
  } else if (key.text == "annotations") {
    dictionary();  // notes to a compiler about the memory
  } else {
    in_.fail(key, "dtype, strides, elem_offset, scope, align or offset_factor");
  }
}

TILEWRIGHT_INLINE std::vector<int> parser::separators() {
  const token at = in_.peek();
  const operand list = any();
  std::vector<int> out;
  for (const operand& item : list.tuple ? list.items : std::vector<operand>{list})
    out.push_back(static_cast<int>(constant_integer(at, item)));
  return out;
}

/// A value from 0 to 2^30; -1 is TVM's word for the usual alignment.
TILEWRIGHT_INLINE int parser::small_integer(const token& key) {
  const std::int64_t value = constant_integer(key, expression());
  if (value == -1 && key.text == "align") return 64;
  if (value < 0 || value > (1 << 30)) in_.fail(key, "a value from 0 to 2^30");
  return static_cast<int>(value);
}

/// `(a, b)`, `[a, b]` or one expression: extents or strides. A string holds an expression whose
/// unknown names are variables.
TILEWRIGHT_INLINE std::vector<expr> parser::dims(dtype unknown) {
  const token at = in_.peek();
  const operand given = any();
  std::vector<expr> out;
  const std::vector<operand> one{given};
  for (const operand& item : given.tuple ? given.items : one) {
    need_value(at, item);
    const operand value = item.value->op == op::text ? quoted(at, item.value->name, unknown) : item;
    if (!is_integer(value.value.type()) || is_vector(value.value.type()))
      in_.fail(at, "an integer extent");
    out.push_back(value.value);
  }
  return out;
}

/// The expression in a string. A name that is not known is a variable of the type with which the
/// function declares it further on, `n: T.int32` or `n = T.int32()`, or else
/// of the type `unknown`.
TILEWRIGHT_INLINE operand parser::quoted(const token& at, const std::string& text, dtype unknown) {
  texts_.push_back(text);
  token_stream inner(texts_.back());
  for (std::size_t i = 0; inner.peek(i).kind != token_kind::end; ++i) {
    const token& t = inner.peek(i);
    const bool called = inner.peek(i + 1).text == "." || inner.peek(i + 1).text == "(";
    const bool attribute = i > 0 && inner.peek(i - 1).text == ".";
    if (t.kind != token_kind::name || called || attribute || find(t.text)) continue;
    entity e;
    e.variable = make_var(std::string(t.text), declared_type(t.text, unknown));
    e.implied = true;
    define(t, std::move(e));
  }
  std::swap(in_, inner);
  operand value;
  try {
    value = expression();
    in_.accept(token_kind::newline);
    if (!in_.at_end()) in_.fail("the end of the string");
  } catch (const parse_error& e) {
    throw parse_error(at.at, "an expression in the string: " + e.expected(), quote(text));
  }
  std::swap(in_, inner);
  return value;
}

/// Offset of what the statement at offset `start` assigns to the name, as in `a, name = x, y`; 0
/// when it assigns nothing to it.
TILEWRIGHT_INLINE std::size_t parser::assigned_value(std::size_t start,
                                                     std::string_view name) const {
  std::size_t position = 0, count = 0, at = start;
  bool found = false;
  for (;; at += 2, ++count) {
    if (in_.peek(at).kind != token_kind::name) return 0;
    if (in_.peek(at).text == name) position = count, found = true;
    if (in_.peek(at + 1).text != ",") break;
  }
  if (!found || in_.peek(at + 1).text != "=") return 0;
  at += 2;
  for (int depth = 0; position > 0; ++at) {
    const token& t = in_.peek(at);
    if (t.kind == token_kind::end || t.kind == token_kind::newline) return 0;
    if (t.text == "(" || t.text == "[") ++depth;
    if (t.text == ")" || t.text == "]") --depth;
    if (t.text == "," && depth == 0) --position;
  }
  return at;
}

TILEWRIGHT_INLINE dtype parser::declared_type(std::string_view name, dtype unknown) const {
  bool starts = false;  // a statement, at this token
  for (std::size_t i = 0; in_.peek(i).kind != token_kind::end && in_.peek(i).text != "def"; ++i) {
    std::size_t type = 0;
    if (in_.peek(i).text == name && in_.peek(i + 1).text == ":" && in_.peek(i + 3).text == ".")
      type = i + 4;
    else if (const std::size_t value = starts ? assigned_value(i, name) : 0;
             value && in_.peek(value + 1).text == "." && in_.peek(value + 3).text == "(")
      type = value + 2;
    if (type)
      if (const auto known = type_from_text(in_.peek(type).text)) return *known;
    starts = in_.peek(i).kind != token_kind::name && in_.peek(i).kind != token_kind::symbol;
  }
  return unknown;
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
    function_->params[param].scalar = {};
    return define_tensor(name, b);
  }
  block_frame& frame = block_here(call, "T.match_buffer of a region directly inside a block");
  buffer_region source = region();
  buffer b;
  if (in_.accept(",") && !in_.at(")")) {
    b = layout(name, ")");
  } else {
    std::vector<expr> shape;
    for (const range& r : source.box) shape.push_back(r.extent);
    b = make_buffer(std::string(name.text), source.buffer->type, std::move(shape),
                    source.buffer->scope);
    in_.expect(")");
  }
  frame.node.match_buffers.push_back({b, std::move(source)});
  define_tensor(name, b);
}

/// The rest of T.allocate([extents], "dtype", "scope", ...): a pointer that can be indexed
TILEWRIGHT_INLINE buffer parser::allocation(const token& name) {
  in_.expect("(");
  auto* node = new buffer_node;
  const buffer owner(node);
  node->name = std::string(name.text);
  node->shape = dims();
  for (std::size_t position = 0; in_.accept(",") && !in_.at(")"); ++position) {
    const bool named = in_.peek(1).text == "=";
    const std::string_view key = named           ? in_.next().text
                                 : position == 0 ? std::string_view("dtype")
                                 : position == 1 ? std::string_view("scope")
                                                 : std::string_view("condition");
    if (named) in_.expect("=");
    if (key == "dtype")
      node->type = type_argument();
    else if (key == "scope")
      node->scope = decode_string(in_.expect_string("a scope"));
    else if (key == "annotations")
      dictionary();
    else
      any();
  }
  in_.expect(")");
  return owner;
}

/// The numbers in lists of lists, in order.
inline void flatten(const operand& o, std::vector<operand>& out) {
  if (!o.tuple) return out.push_back(o);
  for (const operand& item : o.items) flatten(item, out);
}

/// The rest of T.allocate_const([values], "dtype", [extents]); appends the values to the list.
TILEWRIGHT_INLINE buffer parser::constant_allocation(const token& name, std::vector<expr>& values) {
  const auto argument = [&](std::string_view key) {
    if (in_.peek(1).text == "=" && in_.accept(key)) in_.expect("=");
  };
  in_.expect("(");
  argument("data");
  std::vector<operand> data;
  flatten(any(), data);
  in_.expect(",");
  argument("dtype");
  auto* node = new buffer_node;
  const buffer owner(node);
  node->name = std::string(name.text);
  node->type = type_argument();
  in_.expect(",");
  argument("extents");
  node->shape = dims();
  if (in_.accept(",") && in_.accept("annotations")) {
    in_.expect("=");
    dictionary();
  }
  in_.expect(")");
  std::int64_t count = 1;
  bool fits = true;
  for (const expr& e : node->shape)
    fits = fits && is_int(e) && !__builtin_mul_overflow(count, as_int(e), &count);
  if (!fits || count != static_cast<std::int64_t>(data.size()))
    in_.fail(name, std::to_string(data.size()) + " elements, as many as values");
  for (const operand& o : data) values.push_back(converted(name, o, node->type));
  return owner;
}

/// `i`, `start:stop`, `:`; a step of 1 may follow
TILEWRIGHT_INLINE range parser::slice(const expr& extent) {
  const token at = in_.peek();
  operand start{integer(extent.type(), 0), is_int(extent)};
  if (!in_.at(":")) start = expression();
  if (!is_integer(start.value.type())) in_.fail(at, "an integer index");
  const token colon = in_.peek();
  if (!in_.accept(":")) return {start.value, integer(start.value.type(), 1)};
  operand stop{extent, is_int(extent)};
  if (!in_.at("]") && !in_.at(",") && !in_.at(":")) stop = expression();
  if (!is_integer(stop.value.type())) in_.fail(colon, "an integer index after ':'");
  if (in_.accept(":") && constant_integer(colon, expression()) != 1)
    in_.fail(colon, "a slice without a step");
  unify(colon, start, stop);
  const expr length = extent_between(start.value, stop.value);
  const bool one_type = start.value.type() == length.type();
  return {one_type ? start.value : cast(length.type(), start.value), length};
}

/// A buffer with indices or slices; dimensions that are left out, and a buffer alone, mean the
/// whole.
TILEWRIGHT_INLINE buffer_region parser::region() {
  const token name = in_.expect_name("a buffer");
  const entity& meant = lookup(name);
  if (meant.is != entity::kind::tensor) in_.fail(name, "a buffer");
  const buffer b = meant.tensor;
  if (!in_.at("[")) return full_region(b);
  const token open = in_.next();
  buffer_region out{b, {}};
  do {
    if (in_.at("]")) break;
    const std::size_t d = out.box.size();
    if (!in_.at(":")) {
      // A tuple stands for several indices.
      const token at = in_.peek();
      const std::size_t mark = in_.mark();
      in_.accept("*");
      const operand first = any();
      if (first.tuple) {
        for (const operand& item : first.items) {
          need_value(at, item);
          out.box.push_back({item.value, integer(item.value.type(), 1)});
        }
        continue;
      }
      in_.rewind(mark);
    }
    out.box.push_back(slice(d < b->shape.size() ? b->shape[d] : expr(0)));
  } while (in_.accept(","));
  in_.expect("]");
  if (out.box.size() > b->shape.size() || (out.box.empty() && !b->shape.empty()))
    throw parse_error(open.at, std::to_string(b->shape.size()) + " indices of " + b->name,
                      std::to_string(out.box.size()));
  for (std::size_t d = out.box.size(); d < b->shape.size(); ++d)
    out.box.push_back({integer(b->shape[d].type(), 0), b->shape[d]});
  return out;
}

TILEWRIGHT_INLINE void parser::region_list(std::vector<buffer_region>& out) {
  const std::string_view close = in_.accept("[") ? "]" : in_.accept("(") ? ")" : "";
  const std::string_view stop = close.empty() ? std::string_view(")") : close;
  while (!in_.at(stop)) {
    out.push_back(region());
    if (!in_.accept(",") && !in_.at(stop)) in_.fail("',' between regions");
  }
  if (!close.empty()) {
    in_.expect(close);
    in_.accept(",");
  }
}

}  // namespace tilewright::ir::detail
