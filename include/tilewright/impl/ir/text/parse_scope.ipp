// Statements of scripts that open a scope, and lines that define names.
#pragma once

#include <algorithm>
#include <array>

#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir::detail {

TILEWRIGHT_INLINE stmt parser::with() {
  in_.expect("with");
  enter_namespace();
  const token what = in_.expect_name("block, init, LetStmt or decl_buffer");
  if (what.text == "block" || what.text == "sblock") return block_statement();
  if (what.text == "sp_iter") return sparse_iteration_statement(what);
  if (what.text == "init") {
    init(what);
    return {};
  }
  open_scope opened;
  const std::size_t scope = scope_.size();
  static constexpr std::array<std::string_view, 6> buffers{
      "decl_buffer", "alloc_buffer", "sblock_alloc_buffer", "allocate", "allocate_const", "Buffer"};
  const auto is = [&](std::string_view n) { return n == what.text; };
  if (what.text == "LetStmt" || what.text == "let" || what.text == "Bind" || what.text == "bind") {
    let_scope(what, opened);
  } else if (what.text == "attr") {
    attribute_scope(opened);
  } else if (what.text == "launch_thread") {
    thread_scope(nullptr, opened);
  } else if (what.text == "Assert") {
    const call_args args = arguments();
    std::vector<expr> list;
    for (const operand& o : args.list) list.push_back(argument(o));
    opened.close = [list](stmt body) {
      return make_seq({make_evaluate(call(dtype::boolean, "tir.Assert", list)), std::move(body)});
    };
  } else if (support::any(buffers, is)) {
    // The name comes last but is wanted by the buffer.
    const std::size_t mark = in_.mark();
    skip_brackets();
    in_.expect("as");
    const token name = in_.expect_name("a buffer");
    const std::size_t end = in_.mark();
    in_.rewind(mark);
    allocation_scope(name, what, opened);
    in_.rewind(end);
  } else {
    in_.fail(what, "block, init, LetStmt or decl_buffer");
  }
  stmt body = nested_suite();
  leave_scope(scope);
  return closed(opened, std::move(body));
}

TILEWRIGHT_INLINE stmt parser::block_statement() {
  block_frame frame;
  in_.expect("(");
  if (in_.accept("name")) in_.expect("=");
  const bool named = in_.at(token_kind::string);
  frame.node.name = named ? decode_string(in_.next()) : std::string();
  if (!named && !in_.at(")")) in_.fail("the name of the block");
  in_.expect(")");
  block_frame* const outer = std::exchange(here_, &frame);
  block_frame* const around = std::exchange(around_, &frame);
  stmt body = suite();
  here_ = outer;
  around_ = around;
  return finish_block(frame, std::move(body));
}

TILEWRIGHT_INLINE void parser::init(const token& at) {
  block_frame& frame = block_here(at, "T.init directly inside a block");
  in_.expect("(");
  in_.expect(")");
  if (frame.node.init) in_.fail(at, "one T.init in a block");
  frame.node.init = nested_suite();
}

TILEWRIGHT_INLINE void parser::open_let(const token& name, expr value, open_scope& opened) {
  const var v = make_var(std::string(name.text), value.type());
  define_variable(name, v);
  opened.close = [v, value](stmt body) { return make_let(v, value, std::move(body)); };
}

/// The rest of `T.LetStmt(value)`, with `var=x` or followed by `as x`, and of `T.let(x, value)`.
TILEWRIGHT_INLINE void parser::let_scope(const token& name, open_scope& opened) {
  call_args args = arguments();
  const bool variable_first = name.text == "let" && args.list.size() == 2;
  if (variable_first) std::swap(args.list[0], args.list[1]);
  if (args.list.empty()) in_.fail(name, "the value of the let");
  need_value(name, args.list[0]);
  const operand* var_given = args.list.size() > 1 ? &args.list[1] : args.find("var");
  if (!var_given) {
    if (!in_.accept("as")) {  // a binding that nobody names
      const expr value = settle(args.list[0]);
      opened.close = [value](stmt body) {
        return make_let(make_var("v", value.type()), value, std::move(body));
      };
      return;
    }
    const token target = in_.expect_name("a variable");
    return open_let(target, settle(args.list[0]), opened);
  }
  if (!is_var(var_given->value)) in_.fail(name, "a variable");
  const var v = var_given->value;
  const expr value = converted(name, args.list[0], v.type());
  opened.close = [v, value](stmt body) { return make_let(v, value, std::move(body)); };
}

