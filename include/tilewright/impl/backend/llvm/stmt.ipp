// Statements: loops of each kind, conditions, bindings and allocations.
#pragma once

#include <algorithm>
#include <bit>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/affine_math.hpp>
#include <tilewright/impl/backend/llvm/lanes/running_lanes.hpp>
#include <tilewright/impl/pass/unrolled_size.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::backend::llvm {
namespace detail::stmt_parts {

/// Statements that one function may come to by unrolling; some seconds of compilation.
inline constexpr std::int64_t most_statements = 1 << 15;
/// Element operations between two looks at the cancel flag, at least.
inline constexpr double work_per_poll = 1 << 12;
/// Lanes of the widest vectorized loop that is kept as vectors: LLVM splits them over registers.
inline constexpr std::int64_t most_lanes = 128;
inline constexpr std::int64_t most_stack_bytes = 64 * 1024;

/// Bytes of code that a processor fetches at once.
inline constexpr unsigned code_line_bytes = 64;
/// A loop of so few iterations is not worth the bytes in front of it.
inline constexpr std::int64_t most_unaligned = 8;

/// Whether an iteration is so few instructions that they may lie in one line of code: two lines are fetched in turns then. A
/// multiply-add in memory whose 35 bytes lie in two takes 1.4 times as long, by what stands in front of the loop. Where an
/// iteration branches, LLVM begins the loop in its middle, and there alignment brought 0.9 to 1.1.
inline bool fits_a_line(const ir::stmt& body) {
  bool simple = !ir::any_stmt(body, ir::as_if);
  int loads = 0;
  ir::for_each_expr(body, [&](const ir::expr& e) {
    loads += e->op == ir::op::load;
    // conversions and narrow elements are several instructions each
    simple = simple && e->op != ir::op::if_then_else &&
             (e->op != ir::op::cast || e->args[0].type() == dtype::i32) &&
             (e->op != ir::op::load || bytes(e.type()) >= 4);
  });
  constexpr int most_loads = 4;
  constexpr std::int64_t most = 2;  // statements
  return simple && loads <= most_loads &&
         pass::detail::unrolled_size(body, [](const ir::loop_node& l) {
           if (l.loop == ir::loop_kind::vectorized) return std::int64_t{1};
           const std::int64_t times = pass::constant_extent(l);
           return l.loop == ir::loop_kind::unrolled && times > 0 ? times : most + 1;
         }) <= most;
}

/// True when `body` can run for all lanes at once: no loop inside, and every store moves with the
/// lane.
inline bool vectorizable(const ir::stmt& body, const ir::var& lane) {
  bool fine = true;
  ir::var_set varying{lane};
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    if (s->kind == ir::stmt_kind::loop || s->kind == ir::stmt_kind::allocate || ir::as_while(s))
      fine = false;
    if (const auto* let = ir::as_let(s); let && ir::uses_any(let->value, varying))
      varying.insert(let->var);
    if (const auto* store = ir::as_store(s))
      fine = fine && support::any(store->indices,
                                  [&](const ir::expr& i) { return ir::uses_any(i, varying); });
  });
  return fine;
}

}  // namespace detail::stmt_parts

TILEWRIGHT_INLINE void emitter::emit(const ir::stmt& s) {
  namespace p = detail::stmt_parts;
  if (!s) return;
  if (++emitted > p::most_statements)
    throw build_error("function \"" + f.name + "\" unrolls to more than " +
                      std::to_string(p::most_statements) + " statements; unroll less");
  switch (s->kind) {
    case ir::stmt_kind::loop: return emit_loop(*ir::as_loop(s));
    case ir::stmt_kind::seq:
      for (const ir::stmt& part : ir::as_seq(s)->stmts) emit(part);
      return;
    case ir::stmt_kind::store: return emit_store(*ir::as_store(s));
    case ir::stmt_kind::if_else: return emit_if(*ir::as_if(s));
    case ir::stmt_kind::let: return emit_let(*ir::as_let(s));
    case ir::stmt_kind::allocate: return emit_allocate(*ir::as_allocate(s));
    case ir::stmt_kind::evaluate: {
      // no intrinsic of this backend but the first has an effect
      const ir::expr& e = ir::as_evaluate(s)->value;
      if (e->op != ir::op::call || e->name == "assume" || e->name == "tvm_storage_sync") return;
      if (e->name == "prefetch") return emit_prefetch(e->args.at(0));
      emit(e);
      return;
    }
    case ir::stmt_kind::attribute: return emit(ir::as_attribute(s)->body);
    case ir::stmt_kind::while_loop: return emit_while(*ir::as_while(s));
    case ir::stmt_kind::block_realize: break;
  }
  throw argument_error("function \"" + f.name +
                       "\" still has blocks; pass the result of pass::lower to compile");
}

