// The functions of a module: the entry, and one per parallel loop.
//
// Each comes as a pair. The outer one has the signature that the library calls and reads pointers
// from memory; the inner one gets the buffers as parameters, since only parameters can be marked as
// not aliasing.
#pragma once

#include <tilewright/backend/call.hpp>
#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/affine_math.hpp>
#include <tilewright/impl/backend/llvm/balanced_chunks.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::llvm {
namespace detail::function_parts {

/// Chunks per thread: enough that a preempted thread costs little, few enough that claiming is
/// cheap.
inline constexpr std::int64_t chunks_per_thread = 4;

/// What a piece of the program uses from around it.
struct uses {
  std::vector<ir::var> vars;
  std::vector<ir::buffer> buffers;
};

inline uses uses_of(const ir::stmt& s) {
  uses out;
  const auto note = [&](const ir::buffer& b) {
    if (!support::contains(out.buffers, b)) out.buffers.push_back(b);
  };
  ir::var_set seen;
  ir::for_each_expr(s, [&](const ir::expr& e) {
    if (e->op == ir::op::var && seen.insert(e).second) out.vars.push_back(e);
    if (e->op == ir::op::load) note(e->buffer);
  });
  ir::for_each_stmt(s, [&](const ir::stmt& x) {
    if (const auto* store = ir::as_store(x)) note(store->buffer);
  });
  return out;
}

}  // namespace detail::function_parts

TILEWRIGHT_INLINE emitter::emitter(builder& module, const ir::function& function,
                                   std::string entry_symbol)
    : b(module),
      f(function),
      symbol(std::move(entry_symbol)),
      rounds_products(ir::keeps_term_order(function)),
      shared(function.body) {
  for (const ir::param& p : f.params)
    if (const auto note = p.buffer ? ir::offsets_of(f, p.buffer->name) : std::nullopt)
      offset_bounds[p.buffer.get()] = {0, note->last};
}

TILEWRIGHT_INLINE void emitter::run() {
  note_written(f.body);
  emit_entry();
}

TILEWRIGHT_INLINE std::int64_t emitter::attribute(const char* name) const {
  const auto found = f.attrs.find(name);
  if (found == f.attrs.end()) return 0;
  const auto* number = std::get_if<std::int64_t>(&found->second.value);
  return number ? *number : 0;
}

/// Starts an inner function: parameters are the call, the data pointers, the workspace, then `more`.
TILEWRIGHT_INLINE value_ref emitter::begin_function(const std::string& name,
                                                    const std::vector<type_ref>& more) {
  const auto pointers = static_cast<unsigned>(f.params.size() + 1);  // of data and of the workspace
  std::vector<type_ref> types(1 + pointers, b.ptr);
  types.insert(types.end(), more.begin(), more.end());
  at = {};
  at.function = b.function(name, b.i32, types, true);
  // The call promises that no output overlaps another parameter, and the workspace overlaps none. LLVM asks
  // what becomes of a pointer that is no parameter, and gives up after a hundred uses.
  for (unsigned i = 1; i <= pointers; ++i) b.parameter_attribute(at.function, i, "noalias");
  at.entry = b.new_block(at.function, "entry");
  at.cancelled = b.new_block(at.function, "cancelled");
  b.at(at.cancelled);
  b.c.BuildRet(b.b, b.integer(b.i32, call_cancelled));
  at.body = b.new_block(at.function, "body");
  b.at(at.body);
  at.call = b.c.GetParam(at.function, 0);
  at.data.clear();
  for (std::size_t i = 0; i < f.params.size(); ++i)
    at.data.push_back(b.c.GetParam(at.function, static_cast<unsigned>(i + 1)));
  const auto field = [&](std::int64_t offset) {
    return b.load(b.ptr, b.byte_pointer(at.call, offset), 8);
  };
  at.workspace = b.c.GetParam(at.function, pointers);
  const value_ref flag = field(offsetof(backend::call, cancel));
  const value_ref missing = b.compare(int_predicate::eq, flag, b.c.ConstNull(b.ptr));
  at.cancel = b.select(missing, b.zeros(), flag);
  computed = {};
  lane = {};
  return at.function;
}

