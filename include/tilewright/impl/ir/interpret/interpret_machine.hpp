// State of the interpreter: values, buffers, the iterations that run side by side, and the
// flattened expressions.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tilewright/ir/external.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir::detail::interp {

/// A scalar: `i` for integers and booleans (wrapped to their type), `f` for f16, bf16 and f32, `d`
/// for f64.
union value {
  std::int64_t i;
  double d;
  float f;
};

/// One iteration of a loop whose iterations are concurrent, within such iterations of the loops
/// around it. Two tasks of one parent are concurrent when they are of the same loop.
struct task {
  std::uint64_t parent = 0;       // 0: none
  std::uint64_t loop = 0;         // number of the run of the loop
  int depth = 0;                  // number of tasks around
  const loop_node* of = nullptr;  // null for threads that run from barrier to barrier
  bool is_thread = false;         // of a loop bound to threadIdx
};

/// The tasks of the outermost concurrent loop that runs now. Numbers are never used twice, so that
/// what an element remembers of an earlier loop is known to be over.
class task_tree {
 public:
  void clear() {
    first_ += tasks_.size();
    tasks_.clear();
  }
  std::uint64_t add(std::uint64_t parent, std::uint64_t loop, const loop_node* of,
                    bool is_thread = false) {
    tasks_.push_back({parent, loop, parent ? at(parent).depth + 1 : 0, of, is_thread});
    return first_ + tasks_.size() - 1;
  }
  bool known(std::uint64_t number) const { return number >= first_; }
  const task& at(std::uint64_t number) const { return tasks_[number - first_]; }
  std::uint64_t ancestor(std::uint64_t number, int depth) const {
    while (at(number).depth > depth) number = at(number).parent;
    return number;
  }
  /// The ancestor of `a` that runs beside an ancestor of `b`; 0 when a and b follow each other.
  std::uint64_t beside(std::uint64_t a, std::uint64_t b) const {
    const int depth = std::min(at(a).depth, at(b).depth);
    a = ancestor(a, depth);
    b = ancestor(b, depth);
    if (a == b) return 0;
    for (; at(a).parent != at(b).parent; b = at(b).parent) a = at(a).parent;
    return at(a).loop == at(b).loop ? a : 0;
  }

 private:
  std::vector<task> tasks_;
  std::uint64_t first_ = 1;
};

/// Last writer and readers of an element, for the race check.
struct shadow {
  std::uint64_t writer = 0, reader = 0;  // tasks
  bool many = false;                     // reader stands for several iterations of its loop
  bool adds = false;                     // what the writer wrote was an atomic addition
  bool many_add = false;                 // writer stands for several iterations that add
};

/// Coordinates in blockIdx, threadIdx and vthread; -1 where no such loop runs.
inline constexpr std::array<std::string_view, 10> thread_axes{
    "blockIdx.x",  "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y",
    "threadIdx.z", "vthread.x",  "vthread.y",  "vthread.z",   "vthread"};
inline constexpr std::size_t block_axes = 3;  // the first ones are those of blockIdx
using coordinates = std::array<std::int64_t, thread_axes.size()>;
inline constexpr coordinates nowhere{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
using axis_set = std::bitset<thread_axes.size()>;

/// The coordinates on some of the axes.
inline coordinates along(const axis_set& axes, coordinates place) {
  for (std::size_t i = 0; i < place.size(); ++i)
    if (!axes[i]) place[i] = -1;
  return place;
}

struct bound_buffer {
  bound_buffer() = default;
  bound_buffer(bound_buffer&&) = default;
  bound_buffer& operator=(bound_buffer&&) = default;

  const buffer_node* node = nullptr;
  const buffer_node* viewed = nullptr;  // of a match buffer: what it shows a part of
  std::byte* data = nullptr;            // element 0
  std::vector<std::int64_t> shape, strides;
  std::int64_t lowest = 0;  // smallest offset of an element, <= 0; index 0 of the two tables
  std::vector<std::byte> storage;
  std::vector<unsigned char> written_storage;
  std::vector<shadow> shadow_storage;
  unsigned char* written = nullptr;
  shadow* shadows = nullptr;
  axis_set owners;  // threads that differ on these have memory of their own
  // of what blocks allocate, where no barriers tell that threads mean to share it
  const std::vector<const loop_node*>* private_to = nullptr;
  // Memory of the blocks and threads that have touched the buffer, when not all share it.
  std::map<coordinates, std::unique_ptr<bound_buffer>> copies;
};

struct machine {
  std::vector<value> slots;
  std::vector<bound_buffer> buffers;
  const block_node* block = nullptr;      // innermost, for messages
  const block_node* reduction = nullptr;  // innermost one with an init
  const buffer_node* added_to = nullptr;  // by the atomic addition that runs now
  task_tree tasks;
  std::uint64_t task = 0;  // that runs now; 0 outside concurrent loops
  std::uint64_t runs = 0;  // of concurrent loops, so far
  coordinates place = nowhere;
  bool in_threads = false;    // some coordinate is set
  bool in_lockstep = false;   // threads run from barrier to barrier
  bool has_barriers = false;  // the function has some, beside those of joint copies
};

struct expr_code;
using evaluator = value (*)(const expr_code&, machine&);

/// Term of an affine integer expression: coefficient * (slot or sub-expression).
struct affine_term {
  std::int64_t coefficient = 1;
  int slot = -1;
  const expr_code* code = nullptr;
};

struct expr_code {
  evaluator run = nullptr;
  const expr_code* a = nullptr;
  const expr_code* b = nullptr;
  const expr_code* c = nullptr;
  value constant{};
  int slot = -1;  // variable or buffer
  double (*real_function)(double) = nullptr;
  float (*float_function)(float) = nullptr;
  std::vector<affine_term> terms;
  std::vector<const expr_code*> indices;
  std::shared_ptr<const external_function> external;
  std::vector<dtype> types;  // of what an external function is given
};

inline value eval(const expr_code* code, machine& m) { return code->run(*code, m); }
inline std::int64_t eval_int(const expr_code* code, machine& m) { return code->run(*code, m).i; }

inline value of_int(std::int64_t i) {
  value v;
  v.i = i;
  return v;
}
inline value of_float(float f) {
  value v;
  v.f = f;
  return v;
}
inline value of_double(double d) {
  value v;
  v.d = d;
  return v;
}

inline std::string where(const machine& m) {
  return m.block && m.block->name != "root" ? "block " + m.block->name
                                            : std::string("the function body");
}

/// How a type is held in a `value`.
template <dtype D>
using held_t = std::conditional_t<D == dtype::f64, double,
                                  std::conditional_t<is_float(D), float, std::int64_t>>;

template <class T>
T get(const value& v) {
  if constexpr (std::is_same_v<T, double>)
    return v.d;
  else if constexpr (std::is_same_v<T, float>)
    return v.f;
  else
    return v.i;
}
template <class T>
value put(T x) {
  if constexpr (std::is_same_v<T, double>)
    return of_double(x);
  else if constexpr (std::is_same_v<T, float>)
    return of_float(x);
  else
    return of_int(x);
}

}  // namespace tilewright::ir::detail::interp
