// Loops bound to threads.
//
// Without barriers inside, threads are iterations that run side by side. With barriers, all threads
// of a block run in lockstep: a statement without a barrier is run by every thread before the next
// one starts, and whatever decides about a barrier (a condition, an extent) must be the same for
// all. A copy that threads make jointly stands between two barriers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tilewright/impl/ir/interpret/interpret_stmt.hpp>

namespace tilewright::ir::detail::interp {

/// Position in `thread_axes`; -1 for a name that is no thread axis.
inline int thread_axis(std::string_view tag) {
  const auto at = std::find(thread_axes.begin(), thread_axes.end(), tag);
  return at == thread_axes.end() ? -1 : static_cast<int>(at - thread_axes.begin());
}

/// One thread of a block in lockstep.
struct thread {
  std::vector<value> slots;
  coordinates place;
  std::uint64_t task = 0;  // since the last barrier
};
using thread_group = std::vector<thread>;

/// What threads do from now on follows what any of them has done.
inline void begin_phase(thread_group& group, machine& m) {
  const std::uint64_t run = ++m.runs;
  for (thread& t : group) t.task = m.tasks.add(m.task, run, nullptr, true);
}

/// Calls `f` as every thread of the group.
template <class F>
void for_each_thread(thread_group& group, machine& m, const F& f) {
  const coordinates place = m.place;
  const std::uint64_t around = m.task;
  for (thread& t : group) {
    std::swap(m.slots, t.slots);
    m.place = t.place;
    m.task = t.task;
    f();
    std::swap(m.slots, t.slots);
  }
  m.place = place;
  m.task = around;
}

/// A value that decides whether a barrier is reached: all threads must agree.
inline std::int64_t uniform(const expr_code* code, thread_group& group, machine& m,
                            const char* what) {
  std::int64_t first = 0;
  bool known = false;
  for_each_thread(group, m, [&] {
    const std::int64_t mine = eval_int(code, m);
    if (known && mine != first)
      throw error("barrier in " + where(m) + " is not reached by all threads: " + what +
                  " differs between them");
    first = mine;
    known = true;
  });
  return first;
}

inline void run_lockstep(const stmt_code& n, thread_group& group, machine& m);

inline void run_thread_axis(const stmt_code& n, thread_group& group, machine& m) {
  const auto axis = static_cast<std::size_t>(n.axis), slot = static_cast<std::size_t>(n.slot);
  const std::int64_t lo = uniform(n.a, group, m, "the start of a loop"),
                     extent = uniform(n.b, group, m, "the extent of a loop");
  if (extent <= 0) return;
  thread_group inner;
  for (thread& t : group) {
    if (t.place[axis] >= 0) {  // the loop around has made these threads
      if (t.place[axis] < lo || t.place[axis] >= lo + extent)
        throw error("barrier in " + where(m) + " is not reached by all threads: a loop bound to " +
                    "their axis is shorter than the loop around it");
      t.slots[slot].i = t.place[axis];
      continue;
    }
    for (std::int64_t i = lo; i < lo + extent; ++i) {
      inner.push_back(t);
      inner.back().place[axis] = i;
      inner.back().slots[slot].i = i;
    }
  }
  if (inner.empty()) return run_lockstep(*n.children[0], group, m);
  begin_phase(inner, m);
  run_lockstep(*n.children[0], inner, m);
  begin_phase(group, m);
}

inline void run_lockstep_loop(const stmt_code& n, thread_group& group, machine& m) {
  if (n.loop->loop == loop_kind::thread_binding) return run_thread_axis(n, group, m);
  const std::int64_t lo = uniform(n.a, group, m, "the start of a loop"),
                     extent = uniform(n.b, group, m, "the extent of a loop");
  if (extent > 1 && (n.loop->loop == loop_kind::vectorized || n.loop->loop == loop_kind::parallel))
    throw error("barrier in " + where(m) + " stands in a loop that is neither serial nor bound");
  for (std::int64_t i = lo; i < lo + extent; ++i) {
    for (thread& t : group) t.slots[static_cast<std::size_t>(n.slot)].i = i;
    run_lockstep(*n.children[0], group, m);
  }
}

inline void run_lockstep_block(const stmt_code& n, thread_group& group, machine& m) {
  if (n.a && !uniform(n.a, group, m, "a predicate")) return;
  const block_node *outer = m.block, *reduction = m.reduction;
  m.block = n.block;
  if (n.block->init) m.reduction = n.block;
  std::vector<bool> first;
  for_each_thread(group, m, [&] { first.push_back(bind_iters(n, m)); });
  for (const buffer_code& c : n.buffers) {
    if (c.source >= 0)
      throw argument_error("block " + n.block->name +
                           " matches buffers around a barrier, which cannot be interpreted");
    enter_buffer(n, c, m);
  }
  if (n.children[0]) {
    std::size_t at = 0;
    for_each_thread(group, m, [&] {
      if (first[at++]) execute(n.children[0], m);
    });
  }
  run_lockstep(*n.children[1], group, m);
  m.block = outer;
  m.reduction = reduction;
}

/// A copy that threads make jointly, between barriers: the first of them makes it all. What decides
/// which one it is must be the same for those who make it.
inline void run_joint_copy(const stmt_code& n, thread_group& group, machine& m) {
  std::map<coordinates, std::vector<std::int64_t>> made;
  begin_phase(group, m);
  for_each_thread(group, m, [&] {
    std::vector<std::int64_t> mine{n.a ? eval_int(n.a, m) : 1};
    for (const iter_code& i : n.iters) mine.push_back(eval_int(i.value, m));
    const auto [first, fresh] = made.try_emplace(along(~n.joint, m.place), mine);
    if (first->second != mine)
      throw error("block " + n.block->name +
                  " is no copy that its threads can make jointly: they " +
                  "do not agree on its place");
    if (fresh) execute(&n, m);
  });
  begin_phase(group, m);
}

inline void run_lockstep(const stmt_code& n, thread_group& group, machine& m) {
  if (n.joint.any()) return run_joint_copy(n, group, m);
  if (!n.has_barrier) return for_each_thread(group, m, [&] { execute(&n, m); });
  switch (n.kind) {
    case stmt_kind::evaluate: return begin_phase(group, m);  // the barrier
    case stmt_kind::seq:
    case stmt_kind::attribute:
      for (const stmt_code* child : n.children) run_lockstep(*child, group, m);
      return;
    case stmt_kind::loop: return run_lockstep_loop(n, group, m);
    case stmt_kind::block_realize: return run_lockstep_block(n, group, m);
    case stmt_kind::if_else:
      if (uniform(n.a, group, m, "a condition"))
        run_lockstep(*n.children[0], group, m);
      else if (n.children[1])
        run_lockstep(*n.children[1], group, m);
      return;
    case stmt_kind::let:
      for_each_thread(group, m, [&] { m.slots[static_cast<std::size_t>(n.slot)] = eval(n.a, m); });
      return run_lockstep(*n.children[0], group, m);
    case stmt_kind::while_loop:
      while (uniform(n.a, group, m, "a condition")) run_lockstep(*n.children[0], group, m);
      return;
    case stmt_kind::allocate:
      for (const buffer_code& c : n.buffers) enter_buffer(n, c, m);
      return run_lockstep(*n.children[0], group, m);
    default: throw internal_error("interpret met a barrier in an unknown statement");
  }
}

/// A loop bound to blockIdx, threadIdx or vthread.
inline void run_bound(const stmt_code& n, machine& m) {
  const auto axis = static_cast<std::size_t>(n.axis), slot = static_cast<std::size_t>(n.slot);
  const std::int64_t lo = eval_int(n.a, m), end = lo + eval_int(n.b, m);
  const coordinates place = m.place;
  const bool is_made = place[axis] >= 0;  // by a loop around, which is bound to the axis, too
  if (is_made && m.in_lockstep && m.has_barriers) {
    if (place[axis] < lo || place[axis] >= end) return;
    m.slots[slot].i = place[axis];
    return execute(n.children[0], m);
  }
  const bool was_in_threads = m.in_threads;
  m.in_threads = true;
  if (n.has_barrier && axis >= block_axes && !m.in_lockstep) {
    m.in_lockstep = true;
    const std::vector<value> slots = m.slots;
    thread_group group{{slots, place, m.task}};
    run_thread_axis(n, group, m);
    m.slots = slots;
    m.in_lockstep = false;
    if (!m.task) m.tasks.clear();
  } else {
    const std::uint64_t around = m.task, run = ++m.runs;
    for (std::int64_t i = lo; i < end; ++i) {
      m.task = m.tasks.add(around, run, n.loop, axis >= block_axes);
      // without barriers each thread has made for itself what threads would share
      if (!is_made) m.place[axis] = i;
      m.slots[slot].i = i;
      execute(n.children[0], m);
    }
    m.task = around;
    if (!around) m.tasks.clear();
  }
  m.place = place;
  m.in_threads = was_in_threads;
}

[[noreturn]] inline void run_lost_barrier(const stmt_code&, machine& m) {
  throw error("barrier in " + where(m) + " stands in no loop bound to threads of a block");
}

}  // namespace tilewright::ir::detail::interp
