// A function flattened into the codes that the interpreter runs.
#pragma once

#include <deque>
#include <set>
#include <unordered_map>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/interpret/interpret_call.hpp>
#include <tilewright/impl/ir/interpret/interpret_external.hpp>
#include <tilewright/impl/ir/interpret/interpret_narrow.hpp>
#include <tilewright/impl/ir/interpret/interpret_threads.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/analysis/private_buffers.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/index_type.hpp>

namespace tilewright::ir::detail::interp {

inline bool is_barrier(const expr& e) { return e->op == op::call && e->name == "tvm_storage_sync"; }

inline bool has_barriers(const stmt& body) {
  return any_stmt(body, [](const stmt& s) {
    const evaluate_node* e = as_evaluate(s);
    return e && is_barrier(e->value);
  });
}

/// Flattens a function; owns the code.
class compiler {
 public:
  compiler(const function& f, const interpret_options& options)
      : options_(options), private_(f.body) {
    machine_.has_barriers = has_barriers(f.body);
  }

  int slot_of(const var& v) {
    const auto [at, fresh] = vars_.try_emplace(v, static_cast<int>(vars_.size()));
    if (fresh) machine_.slots.push_back(value{});
    return at->second;
  }
  int buffer_slot(const buffer& b) {
    const auto [at, fresh] = buffers_.try_emplace(b.get(), static_cast<int>(buffers_.size()));
    if (fresh) machine_.buffers.emplace_back();
    return at->second;
  }
  void define(const var& v) { defined_.insert(slot_of(v)); }
  void define(const buffer& b) { live_.insert(buffer_slot(b)); }
  bool defined(const var& v) { return defined_.count(slot_of(v)) != 0; }
  machine& state() { return machine_; }

  const expr_code* compile(const expr& e);
  const stmt_code* compile(const stmt& s);

 private:
  expr_code& fresh_expr() { return exprs_.emplace_back(); }
  std::vector<const expr_code*> compile_all(const std::vector<expr>& list) {
    std::vector<const expr_code*> out;
    for (const expr& e : list) out.push_back(compile(e));
    return out;
  }
  int used_buffer(const buffer& b);
  /// The code with a step behind it that brings its value to the type; the code where there is none.
  const expr_code* followed(const expr_code* code, evaluator step, dtype type);
  const expr_code* compile_affine(const expr& e);
  const expr_code* compile_cast(const expr& e);
  const expr_code* compile_load(const expr& e);
  const expr_code* compile_reinterpret(const expr& e);
  bool prepare_bits(const expr& e, expr_code& out);
  const expr_code* compile_call(const expr& e);
  const expr_code* compile_external(const expr& e,
                                    std::shared_ptr<const external_function> function);
  const expr_code* compile_let(const expr& e);
  void compile_block(const block_realize_node& r, stmt_code& out);
  void compile_loop(const loop_node& n, stmt_code& out);
  void compile_evaluate(const expr& e, stmt_code& out);
  buffer_code compile_buffer(const buffer& b);
  buffer_code compile_match(const match_buffer& mb);

  const interpret_options& options_;
  axis_set owners_of(const buffer& b);
  axis_set followed_axes(const expr& value);
  void share_results(const block_node& b, const axis_set& reduced);