TILEWRIGHT_INLINE void emitter::emit_loop(const ir::loop_node& l) {
  namespace p = detail::stmt_parts;
  const interval first = bounds(l.min), count = bounds(l.extent);
  const bool literal = first.lo == first.hi && count.lo == count.hi;
  if (count.hi <= 0) return;
  if (literal && count.lo == 1) return emit_repeated(l, first.lo, 1);
  if (l.loop == ir::loop_kind::thread_binding)
    throw argument_error("loop \"" + l.var->name + "\" is bound to " + l.thread_tag +
                         "; the CPU backend has no such threads");
  const bool counted = l.loop == ir::loop_kind::unrolled || l.loop == ir::loop_kind::serial;
  if (literal && counted && lane.lanes == 1 && emit_channels(l, first.lo, count.lo)) return;
  if (literal && l.loop == ir::loop_kind::unrolled) return emit_repeated(l, first.lo, count.lo);
  if (lane.lanes == 1)
    if (const pass::stream how = pass::stream_of(l, b.cpu)) return emit_stream(l, how);
  if (literal && l.loop == ir::loop_kind::vectorized && lane.lanes == 1 &&
      p::vectorizable(l.body, l.var)) {
    if (count.lo <= p::most_lanes && std::has_single_bit(static_cast<std::uint64_t>(count.lo)))
      return emit_vectorized(l, first.lo, count.lo);
  }
  if (lane.lanes != 1) {
    if (!literal)
      throw argument_error("loop \"" + l.var->name +
                           "\" inside a vectorized loop needs constant bounds");
    return emit_repeated(l, first.lo, count.lo);
  }
  const body_of body(*this, l.body, l.var.get());
  if (literal && l.loop == ir::loop_kind::serial && emit_running(l, first.lo, count.lo)) return;
  if (literal && l.loop == ir::loop_kind::serial && emit_squares(l, first.lo, count.lo)) return;
  if (literal && l.loop == ir::loop_kind::serial && count.lo % 4 == 0 && count.lo > 4 &&
      reads_rows(l))
    return emit_by_four(l, first.lo, count.lo);
  const value_ref from = scalar_sum(index(l.min)), extent = scalar_sum(index(l.extent));
  const std::int64_t top = detail::affine_math::add(first, count).hi;
  const interval range{first.lo, top == detail::affine_math::highest ? top : top - 1};
  if (l.loop == ir::loop_kind::parallel && !in_region) return emit_parallel(l, from, extent, range);
  emit_serial(l, from, b.add_nsw(from, extent), range, count.lo >= 1);
}

TILEWRIGHT_INLINE void emitter::emit_serial(const ir::loop_node& l, value_ref first, value_ref end,
                                            interval range, bool never_empty) {
  namespace p = detail::stmt_parts;
  const double inside = work(l.body);
  const auto iteration = [&](value_ref i) {
    bound[l.var.get()] = binding{binding::kind::index, 0, {i, false}, range, {}};
    emit(l.body);
    bound.erase(l.var.get());
  };
  const value_ref back = emit_counted(l.var->name, first, end, never_empty, inside, iteration);
  if (range.hi - range.lo >= p::most_unaligned && p::fits_a_line(l.body))
    b.align_loop(back, p::code_line_bytes);
}

/// The loop itself: tested at its end, with a look at the cancel flag where an iteration takes
/// long. Gives the branch back to its beginning.
TILEWRIGHT_INLINE value_ref
emitter::emit_counted(const std::string& name, value_ref first, value_ref end, bool never_empty,
                      double inside, support::function_ref<void(value_ref)> emit_body) {
  const block_ref body = b.new_block(at.function, name.c_str());
  const block_ref after = b.new_block(at.function, "after");
  if (never_empty)
    b.branch(body);
  else
    b.branch(b.compare(int_predicate::slt, first, end), body, after);
  const block_ref before = b.here();
  b.at(body);
  const value_ref i = b.phi(b.i64, {{first, before}});
  {
    const scope inner(*this);
    if (inside >= detail::stmt_parts::work_per_poll) poll_cancel();
    emit_body(i);
  }
  const value_ref next = b.add_nsw(i, b.index(1));
  b.add_incoming(i, next, b.here());
  const value_ref back = b.branch(b.compare(int_predicate::slt, next, end), body, after);
  b.at(after);
  return back;
}

TILEWRIGHT_INLINE void emitter::emit_repeated(const ir::loop_node& l, std::int64_t first,
                                              std::int64_t extent) {
  for (std::int64_t i = first; i < first + extent; ++i) {
    bound[l.var.get()] = binding{binding::kind::constant, i, {}, {i, i}, {}};
    emit(l.body);
  }
  bound.erase(l.var.get());
}

