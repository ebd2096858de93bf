// Memory that statements of one block know by two names: a matched buffer and its view, or two views.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/legality/watched_parts.hpp>
#include <tilewright/ir/analysis/buffer_uses.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail {

/// Whether the body or the init of a block uses the buffer.
class is_used : ir::buffer_uses {
 public:
  is_used(const ir::block_node& block, const ir::buffer& x) : x_(x) {
    for (const ir::stmt& s : {block.init, block.body})
      if (s) visit(s);
  }
  explicit operator bool() const noexcept { return found_; }

 private:
  using ir::buffer_uses::visit;
  void use(const ir::buffer& b) override { found_ = found_ || b == x_; }

  const ir::buffer& x_;
  bool found_ = false;
};

/// Whether two parts of one buffer certainly have no element in common.
inline bool certainly_apart(const std::vector<ir::range>& a, const std::vector<ir::range>& b) {
  const arith::analyzer known;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (known.prove_le(a[d].min + a[d].extent, b[d].min) ||
        known.prove_le(b[d].min + b[d].extent, a[d].min))
      return true;
  return false;
}

/// A view of what the block may write under another name, too; null when there is none.
inline const ir::match_buffer* second_name(const ir::block_node& block) {
  const std::vector<ir::match_buffer>& views = block.match_buffers;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const ir::buffer& x = views[v].source.buffer;
    if (!writes_buffer(block, x) && !support::contains(block.alloc_buffers, x)) continue;
    if (is_used(block, x)) return &views[v];
    for (std::size_t w = 0; w < v; ++w)
      if (views[w].source.buffer == x && !certainly_apart(views[v].source.box, views[w].source.box))
        return &views[v];
  }
  return nullptr;
}

/// The statements of a block in their order: what they are, their loops and their blocks, but not what
/// they compute and where.
inline std::vector<std::uint64_t> outline(const ir::block_node& block) {
  std::vector<std::uint64_t> out;
  ir::for_each_stmt(block.body, [&](const ir::stmt& s) {
    out.push_back(static_cast<std::uint64_t>(s->kind));
    if (const ir::loop_node* l = ir::as_loop(s)) {
      out.push_back(reinterpret_cast<std::uintptr_t>(l->var.get()));
      out.push_back(static_cast<std::uint64_t>(l->loop));
    }
    if (const ir::seq_node* seq = ir::as_seq(s)) out.push_back(seq->stmts.size());
    if (const ir::block_realize_node* r = ir::as_realize(s)) out.push_back(r->block->id);
  });
  return out;
}

/// Dependences are found by buffer: inside of a block that knows memory by two names nothing is moved,
/// and no loop gets another kind.
/// @throws schedule_error (requirement 0)
inline void check_names(std::string_view primitive, const watched_parts& before,
                        const ir::function& after) {
  for (const ir::block_realize_node* r : before.renaming) {
    const path at = find_block(after, r->block->id);
    const ir::match_buffer* view = at ? second_name(*r->block) : nullptr;
    if (view && outline(*r->block) != outline(*ir::as_realize(at.target())->block))
      refusal{primitive}(0, {quoted(*r->block), " knows elements of \"", view->source.buffer->name,
                             "\", which it writes, as \"", view->buffer->name,
                             "\" and by another name, too; inside of it use one of them"});
  }
}

}  // namespace tilewright::primitive::detail