  private_buffers private_;
  std::vector<const loop_node*> loops_;  // around the statement
  std::unordered_map<expr, axis_set, expr_identity_hash, expr_identity_equal> axes_;  // of threads
  std::unordered_map<expr, int, expr_identity_hash, expr_identity_equal> vars_;
  std::unordered_map<const buffer_node*, int> buffers_;
  std::set<int> defined_, live_;
  std::deque<expr_code> exprs_;
  std::deque<stmt_code> stmts_;
  machine machine_;
};

inline int compiler::used_buffer(const buffer& b) {
  const int slot = buffer_slot(b);
  if (!live_.count(slot))
    throw argument_error("buffer " + b->name +
                         " is neither a parameter nor allocated around its use");
  return slot;
}

inline const expr_code* compiler::followed(const expr_code* code, evaluator step, dtype type) {
  if (!step) return code;
  expr_code& out = fresh_expr();
  out.run = step;
  out.a = code;
  out.constant = of_int(static_cast<std::int64_t>(type));
  return &out;
}

inline const expr_code* compiler::compile_affine(const expr& e) {
  struct sink {
    compiler& by;
    expr_code& out;
    void add(std::int64_t number) {
      out.constant.i = static_cast<std::int64_t>(static_cast<std::uint64_t>(out.constant.i) +
                                                 static_cast<std::uint64_t>(number));
    }
    void add(std::int64_t factor, const expr& atom) {
      if (!is_var(atom)) return out.terms.push_back({factor, -1, by.compile(atom)});
      if (!by.defined(atom))
        throw argument_error("variable " + atom->name + " has no value where it is used");
      out.terms.push_back({factor, by.slot_of(atom), nullptr});
    }
  };
  expr_code& out = fresh_expr();
  out.constant.i = 0;
  sink terms{*this, out};
  add_parts(e, 1, terms);
  out.run = e.type() == dtype::i32 ? &run_affine<dtype::i32> : &run_affine<dtype::i64>;
  return &out;
}

inline const expr_code* compiler::compile_load(const expr& e) {
  expr_code& out = fresh_expr();
  out.slot = used_buffer(e->buffer);
  out.indices = compile_all(e->args);
  const dtype type = e->buffer->type;
  out.run =
      with_type(stored_as(type), [](auto d) -> evaluator { return &run_load<decltype(d)::value>; });
  return followed(&out, pick_from_stored(type), type);
}

inline const expr_code* compiler::compile_cast(const expr& e) {
  const dtype to = e.type(), from = computed_as(e->args[0].type());
  expr_code& out = fresh_expr();
  out.a = compile(e->args[0]);
  if (is_narrow_float(to) && is_float(from)) return followed(out.a, pick_after_cast(to, from), to);
  out.run = pick_cast(computed_as(to), from);
  return followed(&out, pick_after_cast(to, is_float(from) ? from : dtype::i64), to);
}

inline const expr_code* compiler::compile_reinterpret(const expr& e) {
  const dtype to = e.type(), from = e->args[0].type();
  const expr_code* held = compile(e->args[0]);
  expr_code& bits_of = fresh_expr();
  bits_of.a = followed(held, pick_to_stored(from), from);
  bits_of.run = pick_bits(stored_as(from));
  expr_code& out = fresh_expr();
  out.a = &bits_of;
  out.run = pick_from_bits(stored_as(to));
  return followed(&out, pick_from_stored(to), to);
}

/// Integers of other widths: shifts are modulo the width, of the amount without a sign, and bits
/// above it are none.
inline bool compiler::prepare_bits(const expr& e, expr_code& out) {
  const dtype type = e->args[0].type();
  if (!is_bit_integer(type)) return false;
  if (e->name == "popcount") out.a = followed(out.a, &run_wrap, integer_type(bits(type), true));
  if ((e->name == "shift_left" || e->name == "shift_right") && out.b) {
    expr_code& width = fresh_expr();
    width.run = &run_constant;
    width.constant = of_int(bits(type));
    expr_code& amount = fresh_expr();
    amount.a = followed(out.b, &run_wrap, integer_type(bits(type), true));
    amount.b = &width;
    amount.run = pick_binary(op::floormod, dtype::i64);
    out.b = &amount;
  }
  return true;
}

inline const expr_code* compiler::compile_external(
    const expr& e, std::shared_ptr<const external_function> function) {
  if (const std::string why = misfit(*function, e); !why.empty()) throw argument_error(why);
  expr_code& out = fresh_expr();
  const std::vector<expr> arguments = external_arguments(e);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const expr& a = arguments[i];
    out.types.push_back(a.type());
    if (a.type() != dtype::handle) {
      out.indices.push_back(compile(a));
      continue;
    }
    const pointed at = pointed_by(a);
    expr_code& pointer = fresh_expr();
    pointer.run = &run_pointer;
    pointer.slot = used_buffer(at.buffer);
    pointer.a = compile(at.offset);
    pointer.constant = of_int(function->packed || function->parameters[i].writes);
    out.indices.push_back(&pointer);
  }
  out.external = std::move(function);
  out.run = &run_external;
  return &out;
}