/// The rest of `T.attr(node, "key", value)`
TILEWRIGHT_INLINE void parser::attribute_scope(open_scope& opened) {
  const token at = in_.peek();
  if (in_.peek(1).text == "{") return attribute_scopes(opened);
  const call_args args = arguments();
  if (args.list.size() != 3 || !args.list[1].value || args.list[1].value->op != op::text)
    in_.fail(at, "a node, a key and a value");
  const expr about = argument(args.list[0]), value = argument(args.list[2]);
  const std::string key = args.list[1].value->name;
  opened.close = [about, key, value](stmt body) {
    return make_attribute(about, key, value, std::move(body));
  };
}

/// The rest of `T.attr({"key": value, ...})`: the first one is the outermost.
TILEWRIGHT_INLINE void parser::attribute_scopes(open_scope& opened) {
  in_.expect("(");
  in_.expect("{");
  std::vector<std::pair<std::string, expr>> entries;
  do {
    std::string name = decode_string(in_.expect_string("a key"));
    in_.expect(":");
    entries.emplace_back(std::move(name), argument(any()));
  } while (in_.accept(",") && in_.peek().text != "}");
  in_.expect("}");
  in_.expect(")");
  opened.close = [entries](stmt body) {
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
      body = make_attribute(integer(dtype::i32, 0), entry->first, entry->second, std::move(body));
    return body;
  };
}

/// The rest of `T.launch_thread("threadIdx.x", 32)`, as x or assigned to `target`; the axis may be
/// a name that stands for a T.env_thread, which is the variable then.
TILEWRIGHT_INLINE void parser::thread_scope(const token* target, open_scope& opened) {
  in_.expect("(");
  const token at = in_.peek();
  std::string axis;
  token name = at;
  if (in_.at(token_kind::string)) {
    axis = decode_string(in_.next());
  } else {
    in_.next();
    const entity& meant = lookup(at);
    if (meant.is != entity::kind::thread) in_.fail(at, "a thread axis");
    axis = meant.thread;
  }
  in_.expect(",");
  const expr extent = integer_expr("an integer extent");
  in_.expect(")");
  bool named = at.kind == token_kind::name || target;
  if (target) name = *target;
  if (in_.accept("as")) name = in_.expect_name("a variable"), named = true;
  std::string spelled(named ? name.text : std::string_view(axis));
  std::replace(spelled.begin(), spelled.end(), '.', '_');
  const var v = make_var(std::move(spelled), extent.type());
  if (named) define_variable(name, v, {integer(extent.type(), 0), extent});
  opened.close = [v, extent, axis](stmt body) {
    return make_loop(v, integer(extent.type(), 0), extent, std::move(body),
                     loop_kind::thread_binding, {}, axis);
  };
}

/// The body with stores of the values before it, which fill the buffer in row-major order.
inline stmt filled(const buffer& b, const std::vector<expr>& values, stmt body) {
  std::vector<stmt> out;
  for (std::size_t n = 0; n < values.size(); ++n) {
    std::vector<expr> at(b->shape.size());
    auto rest = static_cast<std::int64_t>(n);
    for (std::size_t d = at.size(); d-- > 0; rest /= as_int(b->shape[d]))
      at[d] = integer(b->shape[d].type(), rest % as_int(b->shape[d]));
    out.push_back(make_store(b, std::move(at), values[n]));
  }
  out.push_back(std::move(body));
  return make_seq(std::move(out));
}

/// The rest of `T.decl_buffer(...)`, `T.allocate(...)`, `T.allocate_const(...)` and
/// `T.Buffer(..., data=...)`
TILEWRIGHT_INLINE void parser::allocation_scope(const token& name, const token& call,
                                                open_scope& opened) {
  buffer b;
  std::vector<expr> values;
  if (call.text == "allocate") {
    b = allocation(name);
  } else if (call.text == "allocate_const") {
    b = constant_allocation(name, values);
  } else {
    in_.expect("(");
    b = layout(name, ")");
    if (call.text == "alloc_shared" || call.text == "alloc_local") {
      auto* node = new buffer_node(*b);
      node->scope = call.text.substr(6);
      b = buffer(node);
    }
  }
  define_tensor(name, b);
  opened.close = [b, values](stmt body) {
    return make_allocate(b, values.empty() ? std::move(body) : filled(b, values, std::move(body)));
  };
}

inline bool allocates_scope(std::string_view name) {
  return name == "decl_buffer" || name == "allocate" || name == "allocate_const" ||
         name == "Buffer" || name == "buffer_decl" || name == "alloc_shared" ||
         name == "alloc_local";
}
inline bool allocates_scalar(std::string_view name) {
  return name == "alloc_scalar" || name == "local_scalar" || name == "shared_scalar";
}
inline bool allocates_in_block(std::string_view name) {
  return name == "alloc_buffer" || name == "sblock_alloc_buffer";
}
inline bool makes_variable(std::string_view name) {
  return name == "var" || name == "Var" || name == "SizeVar" || name == "size_var" ||
         name == "dynamic" || name == "handle" || name == "Ptr" || name == "ptr";
}