TILEWRIGHT_INLINE void emitter::finish_function() {
  if (at.streams) b.order_nontemporal();
  b.c.BuildRet(b.b, b.integer(b.i32, call_done));
  // Stack slots stand alone in the first block, where LLVM takes them for static.
  b.at(at.entry);
  b.branch(at.body);
}

TILEWRIGHT_INLINE void emitter::bind_parameters() {
  std::int64_t stride_number = 0;
  const value_ref strides =
      b.load(b.ptr, b.byte_pointer(at.call, offsetof(backend::call, strides)), 8);
  // Scalars first: shapes and strides may refer to them.
  for (std::size_t i = 0; i < f.params.size(); ++i) {
    if (f.params[i].buffer) continue;
    const ir::var& v = f.params[i].scalar;
    const value_ref raw =
        b.load(b.stored(v.type()), at.data[i], static_cast<unsigned>(bytes(v.type())));
    bound[v.get()] =
        binding{binding::kind::value,
                0,
                {b.to_held(v.type(), raw, 1), false},
                is_float(v.type()) ? interval{0, 0} : detail::affine_math::range_of(v.type()),
                {}};
  }
  for (std::size_t i = 0; i < f.params.size(); ++i) {
    const ir::buffer& buffer = f.params[i].buffer;
    if (!buffer) continue;
    for (std::size_t d = 0; d < buffer->strides.size(); ++d) {
      const ir::expr& stride = buffer->strides[d];
      if (!ir::is_var(stride) || bound.count(stride.get())) continue;
      const std::int64_t at_bytes = 8 * (stride_number + static_cast<std::int64_t>(d));
      const value_ref v = b.load(b.i64, b.byte_pointer(strides, at_bytes), 8);
      // Within these bounds no sum of a few products of indices and strides overflows.
      const std::int64_t most = std::int64_t{1} << 40;
      bound[stride.get()] = binding{binding::kind::index, 0, {v, false}, {-most, most}, {}};
    }
    stride_number += static_cast<std::int64_t>(buffer->shape.size());
  }
  for (std::size_t i = 0; i < f.params.size(); ++i) {
    const ir::buffer& buffer = f.params[i].buffer;
    if (!buffer) continue;
    place p;
    p.base = at.data[i];
    p.type = buffer->type;
    p.alignment = static_cast<unsigned>(bytes(p.type));
    p.strides.resize(buffer->shape.size());
    affine row;
    row.constant = 1;
    for (std::size_t d = buffer->shape.size(); d-- > 0;) {
      p.strides[d] = buffer->strides.empty() ? row : index(buffer->strides[d]);
      if (buffer->strides.empty() && d > 0) row = multiply(row, index(buffer->shape[d]));
    }
    at.places[buffer.get()] = std::move(p);
  }
}

TILEWRIGHT_INLINE void emitter::emit_entry() {
  const value_ref inner = begin_function(symbol + ".body", {});
  bind_parameters();
  const std::int64_t offset = attribute("tilewright.worker_offset");
  at.worker_base = b.byte_pointer(at.workspace, offset);
  emit(f.body);
  finish_function();
  const value_ref outer = b.function(symbol, b.i32, {b.ptr}, false);
  b.at(b.new_block(outer, "entry"));
  const value_ref call = b.c.GetParam(outer, 0);
  b.c.BuildRet(b.b, b.call(inner, call_arguments(call)));
}

/// The arguments that every inner function starts with, read from the call.
TILEWRIGHT_INLINE std::vector<value_ref> emitter::call_arguments(value_ref call) {
  std::vector<value_ref> out{call};
  const value_ref data = b.load(b.ptr, b.byte_pointer(call, offsetof(backend::call, data)), 8);
  for (std::size_t i = 0; i < f.params.size(); ++i)
    out.push_back(b.load(b.ptr, b.byte_pointer(data, 8 * static_cast<std::int64_t>(i)), 8));
  out.push_back(b.load(b.ptr, b.byte_pointer(call, offsetof(backend::call, workspace)), 8));
  return out;
}