inline const expr_code* compiler::compile_call(const expr& e) {
  if (auto function = called_external(e)) return compile_external(e, std::move(function));
  if (const std::string why = unknown_external(e); !why.empty()) throw argument_error(why);
  if (e->name == "reinterpret" && e->args.size() == 1 && bits(e.type()) == bits(e->args[0].type()))
    return compile_reinterpret(e);
  expr_code& out = fresh_expr();
  if (e->args.empty())
    throw argument_error("intrinsic " + e->name + " without arguments cannot be interpreted");
  if (e->name == "dot4" || e->name == "dot2" || e->name == "sad8") {
    out.indices = compile_all(e->args);
    out.run = pick_packed(e);
    return &out;
  }
  out.a = compile(e->args[0]);
  if (e->args.size() > 1) out.b = compile(e->args[1]);
  if (e->args.size() > 2) out.c = compile(e->args[2]);
  const bool wraps = prepare_bits(e, out);
  if (!pick_call(out, e->name, computed_as(e->args[0].type()), e->args.size()))
    throw argument_error("intrinsic " + e->name + " of " + std::to_string(e->args.size()) + " " +
                         std::string(name(e->args[0].type())) + " is unknown to the interpreter");
  return followed(&out, wraps ? &run_wrap : nullptr, e.type());
}

inline const expr_code* compiler::compile_let(const expr& e) {
  expr_code& out = fresh_expr();
  out.a = compile(e->args[1]);
  define(e->args[0]);
  out.slot = slot_of(e->args[0]);
  out.b = compile(e->args[2]);
  out.run = [](const expr_code& n, machine& m) {
    m.slots[static_cast<std::size_t>(n.slot)] = eval(n.a, m);
    return eval(n.b, m);
  };
  return &out;
}

inline const expr_code* compiler::compile(const expr& e) {
  switch (e->op) {
    case op::integer:
    case op::real: {
      expr_code& out = fresh_expr();
      out.run = &run_constant;
      if (e->op == op::integer)
        out.constant = of_int(e->integer);
      else if (e.type() == dtype::f64)
        out.constant = of_double(e->real);
      else
        out.constant = with_type(computed_as(e.type()), [&](auto d) {
          return convert<decltype(d)::value, dtype::f64>(of_double(e->real));
        });
      return &out;
    }
    case op::var: {
      if (!defined(e))
        throw argument_error("variable " + e->name + " has no value where it is used");
      expr_code& out = fresh_expr();
      out.run = &run_variable;
      out.slot = slot_of(e);
      return &out;
    }
    case op::add:
    case op::sub:
    case op::mul:
      if (is_index(e.type()) && (e->op != op::mul || is_int(e->args[0]) || is_int(e->args[1])))
        return compile_affine(e);
      break;
    case op::load: return compile_load(e);
    case op::cast: return compile_cast(e);
    case op::call: return compile_call(e);
    case op::let: return compile_let(e);
    case op::text:
    case op::data: throw argument_error("pointers and strings cannot be interpreted");
    default: break;
  }
  expr_code& out = fresh_expr();
  out.a = compile(e->args[0]);
  if (e->args.size() > 1) out.b = compile(e->args[1]);
  if (e->args.size() > 2) out.c = compile(e->args[2]);
  switch (e->op) {
    case op::logical_and: out.run = &run_and; break;
    case op::logical_or: out.run = &run_or; break;
    case op::logical_not: out.run = &run_not; break;
    case op::select: out.run = &run_select; break;
    case op::if_then_else: out.run = &run_choice; break;
    default: {
      const dtype operands = e->args[0].type();
      out.run = pick_binary(e->op, computed_as(operands));
      return followed(&out, is_bit_integer(e.type()) ? &run_wrap : nullptr, e.type());
    }
  }
  return &out;
}

