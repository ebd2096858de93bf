// Buffers that each lane of a vectorized loop has for itself.
//
//   for i in vectorized(4):               S = allocate((2, 4))
//     S = allocate((2,))                  for i in vectorized(4):
//     for j in range(2):             ->     for j in range(2):
//       S[j] = A[i + j]                       S[j, i] = A[i + j]
//     B[i] = S[0] * S[1]                    B[i] = S[0, i] * S[1, i]
//
// Lanes run in step: one buffer for all of them would hold what the last one has stored.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/allocation_places.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail {

/// Gives the buffers a last dimension of lanes, and makes loops serial whose iterations cannot have
/// their own.
class own_lanes : public ir::rerouting {
 public:
  explicit own_lanes(shared_buffers found) : serial_(std::move(found.serial)) {
    for (const auto& [b, loop] : found.of_lanes) widen(b, *loop);
  }
  using ir::rerouting::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::stmt out = ir::rerouting::mutate(s);
    const ir::loop_node* loop = ir::as_loop(s);
    if (!loop || !support::contains(serial_, loop)) return out;
    return with_kind(*ir::as_loop(out), ir::loop_kind::serial, ir::as_loop(out)->body);
  }
  /// What a block declares is not looked at any more.
  ir::block mutate(const ir::block& b) override {
    ir::block_node out = *ir::mutator::mutate(b);
    for (ir::buffer& x : out.alloc_buffers)
      if (const auto at = wide_.find(x); at != wide_.end()) x = at->second.buffer;
    return ir::make_block(std::move(out));
  }

 private:
  struct wide {
    ir::buffer buffer;
    ir::expr lane;
  };

  bool reroutes(const ir::buffer& b) const override { return wide_.count(b) != 0; }
  ir::buffer_element rerouted(const ir::buffer& b, std::vector<ir::expr> indices) override {
    const wide& w = wide_.at(b);
    indices.push_back(ir::cast(w.buffer->shape.back().type(), w.lane));
    return {w.buffer, std::move(indices)};
  }

  void widen(const ir::buffer& b, const ir::loop_node& loop) {
    ir::buffer_node node = *b;
    const dtype type = loop.var.type();
    node.shape.push_back(ir::cast(node.shape.empty() ? type : node.shape[0].type(), loop.extent));
    node.strides.clear();
    wide_[b] = {ir::buffer(new ir::buffer_node(std::move(node))), loop.var - loop.min};
  }

  std::vector<const ir::loop_node*> serial_;
  std::unordered_map<ir::buffer, wide> wide_;
};

/// A body with buffers for its lanes, and where it allocates.
struct placed_body {
  ir::stmt body;
  allocation_places places;
};

/// Of the body of a function whose matched buffers are resolved.
inline placed_body place_allocations(const ir::stmt& body) {
  const lifetime::placer lives(body);
  shared_buffers found = lives.shared();
  if (found.empty()) return {body, lives.places()};
  const ir::stmt own = own_lanes(std::move(found)).mutate(body);
  return {own, lifetime::placer(own).places()};
}

}  // namespace tilewright::pass::detail