/// True before the calls of T that define names instead of giving a value.
TILEWRIGHT_INLINE bool parser::defines_by_call() const {
  if (!at_namespace()) return false;
  const bool twice =
      (in_.peek(2).text == "tir" || in_.peek(2).text == "tirx") && in_.peek(3).text == ".";
  const std::size_t at = twice ? 4 : 2;
  const std::string_view name = in_.peek(at).text;
  const auto type = type_from_text(name);
  if (type && *type != dtype::handle)
    return in_.peek(at + 1).text == "(" &&
           (in_.peek(at + 2).text == ")" || in_.peek(at + 2).text == "is_size_var");
  return name == "axis" || name == "match_buffer" || name == "env_thread" ||
         name == "launch_thread" || allocates_scope(name) || allocates_in_block(name) ||
         allocates_scalar(name) || makes_variable(name) || defines_sparse(name);
}

/// `T.int32()`, `T.var("int64")`, `T.SizeVar("n", "int32")`, `T.dynamic("n")`,
/// `T.handle("float32")`
TILEWRIGHT_INLINE bool parser::variable_call(const token& name, const token& call) {
  dtype type = dtype::i32;
  if (const auto known = type_from_text(call.text))
    type = *known;
  else if (!makes_variable(call.text))
    return false;
  if (call.text == "Ptr" || call.text == "ptr") type = dtype::handle;
  const call_args args = arguments();
  const entity* known = find(name.text);
  if (known && known->implied && known->variable.type() == type) return true;
  if (call.text == "var" || call.text == "Var" || call.text == "SizeVar" ||
      call.text == "size_var" || call.text == "dynamic") {
    const operand* spelled = args.find("dtype");
    if (!spelled && !args.list.empty()) spelled = &args.list.back();
    if (spelled && spelled->value && spelled->value->op == op::text)
      type = type_from_text(spelled->value->name).value_or(type);
  }
  define_variable(name, make_var(std::string(name.text), type));
  return true;
}

/// The right side of `names = T....` where that defines something.
TILEWRIGHT_INLINE void parser::assignment(const std::vector<token>& names, open_scope& opened) {
  enter_namespace();
  const token call = in_.next();
  if (call.text == "axis") return axis(names, call);
  if (names.size() != 1) {
    // m, n = T.int32(), T.int32()
    for (std::size_t i = 0; i < names.size(); ++i) {
      const token which = i == 0 ? call : (in_.expect(","), enter_namespace(), in_.next());
      if (!variable_call(names[i], which)) in_.fail(which, "T.axis.remap for several names");
    }
    return;
  }
  if (call.text == "match_buffer") return match(names[0], call);
  if (defines_sparse(call.text)) return sparse_definition(names[0], call);
  if (call.text == "env_thread") {
    in_.expect("(");
    entity e;
    e.is = entity::kind::thread;
    e.thread = decode_string(in_.expect_string("the name of a thread axis"));
    in_.expect(")");
    return define(names[0], std::move(e));
  }
  if (call.text == "launch_thread") return thread_scope(&names[0], opened);
  if (allocates_scope(call.text)) return allocation_scope(names[0], call, opened);
  if (allocates_scalar(call.text)) {
    in_.expect("(");
    const dtype type = type_argument();
    std::string scope = call.text == "shared_scalar" ? "shared" : "local";
    if (in_.accept(",")) {
      if (in_.accept("scope")) in_.expect("=");
      scope = decode_string(in_.expect_string("a scope"));
    }
    in_.expect(")");
    const buffer b = define_scalar(names[0], type, std::move(scope));
    opened.close = [b](stmt body) { return make_allocate(b, std::move(body)); };
    return;
  }
  if (!allocates_in_block(call.text)) {
    variable_call(names[0], call);
    return;
  }
  in_.expect("(");
  const buffer b = layout(names[0], ")", true);
  define_tensor(names[0], b);
  around_->node.alloc_buffers.push_back(b);
}