inline buffer_code compiler::compile_buffer(const buffer& b) {
  if (b->data)
    throw argument_error("buffer " + b->name +
                         " is laid over a pointer, which cannot be interpreted");
  buffer_code out;
  out.node = b.get();
  out.shape = compile_all(b->shape);
  out.strides = compile_all(b->strides);
  out.slot = buffer_slot(b);
  if (!machine_.has_barriers) out.private_to = &private_.loops_around(b);
  machine_.buffers[static_cast<std::size_t>(out.slot)].owners = owners_of(b);
  define(b);
  return out;
}

/// The axes along which each thread has the buffer for itself: as its scope says and, where no barriers
/// tell that threads mean to share it, as lowering will give it to them.
inline axis_set compiler::owners_of(const buffer& b) {
  axis_set out;
  for (std::size_t i = 0; i < out.size() && options_.check_scopes; ++i)
    out[i] = !shared_across(b->scope, thread_axes[i]);
  if (machine_.has_barriers) return out;
  for (const loop_node* loop : private_.loops_around(b))
    if (loop->loop == loop_kind::thread_binding)
      out.set(static_cast<std::size_t>(thread_axis(loop->thread_tag)));
  return out;
}

/// The axes of threads that the value follows.
inline axis_set compiler::followed_axes(const expr& value) {
  axis_set out;
  for (const var& v : free_vars(value))
    if (const auto at = axes_.find(v); at != axes_.end()) out |= at->second;
  return out;
}

/// Threads that add up a reduction have its result together, where the scope lets them.
inline void compiler::share_results(const block_node& b, const axis_set& reduced) {
  if (!b.init) return;
  for (const buffer_region& w : b.writes)
    for (std::size_t i = 0; i < reduced.size(); ++i)
      if (reduced[i] && (!options_.check_scopes || shared_across(w.buffer->scope, thread_axes[i])))
        machine_.buffers[static_cast<std::size_t>(buffer_slot(w.buffer))].owners.reset(i);
}

inline buffer_code compiler::compile_match(const match_buffer& mb) {
  const int source = used_buffer(mb.source.buffer);
  const std::size_t rank = mb.buffer->shape.size();
  if (rank > mb.source.box.size())
    throw argument_error("match buffer " + mb.buffer->name + " has a higher rank than its source");
  // strides and offset that are free variables are what the match defines; none else may read them
  buffer_code out;
  out.node = mb.buffer.get();
  out.source = source;
  for (const range& r : mb.source.box) {
    out.origin.push_back(compile(r.min));
    out.region.push_back(compile(r.extent));
  }
  out.shape = compile_all(mb.buffer->shape);
  out.slot = buffer_slot(mb.buffer);
  define(mb.buffer);
  return out;
}

inline void compiler::compile_block(const block_realize_node& r, stmt_code& out) {
  const block_node& b = *r.block;
  out.run = &run_block;
  out.block = &b;
  if (!is_true(r.predicate)) out.a = compile(r.predicate);
  for (std::size_t k = 0; k < b.iters.size(); ++k)
    out.iters.push_back({-1, compile(r.values[k]), nullptr, nullptr, false});
  axis_set reduced;
  for (std::size_t k = 0; k < b.iters.size(); ++k) {
    const iter_var& iter = b.iters[k];
    define(iter.var);
    axes_[iter.var] = followed_axes(r.values[k]);
    if (iter.kind == iter_kind::reduce) reduced |= axes_[iter.var];
    out.iters[k].slot = slot_of(iter.var);
    out.iters[k].lo = compile(iter.dom.min);
    out.iters[k].extent = compile(iter.dom.extent);
    out.iters[k].reduce = iter.kind == iter_kind::reduce;
  }
  share_results(b, reduced);
  for (const buffer& alloc : b.alloc_buffers) out.buffers.push_back(compile_buffer(alloc));
  for (const match_buffer& mb : b.match_buffers) out.buffers.push_back(compile_match(mb));
  out.children = {b.init ? compile(b.init) : nullptr, compile(b.body)};
  out.added_to = added_to(b);
  for (const loop_node* loop : loops_)
    if (copies_jointly(b, *loop))
      out.joint.set(static_cast<std::size_t>(thread_axis(loop->thread_tag)));
  out.has_barrier = out.joint.any();
}

