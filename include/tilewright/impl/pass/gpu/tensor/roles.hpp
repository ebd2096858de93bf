// Roles of warps in the IR, from where loops are pipelined to where warps get them: one asks for boxes, the others use them.
//
//   attribute tilewright.roles, n: a sequence             about tw_roles(F[0], E[0], own): boxes of n statements arrive at F,
//                                                         who has used them arrives at E; `own` is 1 where the memory of the
//                                                         boxes serves for nothing else
//     attribute tilewright.producer: its loop             tw_wait_phase(E[..]), boxes
//     what the consumers do                               tensor_wait about tw_wait_phase(F[..]), products, tw_arrive(E[..])
//
// Threads in it wait for each other by arrivals; no barrier stands inside.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::roles {

using namespace tilewright::ir;
namespace tensors = tensor_copies;

inline constexpr const char *key = "tilewright.roles", *producer_key = "tilewright.producer",
                            *name = "tw_roles";
inline constexpr const char *fewer_name = "tw_fewer_registers", *more_name = "tw_more_registers",
                            *meet_name = "tw_barrier_of";

inline const attribute_node* as_roles(const stmt& s) { return tensors::as_note(s, key); }
/// The statements of one of the two.
inline stmt part_of(const attribute_node& n, bool producer) {
  std::vector<stmt> out;
  for (const stmt& s : as_seq(n.body)->stmts)
    if ((tensors::as_note(s, producer_key) != nullptr) == producer) out.push_back(s);
  return make_seq(std::move(out));
}
inline const buffer& filled(const attribute_node& n) { return n.node->args[0]->buffer; }
inline const buffer& emptied(const attribute_node& n) { return n.node->args[1]->buffer; }
inline bool owns_memory(const attribute_node& n) { return is_int(n.node->args[2], 1); }

/// What of copies and work makes such a statement of a loop.
class maker {
 public:
  /// @param slots   versions of the memory that boxes go to
  /// @param copies  statements, each of which arrives once in a phase
  maker(std::int64_t slots, std::int64_t copies)
      : full_(slots, copies, integer(dtype::boolean, 1), "full"),
        empty_(slots, 1, integer(dtype::boolean, 1), "empty"),
        copies_(copies) {}

  std::vector<buffer> arrivals() const { return {full_.arrivals(), empty_.arrivals()}; }

  /// One step of the producer, whose copies are these.
  stmt fill(const stmt& copies, const expr& step) const {
    return make_seq({empty_.wait_before(step), full_.armed(by_all(copies), step)});
  }
  stmt wait(const stmt& copies, const expr& step) const { return full_.wait(step, by_all(copies)); }
  stmt release(const expr& step) const { return empty_.arrive(step); }

  stmt both(stmt producer, std::vector<stmt> consumers, bool owns_memory) const {
    const expr none = integer(dtype::i32, 0);
    consumers.insert(consumers.begin(),
                     make_attribute(text("one thread"), producer_key, none, std::move(producer)));
    return make_attribute(call(dtype::i32, name,
                               {load(full_.arrivals(), {none}), load(empty_.arrivals(), {none}),
                                integer(dtype::i32, owns_memory ? 1 : 0)}),
                          key, integer(dtype::i32, copies_), make_seq(std::move(consumers)));
  }

 private:
  /// The one thread of the producer that is at work asks for all.
  class unconditional : public mutator {
   public:
    using mutator::mutate;
    stmt mutate(const stmt& s) override {
      const attribute_node* n = tensors::as_note(s, tensors::copies_key);
      return n ? make_attribute(integer(dtype::boolean, 1), n->key, n->value, n->body)
               : mutator::mutate(s);
    }
  };
  static stmt by_all(const stmt& s) { return unconditional{}.mutate(s); }

  tensors::counter full_, empty_;
  std::int64_t copies_;
};

/// Memory of roles that kernels keep: what counts arrivals, and boxes that are filled for a later round of a loop around.
class keeper : public mutator {
 public:
  using mutator::mutate;

  static stmt in_kernel(const stmt& kernel) {
    if (!any_stmt(kernel, [](const stmt& s) { return as_roles(s) != nullptr; })) return kernel;
    keeper k;
    for_each_stmt(kernel, [&](const stmt& s) {
      const attribute_node* n = as_roles(s);
      if (!n) return;
      k.wanted_.insert({filled(*n), emptied(*n)});
      if (!owns_memory(*n)) return;
      for (const buffer& b : stored_buffers(part_of(*n, true))) k.wanted_.insert(b);
    });
    const kernel_nest nest = nest_of(kernel);
    stmt body = k.mutate(nest.body);
    std::vector<buffer> shared = nest.shared;
    shared.insert(shared.end(), k.kept_.begin(), k.kept_.end());
    return with_kernel_body(nest, std::move(shared), std::move(body));
  }

  stmt mutate(const stmt& s) override {
    const allocate_node* n = as_allocate(s);
    if (!n || !wanted_.count(n->buffer)) return mutator::mutate(s);
    kept_.push_back(n->buffer);
    return mutate(n->body);
  }

 private:
  buffer_set wanted_;
  std::vector<buffer> kept_;
};

}  // namespace tilewright::pass::detail::roles
