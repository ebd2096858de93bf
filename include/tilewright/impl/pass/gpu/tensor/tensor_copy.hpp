// Copies of boxes by the device's copy engine, as statements.
//
//   attribute tensor_copy: loops               a copy that is left to the engine (pass/gpu/spread_copies.hpp)
//   attribute tensor_copies, n: boxes          the same as boxes of n bytes altogether; the attribute is about the thread
//                                              that asks for them, as a condition (pass/gpu/tensor/copy_tensors.hpp)
//   attribute tensor_box: loops                one of them, about tw_copy_tensor(S[..], A[..], box, swizzle): its first
//                                              element in shared memory, where it begins in the tensor, its sides from
//                                              the outermost one on; once it is known what counts its bytes, about
//                                              tw_copy_tensor(S[..], F[..], A[..], box, swizzle)
//                                              tw_store_tensor(S[..], C[..], box, swizzle) is the same the other way
//   tw_commit_stores(), tw_wait_stores(n)      such stores since the last one are a group; all but n have read shared memory
//   tw_expect_bytes(F[..], n)                  one arrival; n bytes more are waited for
//   attribute tensor_wait: loops               about tw_wait_phase(F[..], parity): what has landed when it returns
//   tw_arrive(E[..])                           one arrival: what was in memory is no longer needed
//
// Loops below these say what is copied, and are not executed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::tensor_copies {

using namespace tilewright::ir;

inline constexpr const char *asked_key = "tensor_copy", *copies_key = "tensor_copies",
                            *box_key = "tensor_box", *wait_key = "tensor_wait";
inline constexpr const char *copy_name = "tw_copy_tensor", *store_name = "tw_store_tensor",
                            *commit_name = "tw_commit_stores", *wait_stores_name = "tw_wait_stores",
                            *expect_name = "tw_expect_bytes", *wait_name = "tw_wait_phase",
                            *init_name = "tw_init_arrivals", *drop_name = "tw_drop_arrivals",
                            *fence_init_name = "tw_fence_arrivals", *fence_name = "tw_fence_async",
                            *arrive_name = "tw_arrive";

/// Shared memory whose rows the engine swizzles.
inline constexpr const char* boxed_scope = "shared.boxed";

inline const attribute_node* as_note(const stmt& s, const char* key) {
  const attribute_node* n = as_attribute(s);
  return n && n->key == key ? n : nullptr;
}
/// Whether what stands below is a description, for whoever asks about memory.
inline bool is_description(const stmt& s) { return as_note(s, box_key) || as_note(s, wait_key); }

inline bool is_call(const stmt& s, const char* name) {
  const evaluate_node* n = as_evaluate(s);
  return n && n->value->op == op::call && n->value->name == name;
}
/// Whether a thread waits there for a phase of what counts arrivals.
inline bool is_wait(const stmt& s) { return as_note(s, wait_key) || is_call(s, wait_name); }

inline bool has_copy(const stmt& s) {
  return any_stmt(s, [](const stmt& x) { return as_note(x, copies_key) != nullptr; });
}

/// What counts the bytes of boxes: barriers in shared memory, taken one after the other.
class counter {
 public:
  /// @param slots   phases that are under way at once
  /// @param copies  statements, each of which arrives once in a phase
  counter(std::int64_t slots, std::int64_t copies, expr elected,
          const std::string& name = "arrivals")
      : arrivals_(make_buffer(name, dtype::u64, {integer(dtype::i32, slots)}, "shared")),
        slots_(slots),
        copies_(copies),
        elected_(std::move(elected)) {}

  const buffer& arrivals() const { return arrivals_; }

  /// Before any copy; threads have met then, and what they stored to shared memory is known to the engine.
  stmt begin() const {
    std::vector<stmt> out = each_slot(init_name, {integer(dtype::i32, copies_)});
    out.push_back(make_evaluate(call(dtype::i32, fence_init_name, {})));
    return make_seq({by_one(make_seq(std::move(out))),
                     make_evaluate(call(dtype::i32, fence_name, {})), barrier()});
  }
  /// Where threads have met behind their last wait; the memory may be used for something else then.
  stmt end() const { return by_one(make_seq(each_slot(drop_name, {}))); }

  /// The statement, with its boxes counted in the phase of the iteration.
  stmt armed(const stmt& s, const expr& iteration) const {
    return on_copies(s, [&](const attribute_node& n) {
      std::vector<stmt> out{
          make_evaluate(call(dtype::i32, expect_name, {at(iteration), cast(dtype::i32, n.value)}))};
      out.push_back(boxes_with(n.body, at(iteration)));
      return by(n.node, make_seq(std::move(out)));
    });
  }
  /// Waits for the boxes of an iteration, which the statement copies.
  stmt wait(const expr& iteration, const stmt& copies) const {
    const stmt landed = on_copies(
        copies, [](const attribute_node& n) { return by(n.node, without_boxes(n.body)); });
    return make_attribute(call(dtype::i32, wait_name, {at(iteration), parity(iteration, 0)}),
                          wait_key, integer(dtype::i32, 0), landed);
  }

