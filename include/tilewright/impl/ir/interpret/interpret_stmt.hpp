// Statement half of the interpreter: flattened nodes and the functions that run them.
#pragma once

#include <string>
#include <vector>

#include <tilewright/impl/ir/interpret/interpret_access.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>

namespace tilewright::ir::detail::interp {

struct stmt_code;
using executor = void (*)(const stmt_code&, machine&);
using storer = void (*)(const bound_buffer&, const std::vector<const expr_code*>&, const value&,
                        machine&);

/// Binding of one block iteration variable.
struct iter_code {
  int slot = -1;
  const expr_code* value = nullptr;
  const expr_code* lo = nullptr;
  const expr_code* extent = nullptr;
  bool reduce = false;
};

/// How to set up a buffer when its scope is entered: `data` comes from storage or from `source`.
struct buffer_code {
  int slot = -1;
  const buffer_node* node = nullptr;
  std::vector<const expr_code*> shape, strides;  // strides empty: contiguous
  int source = -1;                               // match buffer: slot it aliases
  std::vector<const expr_code*> origin, region;  // of the region in the source, one per dimension
  const std::vector<const loop_node*>* private_to = nullptr;
};

struct stmt_code {
  executor run = nullptr;
  stmt_kind kind = stmt_kind::seq;
  const loop_node* loop = nullptr;
  int axis = -1;                 // thread_binding: its coordinate
  bool has_barrier = false;      // somewhere inside
  axis_set joint;                // a block: the threads along these copy it jointly
  const expr_code* a = nullptr;  // loop min, condition, value, predicate
  const expr_code* b = nullptr;  // loop extent
  int slot = -1;
  storer store = nullptr;
  std::vector<const expr_code*> indices;
  std::vector<const stmt_code*> children;  // null where there is none
  const block_node* block = nullptr;
  std::vector<iter_code> iters;
  std::vector<buffer_code> buffers;
  bool check_unwritten = false, check_races = false;
  const buffer_node* added_to = nullptr;  // by a block or a statement that adds atomically
};

inline void execute(const stmt_code* code, machine& m) { code->run(*code, m); }

inline void run_seq(const stmt_code& n, machine& m) {
  for (const stmt_code* child : n.children) execute(child, m);
}

/// What a block or a statement adds to atomically; null where it doesn't.
inline const buffer_node* added_to(const block_node& b) {
  return adds_atomically(b) ? only_addition(b.body)->buffer.get() : nullptr;
}
inline const buffer_node* added_to(const attribute_node& n) {
  const store_node* adds = n.key == atomic_note ? only_addition(n.body) : nullptr;
  return adds ? adds->buffer.get() : nullptr;
}

inline void run_addition(const stmt_code& n, machine& m) {
  const buffer_node* const around = m.added_to;
  m.added_to = n.added_to;
  for (const stmt_code* child : n.children) execute(child, m);
  m.added_to = around;
}

inline void run_loop(const stmt_code& n, machine& m) {
  const std::int64_t lo = eval_int(n.a, m), end = lo + eval_int(n.b, m);
  for (std::int64_t i = lo; i < end; ++i) {
    m.slots[static_cast<std::size_t>(n.slot)].i = i;
    execute(n.children[0], m);
  }
}

/// Iterations that run side by side: one after another here, each as a task of its own.
inline void run_concurrent(const stmt_code& n, machine& m) {
  const std::int64_t lo = eval_int(n.a, m), end = lo + eval_int(n.b, m);
  const std::uint64_t around = m.task, run = ++m.runs;
  for (std::int64_t i = lo; i < end; ++i) {
    m.task = m.tasks.add(around, run, n.loop);
    m.slots[static_cast<std::size_t>(n.slot)].i = i;
    execute(n.children[0], m);
  }
  m.task = around;
  if (!around) m.tasks.clear();
}

inline void run_store_stmt(const stmt_code& n, machine& m) {
  const value v = eval(n.a, m);
  n.store(visible(n.slot, m), n.indices, v, m);
}

inline void run_if(const stmt_code& n, machine& m) {
  if (eval_int(n.a, m))
    execute(n.children[0], m);
  else if (n.children[1])
    execute(n.children[1], m);
}

inline void run_let(const stmt_code& n, machine& m) {
  m.slots[static_cast<std::size_t>(n.slot)] = eval(n.a, m);
  execute(n.children[0], m);
}

inline void run_while(const stmt_code& n, machine& m) {
  while (eval_int(n.a, m)) execute(n.children[0], m);
}

inline void run_evaluate(const stmt_code& n, machine& m) { eval(n.a, m); }

inline std::vector<std::int64_t> contiguous(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// Number of elements between the lowest and the highest addressed one; sets `lowest`.
inline std::int64_t measure(bound_buffer& b) {
  std::int64_t lo = 0, hi = 0;
  for (std::size_t d = 0; d < b.shape.size(); ++d) {
    if (b.shape[d] <= 0) return b.lowest = 0, 0;
    const std::int64_t reach = (b.shape[d] - 1) * b.strides[d];
    (reach < 0 ? lo : hi) += reach;
  }
  b.lowest = lo;
  return hi - lo + 1;
}

inline std::vector<std::int64_t> values_of(const std::vector<const expr_code*>& codes, machine& m) {
  std::vector<std::int64_t> out;
  out.reserve(codes.size());
  for (const expr_code* c : codes) out.push_back(eval_int(c, m));
  return out;
}

inline void enter_alias(const buffer_code& c, bound_buffer& b, machine& m) {
  const bound_buffer& from = visible(c.source, m);
  std::int64_t offset = 0;
  const std::vector<std::int64_t> origin = values_of(c.origin, m), region = values_of(c.region, m);
  for (std::size_t d = 0; d < origin.size(); ++d) {
    if (origin[d] < 0 || origin[d] + region[d] > from.shape[d])
      throw error("match buffer " + c.node->name + " in " + where(m) + " reaches out of " +
                  from.node->name);
    offset += origin[d] * from.strides[d];
  }
  b.shape = values_of(c.shape, m);
  if (c.strides.empty()) {
    // dimensions are matched from the right; leading ones of the source are single points
    const std::size_t skip = from.strides.size() - b.shape.size();
    b.strides.assign(from.strides.begin() + static_cast<std::ptrdiff_t>(skip), from.strides.end());
  } else {
    b.strides = values_of(c.strides, m);
  }
  b.data = from.data + offset * bytes(c.node->type);
  b.lowest = from.lowest - offset;
  b.written = from.written;
  b.shadows = from.shadows;
  b.private_to = from.private_to;
  b.viewed = from.viewed ? from.viewed : from.node;
}

inline void enter_buffer(const stmt_code& n, const buffer_code& c, machine& m) {
  bound_buffer& b = m.buffers[static_cast<std::size_t>(c.slot)];
  b.node = c.node;
  b.copies.clear();
  b.private_to = c.private_to;
  if (c.source >= 0) return enter_alias(c, b, m);
  b.shape = values_of(c.shape, m);
  b.strides = c.strides.empty() ? contiguous(b.shape) : values_of(c.strides, m);
  const auto count = static_cast<std::size_t>(measure(b));
  b.storage.assign(count * static_cast<std::size_t>(bytes(c.node->type)), std::byte{0});
  b.data = b.storage.data() - b.lowest * bytes(c.node->type);
  if (n.check_unwritten) b.written_storage.assign(count, 0);
  b.written = n.check_unwritten ? b.written_storage.data() : nullptr;
  if (n.check_races) b.shadow_storage.assign(count, shadow{});
  b.shadows = n.check_races ? b.shadow_storage.data() : nullptr;
}

inline void run_allocate(const stmt_code& n, machine& m) {
  for (const buffer_code& c : n.buffers) enter_buffer(n, c, m);
  execute(n.children[0], m);
}

/// Gives the iteration variables their values; true when the block is to be initialized.
inline bool bind_iters(const stmt_code& n, machine& m) {
  // values are terms of the surroundings, never of the block's own variables
  for (const iter_code& i : n.iters) m.slots[static_cast<std::size_t>(i.slot)] = eval(i.value, m);
  bool first = true;
  for (std::size_t k = 0; k < n.iters.size(); ++k) {
    const iter_code& i = n.iters[k];
    const std::int64_t at = m.slots[static_cast<std::size_t>(i.slot)].i, lo = eval_int(i.lo, m);
    if (at < lo || at >= lo + eval_int(i.extent, m))
      throw error("iteration variable " + n.block->iters[k].var->name + " = " + std::to_string(at) +
                  " of " + where(m) + " is outside its domain");
    first = first && (!i.reduce || at == lo);
  }
  return first;
}

inline void run_block(const stmt_code& n, machine& m) {
  if (n.a && !eval_int(n.a, m)) return;
  const block_node *outer = m.block, *reduction = m.reduction;
  m.block = n.block;
  if (n.block->init) m.reduction = n.block;
  const bool first = bind_iters(n, m);
  for (const buffer_code& c : n.buffers) enter_buffer(n, c, m);
  if (n.children[0] && first) execute(n.children[0], m);
  const buffer_node* const added_to = m.added_to;
  m.added_to = n.added_to;
  execute(n.children[1], m);
  m.added_to = added_to;
  m.block = outer;
  m.reduction = reduction;
}

}  // namespace tilewright::ir::detail::interp