/// What the body of a parallel loop needs beyond the call: variables of outer loops and outer stack
/// slots.
TILEWRIGHT_INLINE emitter::captures emitter::capture(const ir::loop_node& l) {
  captures out;
  const detail::function_parts::uses used = detail::function_parts::uses_of(l.body);
  for (const ir::var& v : used.vars) {
    const auto found = bound.find(v.get());
    if (found == bound.end()) continue;
    if (found->second.is == binding::kind::constant)
      out.constants.emplace_back(v.get(), found->second);
    else
      out.values.push_back({v.get(), found->second});
  }
  for (const ir::buffer& buffer : used.buffers) {
    const auto found = at.places.find(buffer.get());
    const bool local = found != at.places.end() && buffer->scope != "workspace" &&
                       buffer->scope != "worker" && !support::contains(at.data, found->second.base);
    if (local) out.slots.push_back({buffer.get(), found->second});
  }
  return out;
}

TILEWRIGHT_INLINE value_ref emitter::emit_region(const ir::loop_node& l, const captures& outside,
                                                 interval range) {
  std::vector<type_ref> types;
  for (const auto& v : outside.values) types.push_back(b.c.TypeOf(v.known.held.v));
  for (std::size_t i = 0; i < outside.slots.size(); ++i) types.push_back(b.ptr);
  types.insert(types.end(), {b.i64, b.i64, b.i32});
  const frame around = std::exchange(at, {});
  const bindings bound_around = std::exchange(bound, {});
  computed_values computed_around = std::exchange(computed, {});
  const block_ref here = b.here();
  const std::string name = symbol + ".parallel" + std::to_string(regions++);

  const value_ref inner = begin_function(name + ".body", types);
  bind_parameters();
  auto next = static_cast<unsigned>(2 + f.params.size());
  for (const auto& [v, known] : outside.constants) bound[v] = known;
  for (const auto& v : outside.values) {
    binding copy = v.known;
    copy.held.v = b.c.GetParam(inner, next++);
    bound[v.var] = copy;
  }
  for (const auto& [buffer, p] : outside.slots) {
    place copy = p;
    copy.base = b.c.GetParam(inner, next++);
    at.places[buffer] = std::move(copy);
  }
  const value_ref first = b.c.GetParam(inner, next), end = b.c.GetParam(inner, next + 1);
  const value_ref worker = b.convert(opcode::sext, b.c.GetParam(inner, next + 2), b.i64);
  const value_ref slot = b.mul_nsw(worker, b.index(attribute("tilewright.worker_bytes")));
  at.worker_base = b.byte_pointer(b.element_pointer(b.i8, at.workspace, slot),
                                  attribute("tilewright.worker_offset"));
  in_region = true;
  poll_cancel();
  emit_serial(l, first, end, range, false);
  in_region = false;
  finish_function();
  emit_chunk(l, name, inner, outside);

  at = around;
  bound = bound_around;
  computed = std::move(computed_around);
  b.at(here);
  return inner;
}

/// Context of a parallel loop, in slots of 8 bytes: call, first, extent, chunks, captured values,
/// slots.
TILEWRIGHT_INLINE void emitter::emit_chunk(const ir::loop_node& l, const std::string& name,
                                           value_ref inner, const captures& outside) {
  const value_ref outer = b.function(name, b.none, {b.ptr, b.i64, b.i32}, true);
  b.at(b.new_block(outer, "entry"));
  const value_ref context = b.c.GetParam(outer, 0), chunk = b.c.GetParam(outer, 1);
  std::int64_t slot = 0;
  const auto read = [&](type_ref type) {
    return b.load(type, b.byte_pointer(context, 8 * slot++), 8);
  };
  std::vector<value_ref> arguments = call_arguments(read(b.ptr));
  const value_ref first = read(b.i64), extent = read(b.i64), chunks = read(b.i64);
  for (const auto& v : outside.values) {
    const type_ref type = b.c.TypeOf(v.known.held.v);
    arguments.push_back(type == b.i1 ? b.convert(opcode::trunc, read(b.i8), b.i1) : read(type));
  }
  for (std::size_t i = 0; i < outside.slots.size(); ++i) arguments.push_back(read(b.ptr));
  const std::optional<std::size_t> offsets = balancing_offsets(f, l);
  const auto border = [&](value_ref n) {
    if (offsets)
      return balanced_border(b, arguments[*offsets + 1], f.params[*offsets].buffer->type, extent, n,
                             chunks);
    return b.add_nsw(first, b.binary(opcode::udiv, b.mul_nsw(n, extent), chunks));
  };
  arguments.push_back(border(chunk));
  arguments.push_back(border(b.add_nsw(chunk, b.index(1))));
  arguments.push_back(b.c.GetParam(outer, 2));
  b.call(inner, arguments);
  b.c.BuildRetVoid(b.b);
}