/// A serial loop whose body is written out for four values of the variable at a time.
TILEWRIGHT_INLINE void emitter::emit_by_four(const ir::loop_node& l, std::int64_t first,
                                             std::int64_t extent) {
  const double inside = 4 * work(l.body);
  emit_counted(l.var->name, b.index(0), b.index(extent / 4), true, inside, [&](value_ref group) {
    for (std::int64_t u = first; u < first + 4; ++u) {
      affine four_groups;
      four_groups.scalars.emplace_back(group, 4);
      four_groups.constant = u;
      bound[l.var.get()] = binding{binding::kind::form, 0, {}, {u, u + extent - 4}, four_groups};
      emit(l.body);
    }
    bound.erase(l.var.get());
  });
}

TILEWRIGHT_INLINE void emitter::emit_vectorized(const ir::loop_node& l, std::int64_t first,
                                                std::int64_t extent) {
  lane = {static_cast<int>(extent), nullptr, false};
  bound[l.var.get()] = binding{binding::kind::lane, first, {}, {first, first + extent - 1}, {}};
  emit(l.body);
  bound.erase(l.var.get());
  lane = {};
}

/// The loop of a condition that its body changes. How often it runs is not known: the loops around it look
/// at the cancel flag.
TILEWRIGHT_INLINE void emitter::emit_while(const ir::while_node& s) {
  if (lane.lanes != 1)
    throw argument_error("function \"" + f.name +
                         "\" has a while loop inside of a vectorized one; make that one serial");
  const body_of written_by(*this, s.body);
  const block_ref test = b.new_block(at.function, "while"),
                  body = b.new_block(at.function, "while_body"),
                  after = b.new_block(at.function, "after");
  b.branch(test);
  b.at(test);
  {
    const scope inner(*this);
    b.branch(emit(s.condition).v, body, after);
    b.at(body);
    emit(s.body);
    b.branch(test);
  }
  b.at(after);
}

TILEWRIGHT_INLINE void emitter::emit_if(const ir::if_node& s) {
  if (const auto known = decided(s.condition)) return emit(*known ? s.then_body : s.else_body);
  const split_condition condition = emit_condition(s.condition);
  if (!condition.varying) {
    return emit_branch(
        condition.uniform, [&] { emit(s.then_body); }, [&] { emit(s.else_body); });
  }
  if (!condition.uniform || s.else_body || !leaves_buffers(s.then_body))
    return emit_masked(s, both(condition));
  emit_branch(
      condition.uniform, [&] { emit_masked(s, condition.varying); }, [] {});
}

/// Each lane goes one of the two ways.
TILEWRIGHT_INLINE void emitter::emit_masked(const ir::if_node& s, value_ref condition) {
  const value_ref before = lane.mask;
  const auto under = [&](value_ref on, const ir::stmt& body) {
    lane.mask = before ? b.binary(opcode::and_, before, on) : on;
    const scope inner(*this);
    emit(body);
    lane.mask = before;
  };
  under(condition, s.then_body);
  if (s.else_body) under(b.c.BuildNot(b.b, condition, ""), s.else_body);
}

/// All lanes go one of two ways.
TILEWRIGHT_INLINE void emitter::emit_branch(value_ref condition, support::function_ref<void()> yes,
                                            support::function_ref<void()> no) {
  const block_ref then = b.new_block(at.function, "then"), other = b.new_block(at.function, "else"),
                  join = b.new_block(at.function, "endif");
  b.branch(condition, then, other);
  const auto side = [&](block_ref start, support::function_ref<void()> emit_side) {
    const scope inner(*this);
    b.at(start);
    emit_side();
    b.branch(join);
  };
  side(then, yes);
  side(other, no);
  b.at(join);
}

/// Whether an access of `s` may lie outside of its buffer where its conditions do not hold.
TILEWRIGHT_INLINE bool emitter::leaves_buffers(const ir::stmt& s) {
  bool out = false;
  ir::for_each_stmt(s, [&](const ir::stmt& part) {
    if (const auto* store = ir::as_store(part))
      out = out || !in_bounds(store->buffer, store->indices);
  });
  ir::for_each_expr(s, [&](const ir::expr& e) {
    out = out || (e->op == ir::op::load && !in_bounds(e->buffer, e->args));
  });
  return out;
}

