// Whether the stores of a block that holds no others write all of a region.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/constant_boxes.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/store_elements.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence::cover {

/// How the block sees the buffer as `x`; null where it does not.
inline const ir::match_buffer* view_of(const ir::block_node& block, const ir::buffer& buffer,
                                       const ir::buffer& x) {
  for (const ir::match_buffer& m : block.match_buffers)
    if (m.buffer == x && m.source.buffer == buffer) return &m;
  return nullptr;
}

/// The element of the buffer that the view shows at those indices; it may have fewer dimensions.
inline std::vector<ir::expr> seen_through(const ir::match_buffer& view,
                                          const std::vector<ir::expr>& indices) {
  std::vector<ir::expr> out;
  for (const ir::range& r : view.source.box) out.push_back(r.min);
  const std::size_t first = out.size() - indices.size();
  for (std::size_t d = 0; d < indices.size(); ++d) out[first + d] = out[first + d] + indices[d];
  return out;
}

struct plain_store {
  ir::stmt store;   // to the buffer of the region, counted from its first element
  loop_nest loops;  // around it in its block
};

/// The stores in the body or init of a block without blocks to the buffer of a region, or a view of
/// it.
class plain_stores : public ir::visitor {
 public:
  plain_stores(const ir::block_node& block, const ir::stmt& part, const ir::buffer_region& region)
      : block_(block), region_(region) {
    visit(part);
  }
  using ir::visitor::visit;

  void visit(const ir::stmt& s) override {
    if (const ir::if_node* branch = ir::as_if(s)) return visit_branches(*branch);
    const std::int64_t outside = each_;
    const std::size_t depth = around_.size();
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      around_.push_back(loop);
      times(ir::is_int(loop->extent) ? std::max<std::int64_t>(ir::as_int(loop->extent), 0) : limit);
    }
    if (ir::as_while(s)) each_ = limit;
    if (ir::as_evaluate(s)) hide();
    if (ir::as_store(s)) note(s);
    ir::visitor::visit(s);
    each_ = outside;
    around_.resize(depth);
  }
  void visit(const ir::expr& e) override {
    if (e->op == ir::op::data || e.type() == dtype::handle || is_vector(e.type())) hide();
    ir::visitor::visit(e);
  }

  static constexpr std::int64_t limit = std::int64_t{1} << 40;
  std::vector<plain_store> list;
  std::int64_t count = 0;  // of elements that they write at most
  bool hidden = false;     // something else may store there

 private:
  void times(std::int64_t n) {
    each_ = n >= limit / std::max<std::int64_t>(each_, 1) ? limit : each_ * n;
  }
  /// One of two branches stores.
  void visit_branches(const ir::if_node& branch) {
    visit(branch.condition);
    const std::int64_t before = count;
    visit(branch.then_body);
    const std::int64_t first = std::exchange(count, before);
    if (branch.else_body) visit(branch.else_body);
    count = std::max(count, first);
  }
  /// Calls store, and lanes are several.
  void hide() {
    hidden = true;
    count = limit;
  }
  void note(const ir::stmt& s) {
    const ir::store_node& node = *ir::as_store(s);
    const ir::match_buffer* view = view_of(block_, region_.buffer, node.buffer);
    if (node.buffer != region_.buffer && !view) return;
    count = std::min(limit, count + each_);
    if (each_ == 0) return;
    std::vector<ir::expr> place = view ? seen_through(*view, node.indices) : node.indices;
    for (std::size_t d = 0; d < place.size(); ++d) {
      const arith::linear first = arith::to_linear(region_.box[d].min);
      const arith::linear at = difference(arith::to_linear(place[d]), first);
      place[d] = arith::from_linear(footprints::simplified(at, around_));
    }
    list.push_back({ir::make_store(region_.buffer, std::move(place), node.value), around_});
  }

  const ir::block_node& block_;
  const ir::buffer_region& region_;
  loop_nest around_;
  std::int64_t each_ = 1;
};

/// What a store writes while its loops run, as a block inside of its block would; nothing when that
/// is no constant box.
inline std::optional<const_box> box_of(const plain_store& s) {
  ir::block_node inside;
  const ir::store_node& store = *ir::as_store(s.store);
  inside.writes = {{store.buffer, ir::point_box(store.indices)}};
  inside.body = s.store;
  const ir::stmt all = ir::make_realize({}, ir::boolean(true), ir::make_block(std::move(inside)));
  const child_block child{ir::as_realize(all), s.loops};
  const std::optional<footprint> gives = written({child, child.block().writes[0]}, {0, {}});
  if (!gives) return std::nullopt;
  const_box out = within(*gives);
  if (!support::all(out, [](const arith::bounds& b) { return b.bounded(); })) return std::nullopt;
  return out;
}

/// Whether the stores in the body or init of a block without blocks write all of a region. Fewer than
/// it has elements do not, nor do those that leave some out whatever their conditions say; where else
/// that cannot be said, what the block declares is believed.
inline bool stores_fill(const ir::block_node& block, const ir::stmt& part,
                        const ir::buffer_region& region) {
  constexpr std::int64_t few = 4096;  // stores, run through in milliseconds
  const_box box;
  std::int64_t elements = 1;
  for (const ir::range& r : region.box) {
    if (!ir::is_int(r.extent) || ir::as_int(r.extent) > plain_stores::limit / elements) return true;
    box.push_back({0, ir::as_int(r.extent) - 1});
    elements *= std::max<std::int64_t>(ir::as_int(r.extent), 1);
  }
  const plain_stores stores(block, part, region);
  if (stores.count < elements) return false;
  if (stores.hidden) return true;
  std::vector<const_box> rest{box};
  bool boxes = true;
  for (const plain_store& s : stores.list) {
    const std::optional<const_box> given = box_of(s);
    if (given) rest = without(rest, *given);
    boxes = boxes && given;
  }
  if (boxes || rest.empty()) return rest.empty();
  if (stores.count > few) return true;
  stored_elements found(region.buffer, {}, static_cast<std::size_t>(16 * few));
  for (const plain_store& s : stores.list)
    if (!found.collect(nest_around(s.loops, s.store))) return true;
  const std::vector<std::vector<std::int64_t>> written = found.take();
  return elements == std::count_if(written.begin(), written.end(), [&](const auto& element) {
           return std::equal(
               element.begin(), element.end(), box.begin(),
               [](std::int64_t at, const arith::bounds& b) { return b.lo <= at && at <= b.hi; });
         });
}

}  // namespace tilewright::dependence::cover