TILEWRIGHT_INLINE void emitter::emit_parallel(const ir::loop_node& l, value_ref first,
                                              value_ref extent, interval range) {
  const captures outside = capture(l);
  const std::string chunk_name = symbol + ".parallel" + std::to_string(regions);
  const value_ref inner = emit_region(l, outside, range);
  const auto block = [&](const char* name) { return b.new_block(at.function, name); };
  const block_ref ask = block("ask"), share = block("share"), alone = block("alone"),
                  done = block("done");
  const value_ref exec = b.load(b.ptr, b.byte_pointer(at.call, offsetof(backend::call, exec)), 8);
  b.branch(b.compare(int_predicate::eq, exec, b.c.ConstNull(b.ptr)), alone, ask);

  b.at(ask);
  const value_ref threads = b.load(b.i32, b.byte_pointer(exec, offsetof(executor, threads)), 4);
  value_ref several = b.compare(int_predicate::sgt, threads, b.integer(b.i32, 1));
  if (attribute("tilewright.worker_bytes") != 0) {
    // More workers than the workspace was planned for would write beyond it.
    const value_ref fits =
        b.compare(int_predicate::sle, threads, b.integer(b.i32, attribute("tilewright.workers")));
    several = b.binary(opcode::and_, several, fits);
  }
  b.branch(several, share, alone);

  b.at(share);
  const value_ref wanted = b.mul_nsw(b.convert(opcode::sext, threads, b.i64),
                                     b.index(detail::function_parts::chunks_per_thread));
  const value_ref chunks = b.select(b.compare(int_predicate::slt, extent, wanted), extent, wanted);
  std::vector<value_ref> slots{at.call, first, extent, chunks};
  for (const auto& v : outside.values) {
    const value_ref x = v.known.held.v;
    slots.push_back(b.c.TypeOf(x) == b.i1 ? b.convert(opcode::zext, x, b.i8) : x);
  }
  for (const auto& [buffer, p] : outside.slots) slots.push_back(p.base);
  b.at(at.entry);
  const value_ref context = b.c.BuildAlloca(b.b, b.c.ArrayType2(b.i64, slots.size()), "context");
  b.at(share);
  for (std::size_t i = 0; i < slots.size(); ++i)
    b.store(slots[i], b.byte_pointer(context, 8 * static_cast<std::int64_t>(i)), 8);
  const value_ref run_function = b.load(b.ptr, b.byte_pointer(exec, offsetof(executor, run)), 8);
  const value_ref self = b.load(b.ptr, b.byte_pointer(exec, offsetof(executor, self)), 8);
  type_ref run_types[] = {b.ptr, b.i64, b.ptr, b.ptr};
  value_ref run_arguments[] = {self, chunks, b.c.GetNamedFunction(b.module, chunk_name.c_str()),
                               context};
  b.c.BuildCall2(b.b, b.c.FunctionType(b.none, run_types, 4, 0), run_function, run_arguments, 4,
                 "");
  poll_cancel();
  b.branch(done);

  b.at(alone);
  std::vector<value_ref> arguments{at.call};
  arguments.insert(arguments.end(), at.data.begin(), at.data.end());
  arguments.push_back(at.workspace);
  for (const auto& v : outside.values) arguments.push_back(v.known.held.v);
  for (const auto& [buffer, p] : outside.slots) arguments.push_back(p.base);
  arguments.insert(arguments.end(), {first, b.add_nsw(first, extent), b.integer(b.i32, 0)});
  const value_ref result = b.call(inner, arguments);
  b.branch(b.compare(int_predicate::eq, result, b.integer(b.i32, call_done)), done, at.cancelled);
  b.at(done);
}

}  // namespace tilewright::backend::llvm