  /// Waits for arrivals in the iteration that had the same slot before; in the first round nobody has to arrive.
  stmt wait_before(const expr& iteration) const {
    return make_evaluate(call(dtype::i32, wait_name, {at(iteration), parity(iteration, slots_)}));
  }
  stmt arrive(const expr& iteration) const {
    return make_evaluate(call(dtype::i32, arrive_name, {at(iteration)}));
  }

 private:
  template <class F>
  class copies_mutator : public mutator {
   public:
    explicit copies_mutator(const F& f) : f_(f) {}
    using mutator::mutate;
    stmt mutate(const stmt& s) override {
      const attribute_node* n = as_note(s, copies_key);
      return n ? f_(*n) : mutator::mutate(s);
    }

   private:
    const F& f_;
  };
  template <class F>
  static stmt on_copies(const stmt& s, const F& f) {
    return copies_mutator<F>(f).mutate(s);
  }

  static stmt boxes_with(const stmt& s, const expr& counted) {
    if (const seq_node* seq = as_seq(s)) {
      std::vector<stmt> out;
      for (const stmt& child : seq->stmts) out.push_back(boxes_with(child, counted));
      return make_seq(std::move(out));
    }
    const attribute_node& n = *as_note(s, box_key);
    std::vector<expr> arguments = n.node->args;
    arguments.insert(arguments.begin() + 1, counted);
    return make_attribute(call(dtype::i32, copy_name, std::move(arguments)), box_key, n.value,
                          n.body);
  }
  static stmt without_boxes(const stmt& s) {
    if (const seq_node* seq = as_seq(s)) {
      std::vector<stmt> out;
      for (const stmt& child : seq->stmts) out.push_back(without_boxes(child));
      return make_seq(std::move(out));
    }
    return as_note(s, box_key)->body;
  }

  static stmt by(const expr& elected, stmt s) {
    return is_int(elected, 1) ? s : make_if(elected, std::move(s));
  }
  stmt by_one(stmt s) const { return by(elected_, std::move(s)); }

  /// Of the phase of an iteration so many steps before.
  expr parity(const expr& iteration, std::int64_t before) const {
    const dtype t = iteration.type();
    const expr round = floordiv(iteration + integer(t, before), integer(t, slots_));
    return arith::simplify(cast(dtype::i32, floormod(round, integer(t, 2))));
  }
  expr at(const expr& iteration) const {
    const expr slot = floormod(iteration, integer(iteration.type(), slots_));
    return load(arrivals_, {arith::simplify(slot)});
  }
  std::vector<stmt> each_slot(const char* name, const std::vector<expr>& more) const {
    std::vector<stmt> out;
    for (std::int64_t i = 0; i < slots_; ++i) {
      std::vector<expr> arguments{load(arrivals_, {integer(dtype::i32, i)})};
      arguments.insert(arguments.end(), more.begin(), more.end());
      out.push_back(make_evaluate(call(dtype::i32, name, std::move(arguments))));
    }
    return out;
  }

  buffer arrivals_;
  std::int64_t slots_, copies_;
  expr elected_;
};

/// Statements that copy, each of which arrives once; null for one whose copies stand in a loop.
inline std::int64_t copies_in(const stmt& s) {
  std::int64_t out = 0;
  for_each_stmt(s, [&](const stmt& x) {
    if (as_note(x, copies_key)) ++out;
  });
  return out;
}
/// The first of them; there is one.
inline const attribute_node* first_copy(const stmt& s) {
  const attribute_node* out = nullptr;
  for_each_stmt(s, [&](const stmt& x) {
    if (!out) out = as_note(x, copies_key);
  });
  return out;
}

/// Copies that no pipeline has taken: threads wait for each where it stands.
class waiter : public mutator {
 public:
  using mutator::mutate;
  stmt mutate(const stmt& s) override {
    const attribute_node* n = as_note(s, copies_key);
    if (!n) return mutator::mutate(s);
    const counter one(1, 1, n->node);
    const expr first = integer(dtype::i32, 0);
    return make_allocate(one.arrivals(), make_seq({one.begin(), one.armed(s, first),
                                                   one.wait(first, s), barrier(), one.end()}));
  }
};

}  // namespace tilewright::pass::detail::tensor_copies