TILEWRIGHT_INLINE void emitter::emit_let(const ir::let_node& s) {
  const dtype type = s.var.type();
  const bool whole = !is_float(type) && type != dtype::boolean && !is_bit_integer(type);
  const interval known = is_float(type) ? interval{0, 0} : bounds(s.value);
  if (whole && known.lo == known.hi) {
    bound[s.var.get()] = binding{binding::kind::constant, known.lo, {}, known, {}};
  } else if (whole && type != dtype::u64 && !is_loaded(s.value)) {
    const affine a = index(s.value);
    bound[s.var.get()] = a.uniform()
                             ? binding{binding::kind::index, 0, {scalar_sum(a), false}, known, {}}
                             : binding{binding::kind::form, 0, {}, known, a};
  } else {
    bound[s.var.get()] = binding{binding::kind::value, 0, emit_whole({s.value}).front(), known, {}};
  }
  emit(s.body);
  bound.erase(s.var.get());
}

TILEWRIGHT_INLINE bool emitter::is_loaded(const ir::expr& e) {
  bool found = false;
  ir::for_each_expr(e, [&](const ir::expr& x) {
    found = found || x->op == ir::op::load || x->op == ir::op::call;
  });
  return found;
}

TILEWRIGHT_INLINE void emitter::emit_allocate(const ir::allocate_node& s) {
  const ir::buffer& buffer = s.buffer;
  if (buffer->scope == "workspace" || buffer->scope == "worker") return emit(s.body);
  std::int64_t elements = 1;
  place p;
  p.type = buffer->type;
  p.alignment = 64;
  p.strides.resize(buffer->shape.size());
  for (std::size_t d = buffer->shape.size(); d-- > 0;) {
    const interval extent = bounds(buffer->shape[d]);
    const std::int64_t size = bytes(p.type);
    if (extent.lo != extent.hi || extent.lo < 0 ||
        extent.hi * size >
            detail::stmt_parts::most_stack_bytes / std::max<std::int64_t>(elements, 1))
      throw argument_error("buffer \"" + buffer->name +
                           "\" does not fit the stack; give it a place in the workspace "
                           "with pass::plan_workspace");
    p.strides[d].constant = elements;
    elements *= extent.lo;
  }
  if (!buffer->strides.empty()) {
    elements = 1;
    for (std::size_t d = 0; d < buffer->shape.size(); ++d) {
      const interval stride = bounds(buffer->strides[d]);
      if (stride.lo != stride.hi || stride.lo < 0 ||
          stride.lo > detail::stmt_parts::most_stack_bytes)
        throw argument_error("buffer \"" + buffer->name +
                             "\" is allocated with strides that are no numbers");
      p.strides[d].constant = stride.lo;
      elements += (bounds(buffer->shape[d]).lo - 1) * stride.lo;
    }
  }
  const block_ref here = b.here();
  b.at(at.entry);
  p.base = b.c.BuildAlloca(
      b.b,
      b.c.ArrayType2(b.stored(p.type),
                     static_cast<std::uint64_t>(std::max<std::int64_t>(elements, 1))),
      buffer->name.c_str());
  b.c.SetAlignment(p.base, 64);
  b.at(here);
  at.places[buffer.get()] = std::move(p);
  emit(s.body);
  at.places.erase(buffer.get());
}

TILEWRIGHT_INLINE void emitter::poll_cancel() {
  const value_ref flag = b.load(b.i32, at.cancel, 4);
  b.c.SetOrdering(flag, ordering_monotonic);
  const block_ref go_on = b.new_block(at.function, "go_on");
  b.branch(b.compare(int_predicate::eq, flag, b.integer(b.i32, 0)), go_on, at.cancelled);
  b.at(go_on);
}

/// Estimate of element operations in one execution.
TILEWRIGHT_INLINE double emitter::work(const ir::stmt& s) {
  if (!s) return 0;
  const auto known = work_of.find(s.get());
  if (known != work_of.end()) return known->second;
  double sum = 0;
  switch (s->kind) {
    case ir::stmt_kind::loop: {
      const interval count = bounds(ir::as_loop(s)->extent);
      const double times =
          count.hi > (1 << 30) ? 64.0 : static_cast<double>(std::max<std::int64_t>(count.hi, 0));
      sum = times * work(ir::as_loop(s)->body);
      break;
    }
    case ir::stmt_kind::seq:
      for (const ir::stmt& part : ir::as_seq(s)->stmts) sum += work(part);
      break;
    case ir::stmt_kind::if_else:
      sum = work(ir::as_if(s)->then_body) + work(ir::as_if(s)->else_body);
      break;
    case ir::stmt_kind::while_loop: sum = 64 * work(ir::as_while(s)->body); break;
    case ir::stmt_kind::let: sum = work(ir::as_let(s)->body); break;
    case ir::stmt_kind::allocate: sum = work(ir::as_allocate(s)->body); break;
    case ir::stmt_kind::attribute: sum = work(ir::as_attribute(s)->body); break;
    default: sum = 1;
  }
  return work_of[s.get()] = sum;
}

}  // namespace tilewright::backend::llvm
