#pragma once

#include <utility>
#include <vector>

#include <tilewright/impl/pass/gpu/shared_alignment.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/pass/gpu/plan_shared_memory.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::shared_memory {

using namespace tilewright::ir;

/// Memory handed out in the order of nesting: what stands inside an allocation lies behind it.
class planner : public mutator {
 public:
  using mutator::mutate;

  buffer mutate(const buffer& b) override {
    const auto found = placed_.find(b);
    return found == placed_.end() ? b : found->second;
  }

  stmt mutate(const stmt& s) override {
    const allocate_node* n = as_allocate(s);
    if (!n || storage_rank(n->buffer->scope) != 1) return mutator::mutate(s);
    const std::int64_t before = top_;
    place(n->buffer);
    stmt body = mutate(n->body);
    top_ = before;
    return body;
  }

  void place(const buffer& b) {
    const std::int64_t count = constant_size(b);
    if (count < 0)
      throw build_error("shared buffer " + b->name +
                        " is allocated with an extent that is no constant; bind all extents");
    buffer_node node = *b;
    const std::int64_t unit = shared_alignment(*b);
    top_ = (top_ + unit - 1) / unit * unit;
    node.elem_offset = integer(dtype::i64, top_ / bytes(b->type));
    top_ += (count * bytes(b->type) + unit - 1) / unit * unit;
    const buffer out(new buffer_node(std::move(node)));
    placed_[b] = out;
    all_.push_back(out);
  }

  const std::vector<buffer>& all() const { return all_; }

 private:
  buffer_map placed_;
  std::vector<buffer> all_;
  std::int64_t top_ = 0;  // bytes
};

}  // namespace tilewright::pass::detail::shared_memory

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function plan_shared_memory(const ir::function& f) {
  ir::function out = f;
  out.body = rewrite_kernels(f.body, [](const ir::stmt& kernel) {
    const kernel_nest nest = nest_of(kernel);
    detail::shared_memory::planner plan;
    for (const ir::buffer& b : nest.shared) plan.place(b);
    ir::stmt body = plan.mutate(nest.body);
    return with_kernel_body(nest, plan.all(), std::move(body));
  });
  return out;
}

}  // namespace tilewright::pass
