#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/ops/winograd/program.hpp>
#include <tilewright/impl/ops/winograd/window_sum.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ops/winograd.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::ops {
namespace detail {

inline constexpr int winograd_tiles[] = {2, 4, 6};

[[noreturn]] inline void refuse_winograd(const std::string& function, int requirement,
                                         const std::string& why, const std::string& remedy) {
  throw argument_error("ops::winograd: kernel " + function + " " + why + "; " + remedy +
                       " (requirement " + std::to_string(requirement) + ")");
}

/// Statements of the root block.
inline std::vector<ir::stmt> children_of_root(const ir::function& f) {
  const ir::block& root = ir::root_block(f);
  const ir::seq_node* seq = ir::as_seq(root->body);
  return seq ? seq->stmts : std::vector<ir::stmt>{root->body};
}

/// The block in a nest of loops; null where something else stands in it.
inline const ir::block_node* block_in(const ir::stmt& s) {
  const ir::stmt_node* below = s.get();
  while (below && below->kind == ir::stmt_kind::loop)
    below = static_cast<const ir::loop_node*>(below)->body.get();
  if (!below || below->kind != ir::stmt_kind::block_realize) return nullptr;
  return static_cast<const ir::block_realize_node*>(below)->block.get();
}

/// The block that writes the buffer point by point at its own variables; null where it is none.
inline const ir::block_node* pointwise_writer(const std::vector<ir::stmt>& children,
                                              const ir::buffer& b) {
  const ir::block_node* out = nullptr;
  for (const ir::stmt& s : children) {
    const ir::block_node* block = block_in(s);
    if (!block) continue;
    const bool writes =
        support::any(block->writes, [&](const ir::buffer_region& w) { return w.buffer == b; });
    if (!writes) continue;
    const ir::store_node* store = ir::as_store(block->body);
    if (out || !store || block->init) return nullptr;
    for (std::size_t d = 0; d < store->indices.size(); ++d)
      if (d >= block->iters.size() || !store->indices[d].same(block->iters[d].var)) return nullptr;
    out = block;
  }
  return out;
}

/// The first convolution of a program.
struct located_sum {
  window_sum sum;
  std::size_t at = 0;  // among the children of the root
};

/// @throws argument_error as with_winograd, with what keeps the likeliest block from being one
inline located_sum locate_window_sum(const ir::function& f, const std::vector<ir::stmt>& children) {
  std::optional<window_finding> best;
  for (std::size_t k = 0; k < children.size(); ++k) {
    const ir::block_node* block = block_in(children[k]);
    if (!block || !block->init) continue;
    window_finding found = window_finder(*block).find();
    if (found.sum) return {*found.sum, k};
    if (!best || found.requirement > best->requirement) best = std::move(found);
  }
  if (best) refuse_winograd(f.name, best->requirement, best->why, best->remedy);
  refuse_winograd(f.name, 1, "has no sum of products of an image's windows with a filter",
                  "use ops::conv2d, ops::conv2d_bias or ops::conv2d_scale_shift");
}

/// A program around its first convolution.
class winograd_frame {
 public:
  /// @throws argument_error as with_winograd
  explicit winograd_frame(const ir::function& f)
      : f_(f), children_(children_of_root(f)), found_(locate_window_sum(f, children_)) {}

  double error_of(int tile) const {
    const window_sum& sum = found_.sum;
    return winograd_error(tile, sum.extent(sum.filter, sum.filter_at[2]), sum.result->type);
  }
  /// The program with the algorithm beside it, once for each extent of tiles.
  ir::function with(const std::vector<int>& tiles, double error) const {
    const ir::block_node* padding = pointwise_writer(children_, found_.sum.image);
    ir::function marked = f_;
    marked.attrs[ir::error_attribute] = error;
    std::vector<ir::function> others;
    for (const int tile : tiles)
      others.push_back(
          winograd_program(marked, found_.sum, padding, tile).make(children_, found_.at));
    return ir::with_alternatives(std::move(marked), others);
  }

 private:
  const ir::function& f_;
  std::vector<ir::stmt> children_;
  located_sum found_;
};

}  // namespace detail

TILEWRIGHT_INLINE double winograd_error(int tile, std::int64_t channels, dtype type) {
  if (tile != 2 && tile != 4 && tile != 6)
    throw argument_error("winograd_error: there are no tiles of " + std::to_string(tile) + " x " +
                         std::to_string(tile) + "; use 2, 4 or 6 (requirement 1)");
  if (type != dtype::f32 && type != dtype::f64)
    throw argument_error("winograd_error: the algorithm computes in f32 or f64, not in " +
                         std::string(name(type)) + " (requirement 2)");
  const double at_64 = tile == 2 ? 5e-6 : tile == 4 ? 2.5e-5 : 1.5e-4;
  const double beyond = std::sqrt(std::max(1.0, static_cast<double>(channels) / 64));
  return at_64 * beyond * (type == dtype::f64 ? 0x1p-29 : 1.0);
}

TILEWRIGHT_INLINE ir::function with_winograd(const ir::function& f, double error) {
  const detail::winograd_frame frame(f);
  std::vector<int> tiles;
  for (const int tile : detail::winograd_tiles)
    if (frame.error_of(tile) <= error) tiles.push_back(tile);
  if (tiles.empty())
    detail::refuse_winograd(f.name, 6, "is allowed an error of " + support::general_text(error, 3),
                            "tiles of 2 x 2 have one of " +
                                support::general_text(frame.error_of(2), 3) +
                                ": allow that much, or call it without ops::winograd");
  return frame.with(tiles, error);
}

TILEWRIGHT_INLINE ir::function with_winograd_tiles(const ir::function& f,
                                                   const std::vector<std::int64_t>& tiles) {
  std::vector<int> extents;
  for (const std::int64_t tile : tiles)
    if (support::contains(detail::winograd_tiles, tile) && !support::contains(extents, tile))
      extents.push_back(static_cast<int>(tile));
  if (tiles.empty() || extents.size() != tiles.size())
    detail::refuse_winograd(f.name, 7, "is to have tiles that are not there, or twice, or none",
                            "name some of 2, 4 and 6, each once");
  const detail::winograd_frame frame(f);
  double error = 0;
  for (const int tile : extents) error = std::max(error, frame.error_of(tile));
  return frame.with(extents, error);
}

}  // namespace tilewright::ops
