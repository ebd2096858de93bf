#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <tilewright/pass/plan_workspace.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::workspace {

using namespace tilewright::ir;

inline std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Memory handed out in the order of nesting: what stands inside an allocation lies behind it.
struct arena {
  std::int64_t top = 0;    // bytes in use
  std::int64_t peak = 0;   // bytes
  std::int64_t stack = 0;  // bytes of stack slots
};

class planner : public mutator {
 public:
  explicit planner(const workspace_options& options) : options_(options) {}
  using mutator::mutate;

  buffer mutate(const buffer& b) override {
    const auto found = placed_.find(b);
    return found == placed_.end() ? b : found->second;
  }

  stmt mutate(const stmt& s) override {
    if (const allocate_node* n = as_allocate(s)) return place(*n);
    const loop_node* loop = as_loop(s);
    if (!loop || loop->loop != loop_kind::parallel || in_parallel_) return mutator::mutate(s);
    in_parallel_ = true;
    const std::int64_t peak = std::exchange(worker_, arena{}).peak;
    stmt out = mutator::mutate(s);
    worker_.peak = std::max(worker_.peak, peak);
    in_parallel_ = false;
    return out;
  }

  std::int64_t shared_bytes() const { return shared_.peak; }
  std::int64_t worker_bytes() const {
    // workers a whole page apart would compete for the same cache sets
    return worker_.peak == 0 ? 0 : worker_.peak % 4096 == 0 ? worker_.peak + 64 : worker_.peak;
  }

 private:
  stmt place(const allocate_node& n) {
    const std::int64_t count = constant_size(n.buffer);
    if (count < 0)
      throw build_error("buffer " + n.buffer->name +
                        " is allocated with an extent that is no constant; bind all extents");
    const std::int64_t size = round_up(count * bytes(n.buffer->type), 64);
    arena& where = in_parallel_ ? worker_ : shared_;
    buffer_node out = *n.buffer;
    const std::int64_t before = where.top;
    const bool small = size <= (out.scope == "local" ? 4 : 1) * options_.stack_bytes;
    if (small && where.stack + size <= options_.stack_total) {
      where.stack += size;
      out.scope = "local";
      out.elem_offset = {};
    } else {
      out.scope = in_parallel_ ? "worker" : "workspace";
      out.elem_offset = integer(dtype::i64, where.top / bytes(out.type));
      where.top += size;
      where.peak = std::max(where.peak, where.top);
    }
    const buffer placed(new buffer_node(std::move(out)));
    placed_[n.buffer] = placed;
    stmt body = mutate(n.body);
    where.top = before;
    return make_allocate(placed, std::move(body));
  }

  const workspace_options& options_;
  buffer_map placed_;
  arena shared_, worker_;
  bool in_parallel_ = false;
};

}  // namespace tilewright::pass::detail::workspace

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function plan_workspace(const ir::function& f,
                                              const workspace_options& options) {
  detail::workspace::planner plan(options);
  ir::function out = f;
  out.body = plan.mutate(f.body);
  const int workers = std::max(1, options.workers);
  out.attrs["tilewright.workspace_bytes"] = plan.shared_bytes() + plan.worker_bytes() * workers;
  out.attrs["tilewright.worker_offset"] = plan.shared_bytes();
  out.attrs["tilewright.worker_bytes"] = plan.worker_bytes();
  out.attrs["tilewright.workers"] = workers;
  return out;
}

}  // namespace tilewright::pass