inline void compiler::compile_loop(const loop_node& n, stmt_code& out) {
  out.loop = &n;
  out.run = n.loop == loop_kind::serial || n.loop == loop_kind::unrolled || !options_.check_races
                ? &run_loop
                : &run_concurrent;
  if (n.loop == loop_kind::thread_binding) {
    out.axis = thread_axis(n.thread_tag);
    if (out.axis < 0)
      throw argument_error("loop " + n.var->name + " is bound to " + n.thread_tag +
                           ", which is no thread axis");
    out.run = &run_bound;
    axes_[n.var].set(static_cast<std::size_t>(out.axis));
  }
  out.a = compile(n.min);
  out.b = compile(n.extent);
  define(n.var);
  out.slot = slot_of(n.var);
  loops_.push_back(&n);
  out.children = {compile(n.body)};
  loops_.pop_back();
}

inline void compiler::compile_evaluate(const expr& e, stmt_code& out) {
  // a promise of the caller, who filled the memory, and a hint to the processor
  if (e->op == op::call && (e->name == "assume" || e->name == "prefetch")) {
    out.run = &run_seq;
    return;
  }
  if (!is_barrier(e)) {
    out.run = &run_evaluate;
    out.a = compile(e);
    return;
  }
  if (e->args.empty() || e->args[0]->op != op::text || e->args[0]->name == "global")
    throw argument_error("interpret knows barriers of shared memory only");
  out.run = &run_lost_barrier;
  out.has_barrier = true;
}

inline const stmt_code* compiler::compile(const stmt& s) {
  stmt_code& out = stmts_.emplace_back();
  out.kind = s->kind;
  out.check_unwritten = options_.check_unwritten;
  out.check_races = options_.check_races;
  switch (s->kind) {
    case stmt_kind::loop: compile_loop(*as_loop(s), out); break;
    case stmt_kind::block_realize: compile_block(*as_realize(s), out); break;
    case stmt_kind::seq:
      out.run = &run_seq;
      for (const stmt& child : as_seq(s)->stmts) out.children.push_back(compile(child));
      break;
    case stmt_kind::store: {
      const store_node& n = *as_store(s);
      out.run = &run_store_stmt;
      const dtype type = n.buffer->type;
      out.a = followed(compile(n.value), pick_to_stored(type), type);
      out.slot = used_buffer(n.buffer);
      out.indices = compile_all(n.indices);
      out.store = with_type(stored_as(type),
                            [](auto d) -> storer { return &run_store<decltype(d)::value>; });
      break;
    }
    case stmt_kind::if_else: {
      const if_node& n = *as_if(s);
      out.run = &run_if;
      out.a = compile(n.condition);
      out.children = {compile(n.then_body), n.else_body ? compile(n.else_body) : nullptr};
      break;
    }
    case stmt_kind::let: {
      const let_node& n = *as_let(s);
      out.run = &run_let;
      out.a = compile(n.value);
      define(n.var);
      out.slot = slot_of(n.var);
      out.children = {compile(n.body)};
      break;
    }
    case stmt_kind::evaluate: compile_evaluate(as_evaluate(s)->value, out); break;
    case stmt_kind::allocate:
      out.run = &run_allocate;
      out.buffers.push_back(compile_buffer(as_allocate(s)->buffer));
      out.children = {compile(as_allocate(s)->body)};
      break;
    case stmt_kind::while_loop:
      out.run = &run_while;
      out.a = compile(as_while(s)->condition);
      out.children = {compile(as_while(s)->body)};
      break;
    case stmt_kind::attribute:
      out.added_to = added_to(*as_attribute(s));
      out.run = out.added_to ? &run_addition : &run_seq;
      out.children = {compile(as_attribute(s)->body)};
      break;
  }
  for (const stmt_code* child : out.children)
    out.has_barrier = out.has_barrier || (child && child->has_barrier);
  return &out;
}

}  // namespace tilewright::ir::detail::interp
