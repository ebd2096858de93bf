// Loads and stores, and what the interpreter refuses about them: accesses out of bounds, reads of
// memory that nothing wrote, races, and reads of what another thread or block keeps for itself.
#pragma once

#include <string>
#include <vector>

#include <tilewright/impl/ir/interpret/interpret_convert.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir::detail::interp {

inline std::string position(const std::vector<const expr_code*>& indices, machine& m) {
  std::string text = "[";
  for (std::size_t d = 0; d < indices.size(); ++d)
    text += (d ? ", " : "") + std::to_string(eval_int(indices[d], m));
  return text + "]";
}

[[noreturn]] inline void refuse_access(const std::string& what, const bound_buffer& b,
                                       const std::vector<const expr_code*>& indices, machine& m) {
  std::string shape;
  for (std::size_t d = 0; d < b.shape.size(); ++d)
    shape += (d ? ", " : "") + std::to_string(b.shape[d]);
  throw error(what + " " + b.node->name + position(indices, m) + " in " + where(m) +
              "; the shape of " + b.node->name + " is (" + shape + ")");
}

/// Offset of an element from element 0, in elements, after the bounds check.
inline std::int64_t locate(const bound_buffer& b, const std::vector<const expr_code*>& indices,
                           machine& m) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const std::int64_t i = eval_int(indices[d], m);
    if (i < 0 || i >= b.shape[d]) refuse_access("access out of bounds:", b, indices, m);
    offset += i * b.strides[d];
  }
  return offset;
}

/// The memory that a buffer has for the block or thread that runs now.
inline bound_buffer& visible(bound_buffer& b, machine& m) {
  if (b.owners.none() || !m.in_threads) return b;
  std::unique_ptr<bound_buffer>& own = b.copies[along(b.owners, m.place)];
  if (!own) {
    own = std::make_unique<bound_buffer>();
    own->node = b.node;
    own->shape = b.shape;
    own->strides = b.strides;
    own->lowest = b.lowest;
    own->storage.assign(b.storage.size(), std::byte{0});
    own->data = own->storage.data() - b.lowest * bytes(b.node->type);
    if (b.written) own->written_storage.assign(b.written_storage.size(), 0);
    own->written = b.written ? own->written_storage.data() : nullptr;
    if (b.shadows) own->shadow_storage.assign(b.shadow_storage.size(), shadow{});
    own->shadows = b.shadows ? own->shadow_storage.data() : nullptr;
    own->private_to = b.private_to;
  }
  return *own;
}
inline bound_buffer& visible(int slot, machine& m) {
  return visible(m.buffers[static_cast<std::size_t>(slot)], m);
}

[[noreturn]] inline void refuse_unwritten(const bound_buffer& all, std::int64_t offset,
                                          const std::vector<const expr_code*>& indices,
                                          machine& m) {
  const auto element = static_cast<std::size_t>(offset - all.lowest);
  bool elsewhere = all.owners.any() && m.in_threads && all.written && all.written[element];
  for (const auto& [place, copy] : all.copies)
    elsewhere = elsewhere || (copy->written && copy->written[element]);
  if (!elsewhere) refuse_access("read of unwritten memory:", all, indices, m);
  const bool thread = (all.owners >> block_axes).any();
  const std::string whose = thread ? "thread" : "block of threads";
  refuse_access("execution scope: another " + whose + " wrote what is read; scope \"" +
                    all.node->scope + "\" belongs to one " + whose + ":",
                all, indices, m);
}

/// True for what a reduction block, or a block inside of it, updates: threads that share a reduction
/// combine their parts when it is lowered.
inline bool is_reduced(const bound_buffer& b, const machine& m) {
  if (!m.reduction) return false;
  return support::any(m.reduction->writes, [&](const buffer_region& w) {
    return w.buffer.get() == b.node || w.buffer.get() == b.viewed;
  });
}

/// Whether iterations of the loop may touch an element of what a block allocates: each has its own,
/// and none finds what others wrote.
inline bool has_its_own(const bound_buffer& b, const loop_node& loop, bool finds) {
  return b.private_to && !finds && support::contains(*b.private_to, &loop);
}

