#include "law_intrinsics.hpp"

#include <atomic>
#include <unordered_map>
#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace laws {
namespace {

using namespace tilewright;

/// A buffer of the program, the part of it that the block touches, and the parameter for it.
struct operand {
  ir::buffer_region region;
  ir::buffer param;
};
using operands = std::unordered_map<ir::buffer, operand>;

/// Accesses of the program as accesses of the parameters.
class rebaser : public ir::mutator {
 public:
  explicit rebaser(const operands& all) : all_(all) {}
  using ir::mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    if (e->op != ir::op::load) return ir::mutator::mutate(e);
    const auto found = all_.find(e->buffer);
    if (found == all_.end()) return ir::mutator::mutate(e);
    return ir::load(found->second.param, rebased(found->second, e->args));
  }
  ir::stmt mutate(const ir::stmt& s) override {
    const ir::store_node* store = ir::as_store(s);
    if (!store || all_.find(store->buffer) == all_.end()) return ir::mutator::mutate(s);
    const operand& o = all_.at(store->buffer);
    return ir::make_store(o.param, rebased(o, store->indices), mutate(store->value));
  }
  ir::block mutate(const ir::block& b) override {
    ir::block_node out = *b;
    for (auto* list : {&out.reads, &out.writes})
      for (ir::buffer_region& r : *list) {
        const auto found = all_.find(r.buffer);
        if (found == all_.end()) continue;
        r.buffer = found->second.param;
        for (std::size_t d = 0; d < r.box.size(); ++d)
          r.box[d].min = arith::simplify(r.box[d].min - found->second.region.box[d].min);
      }
    return ir::mutator::mutate(ir::make_block(std::move(out)));
  }

 private:
  std::vector<ir::expr> rebased(const operand& o, const std::vector<ir::expr>& indices) {
    std::vector<ir::expr> out;
    for (std::size_t d = 0; d < indices.size(); ++d)
      out.push_back(arith::simplify(mutate(indices[d]) - o.region.box[d].min));
    return out;
  }

  const operands& all_;
};

bool collect(const std::vector<ir::buffer_region>& regions, operands& all, ir::function& f,
             std::vector<ir::buffer_region>& listed) {
  for (const ir::buffer_region& r : regions) {
    auto found = all.find(r.buffer);
    if (found == all.end()) {
      std::vector<ir::expr> shape;
      for (const ir::range& d : r.box) {
        if (!ir::is_int(d.extent)) return false;
        shape.push_back(d.extent);
      }
      const ir::buffer param =
          ir::make_buffer(r.buffer->name, r.buffer->type, std::move(shape), r.buffer->scope);
      f.params.push_back({param, {}});
      found = all.emplace(r.buffer, operand{r, param}).first;
    }
    for (std::size_t d = 0; d < r.box.size(); ++d)
      if (!ir::equal(r.box[d].min, found->second.region.box[d].min) ||
          !ir::equal(r.box[d].extent, found->second.region.box[d].extent))
        return false;
    listed.push_back(ir::full_region(found->second.param));
  }
  return true;
}

bool uses_iterations(const ir::stmt& s, const ir::block_node& block) {
  bool found = false;
  ir::for_each_expr(s, [&](const ir::expr& e) {
    for (const ir::iter_var& i : block.iters) found = found || e.same(i.var);
  });
  return found;
}

}  // namespace

std::optional<std::string> add_intrinsic_of(const ir::block_node& block) {
  static std::atomic<int> count{0};
  if (!block.alloc_buffers.empty() || !block.match_buffers.empty()) return std::nullopt;
  ir::function f;
  operands all;
  ir::block_node root;
  root.name = "root";
  if (!collect(block.reads, all, f, root.reads) || !collect(block.writes, all, f, root.writes))
    return std::nullopt;
  root.body = rebaser(all).mutate(block.body);
  if (uses_iterations(root.body, block)) return std::nullopt;
  f.body = ir::make_realize({}, ir::boolean(true), ir::make_block(std::move(root)));
  const std::string name = "law_" + std::to_string(++count);
  try {
    intrin::add({name, f, f, nullptr});
  } catch (const error&) {
    return std::nullopt;
  }
  return name;
}

}  // namespace laws