/// `x = value`, `a, b = value, value`: lets, or constants where the values are Python's own.
TILEWRIGHT_INLINE void parser::assign_values(const std::vector<token>& names, open_scope& opened) {
  const token at = in_.peek();
  const bool meta = at_namespace() && in_.peek(2).text == "meta_var";
  operand value = any();
  if (in_.at(",")) {
    operand list;
    list.tuple = true;
    list.items.push_back(std::move(value));
    while (in_.accept(",")) list.items.push_back(any());
    value = std::move(list);
  }
  if (names.size() == 1) {
    const bool constant = value.tuple || value.value->op == op::text;
    if (constant || meta) return define_constant(names[0], std::move(value));
    return open_let(names[0], settle(value), opened);
  }
  if (!value.tuple || value.items.size() != names.size())
    throw parse_error(at.at, std::to_string(names.size()) + " values, or T.axis.remap",
                      std::to_string(value.tuple ? value.items.size() : 1));
  for (std::size_t i = 0; i < names.size(); ++i) define_constant(names[i], value.items[i]);
}

/// Whether the name is assigned to further on in the suite, without a type: then it is no let but
/// an element that changes.
TILEWRIGHT_INLINE bool parser::assigned_below(std::string_view name) const {
  static constexpr std::array<std::string_view, 7> signs{"=", "+=", "-=", "*=", "/=", "//=", "%="};
  bool starts = false;
  int depth = 0;
  for (std::size_t i = 0; in_.peek(i).kind != token_kind::end; ++i) {
    const token& t = in_.peek(i);
    if (t.kind == token_kind::indent) ++depth;
    if (t.kind == token_kind::dedent && --depth < 0) return false;
    if (starts && t.kind == token_kind::name && t.text == name &&
        support::contains(signs, in_.peek(i + 1).text))
      return true;
    starts = t.kind == token_kind::newline || t.kind == token_kind::indent ||
             t.kind == token_kind::dedent;
  }
  return false;
}

TILEWRIGHT_INLINE buffer parser::define_scalar(const token& name, dtype type, std::string scope) {
  entity e;
  e.is = entity::kind::tensor;
  e.scalar = true;
  e.tensor = make_buffer(std::string(name.text), type, {integer(dtype::i32, 1)}, std::move(scope));
  const buffer b = e.tensor;
  define(name, std::move(e));
  return b;
}

/// `B = A.view(16, 16)`: the elements of A in another shape.
TILEWRIGHT_INLINE bool parser::view(const token& name, open_scope& opened) {
  const entity* of = find(in_.peek().text);
  if (!of || of->is != entity::kind::tensor || in_.peek(1).text != "." ||
      in_.peek(2).text != "view")
    return false;
  const buffer source = of->tensor;
  in_.next(), in_.next();
  const token at = in_.next();
  auto* node = new buffer_node;
  const buffer b(node);
  node->name = std::string(name.text);
  node->type = source->type;
  node->scope = source->scope;
  node->data = data(source);
  for (const operand& o : arguments().list) {
    if (!o.value || !is_integer(o.value.type())) in_.fail(at, "a view with integer extents");
    node->shape.push_back(settle(o));
  }
  define_tensor(name, b);
  opened.close = [b](stmt body) { return make_allocate(b, std::move(body)); };
  return true;
}

/// x: T.int32 = value; TVM's x: T.let[T.int32] = value and x: T.let = value
TILEWRIGHT_INLINE void parser::annotated(const token& name, open_scope& opened) {
  enter_namespace();
  token type = in_.expect_name("a type");
  bool open = false;
  const auto pointer = [&] {
    if (in_.at("(")) skip_brackets();
  };
  if (type.text == "let" && in_.accept("[")) {
    enter_namespace();
    type = in_.expect_name("a type");
    pointer();
    in_.expect("]");
  } else if (type.text == "let") {
    open = true;
  } else {
    pointer();
  }
  if (type.text == "Ptr") type.text = "handle";
  const dtype wanted = open ? dtype::i32 : type_of(type);
  const bool changes = !open && wanted != dtype::handle && assigned_below(name.text);
  if (!open && in_.at(token_kind::newline)) {
    in_.expect_newline();
    if (changes) {
      const buffer b = define_scalar(name, wanted, "local");
      opened.close = [b](stmt body) { return make_allocate(b, std::move(body)); };
      return;
    }
    return define_variable(name, make_var(std::string(name.text), wanted));
  }
  in_.expect("=");
  const token at = in_.peek();
  const operand given = expression();
  const expr value = open ? settle(given) : converted(at, given, wanted);
  in_.expect_newline();
  if (!changes) return open_let(name, value, opened);
  const buffer b = define_scalar(name, wanted, "local");
  opened.close = [b, value](stmt body) {
    const stmt start = make_store(b, {integer(dtype::i32, 0)}, value);
    return make_allocate(b, make_seq({start, std::move(body)}));
  };
}

}  // namespace tilewright::ir::detail