/// Refuses an access beside the task that `other` belongs to or, with `many`, beside its siblings;
/// `finds`: it reads what the other one wrote.
inline void check_race(std::uint64_t other, bool many, bool finds, const bound_buffer& b,
                       const std::vector<const expr_code*>& indices, machine& m) {
  if (!m.tasks.known(other) || (other == m.task && !many)) return;
  const int depth = m.tasks.at(other).depth;
  const bool among_many =
      many && m.tasks.at(m.task).depth >= depth && m.tasks.ancestor(m.task, depth) == other;
  const std::uint64_t beside = among_many ? other : m.tasks.beside(other, m.task);
  if (!beside) return;
  const task& side = m.tasks.at(beside);
  if ((side.is_thread && is_reduced(b, m)) || (side.of && has_its_own(b, *side.of, finds))) return;
  refuse_access("race: two parallel iterations touch", b, indices, m);
}

/// Notes an addition by the task that runs now, beside those that others have made.
inline void note_addition(shadow& s, const machine& m) {
  if (s.adds && m.tasks.known(s.writer)) {
    if (const std::uint64_t one_of_many = m.tasks.beside(s.writer, m.task)) {
      s.writer = one_of_many;
      s.many_add = true;
      return;
    }
    const int depth = m.tasks.at(s.writer).depth;
    if (s.many_add && m.tasks.at(m.task).depth >= depth &&
        m.tasks.ancestor(m.task, depth) == s.writer)
      return;
  }
  s.writer = m.task;
  s.many_add = false;
  s.adds = true;
}

inline void note_read(const bound_buffer& b, std::int64_t offset,
                      const std::vector<const expr_code*>& indices, machine& m) {
  if (!m.task) return;
  shadow& s = b.shadows[offset - b.lowest];
  // what an atomic addition reads, it writes in the same step
  const bool adds = b.node == m.added_to;
  if (!(adds && s.adds)) check_race(s.writer, s.many_add, true, b, indices, m);
  if (adds) return;
  if (s.reader == m.task) return;
  if (m.tasks.known(s.reader)) {
    if (const std::uint64_t one_of_many = m.tasks.beside(s.reader, m.task)) {
      s.reader = one_of_many;
      s.many = true;
      return;
    }
    // a reader of the same run of the loop adds nothing to many readers
    const int depth = m.tasks.at(s.reader).depth;
    if (s.many && m.tasks.at(m.task).depth >= depth && m.tasks.ancestor(m.task, depth) == s.reader)
      return;
  }
  s.reader = m.task;
  s.many = false;
}

inline void note_write(const bound_buffer& b, std::int64_t offset,
                       const std::vector<const expr_code*>& indices, machine& m) {
  if (!m.task) return;
  shadow& s = b.shadows[offset - b.lowest];
  const bool adds = b.node == m.added_to;
  if (!(adds && s.adds)) check_race(s.writer, s.many_add, false, b, indices, m);
  check_race(s.reader, s.many, false, b, indices, m);
  if (adds) return note_addition(s, m);
  s.writer = m.task;
  s.adds = s.many_add = false;
}

template <dtype D>
value run_load(const expr_code& n, machine& m) {
  const bound_buffer& b = visible(n.slot, m);
  const std::int64_t offset = locate(b, n.indices, m);
  if (b.written && !b.written[offset - b.lowest])
    refuse_unwritten(m.buffers[static_cast<std::size_t>(n.slot)], offset, n.indices, m);
  if (b.shadows) note_read(b, offset, n.indices, m);
  return read_element<D>(b.data + offset * bytes(D));
}

template <dtype D>
void run_store(const bound_buffer& b, const std::vector<const expr_code*>& indices, const value& v,
               machine& m) {
  const std::int64_t offset = locate(b, indices, m);
  if (b.written) b.written[offset - b.lowest] = 1;
  if (b.shadows) note_write(b, offset, indices, m);
  write_element<D>(b.data + offset * bytes(D), v);
}

}  // namespace tilewright::ir::detail::interp
