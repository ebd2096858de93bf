#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/modules/register_tiling.hpp>
#include <tilewright/space/modules/register_tiling_with_intrinsic.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/tensor_form.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/support/stable_sort.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {
namespace detail::tensor_tiles {

/// Steps of reduction that the intrinsic does at once; 1 for one that does not reduce.
inline std::int64_t steps(const intrin::intrinsic& i) {
  const auto blocks = primitive::child_blocks(ir::root_block(i.description)->body);
  std::int64_t out = 1;
  if (blocks.size() != 1) return out;
  for (const ir::iter_var& iter : blocks[0]->block->iters)
    if (iter.kind == ir::iter_kind::reduce && ir::is_int(iter.dom.extent))
      out *= iter.dom.extent->integer;
  return out;
}

inline std::int64_t results(const intrin::intrinsic& i) {
  std::int64_t out = 1;
  for (const ir::range& r : ir::root_block(i.description)->writes[0].box)
    out *= ir::is_int(r.extent) ? r.extent->integer : 1;
  return out;
}

/// Extent of the longest variable of the block that can be the vector of results.
inline std::int64_t columns_of(const ir::block_node& block, const intrin::intrinsic& i,
                               const tensor_mapping& mapping) {
  const auto described = primitive::child_blocks(ir::root_block(i.description)->body);
  const ir::block_node& b = *described[0]->block;
  std::int64_t out = 0;
  for (std::size_t v = 0; v < b.iters.size(); ++v)
    if (ir::uses_var(b.writes[0].box.back().min, b.iters[v].var))
      for (const std::size_t at : mapping.fused[v])
        if (ir::is_int(block.iters[at].dom.extent))
          out = std::max(out, block.iters[at].dom.extent->integer);
  return out;
}

/// Intrinsics that the CPU does well and that have a mapping for the block: those whose results
/// fill a vector first, and last those of which half would be padding.
inline std::vector<std::shared_ptr<const intrin::intrinsic>> fitting(const ir::block_node& block,
                                                                     const target::cpu& cpu) {
  struct offer {
    std::shared_ptr<const intrin::intrinsic> what;
    bool half_empty;
    std::int64_t rank;
  };
  std::vector<offer> found;
  const std::int64_t lanes = cpu.lanes(block.writes[0].buffer->type);
  for (const std::string& name : intrin::names()) {
    std::shared_ptr<const intrin::intrinsic> i = intrin::find(name);
    if (!i || !i->suits || !i->suits(cpu) || steps(*i) < 2) continue;
    const std::optional<tensor_mapping> mapping = propose_mapping(block, *i);
    if (!mapping) continue;
    const std::int64_t n = results(*i);
    found.push_back({i, 2 * columns_of(block, *i, *mapping) <= n, n <= lanes ? lanes - n : n});
  }
  support::stable_sort(found, [&](const offer& a, const offer& b) {
    return std::pair(a.half_empty, a.rank) < std::pair(b.half_empty, b.rank);
  });
  std::vector<std::shared_ptr<const intrin::intrinsic>> out;
  for (offer& o : found) out.push_back(std::move(o.what));
  return out;
}

/// The tiling of one block `<name>_o` in the making.
class tiling {
 public:
  tiling(schedule& s, block_rv block, const context& where, chooser& choices,
         const intrin::intrinsic& what)
      : s_(s), block_(block), where_(where), choices_(choices), what_(what) {}

  void run() {
    find_axes();
    split();
    order();
    fuse_consumer();
    if (rows_) s_.unroll(row_tile_);
    if (columns_) s_.unroll(column_tile_);
    s_.annotate(block_, tiling_structure_key, "SSRS");
    const std::string name = s_.get(block_).block->name;
    s_.unannotate(block_, "meta_schedule.auto_tensorize");
    if (!reduce_.empty()) {
      const block_rv init = s_.decompose_reduction(block_, reduce_.front());
      const std::vector<block_rv> inner = s_.get_child_blocks(init);
      if (!inner.empty()) s_.vectorize(s_.get_loops(inner[0]).back());
    }
    s_.tensorize(block_, what_.name);
  }

 private:
  static constexpr std::int64_t tile_code = 4096;

  static bool uses(const ir::buffer_region& region, const ir::var& v) {
    return support::any(region.box, [&](const ir::range& r) { return ir::uses_var(r.min, v); });
  }

  static std::size_t first_use(const ir::buffer_region& region, const ir::var& v) {
    std::size_t d = 0;
    while (d < region.box.size() && !ir::uses_var(region.box[d].min, v)) ++d;
    return d;
  }

  /// The variables of reductions in the order of the packed operand's dimensions.
  std::vector<std::size_t> reductions() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      if (kinds_[i] == ir::iter_kind::reduce) out.push_back(i);
    support::stable_sort(out,
                         [&](std::size_t a, std::size_t b) { return depths_[a] < depths_[b]; });
    return out;
  }

  /// Columns: the variable that moves the vector of results, if there are several. Rows: the longest one that does not
  /// move the packed operand, whose vectors then serve all of them.
  void find_axes() {
    const ir::block block = s_.get(block_).block;
    const ir::buffer_region& result = block->writes[0];
    const ir::buffer_region* packed = nullptr;
    for (const ir::buffer_region& r : block->reads) {
      const auto wide = std::count_if(r.box.begin(), r.box.end(),
                                      [](const ir::range& x) { return !ir::is_int(x.extent, 1); });
      if (r.buffer != result.buffer && wide > 1) packed = &r;
    }
    std::int64_t longest = 1;
    for (std::size_t i = 0; i < block->iters.size(); ++i) {
      const ir::iter_var& iter = block->iters[i];
      extents_.push_back(ir::is_int(iter.dom.extent) ? iter.dom.extent->integer : 1);
      kinds_.push_back(iter.kind);
      depths_.push_back(packed ? first_use(*packed, iter.var) : 0);
      if (iter.kind != ir::iter_kind::spatial) continue;
      const bool moves_vector = support::any(result.box, [&](const ir::range& r) {
        return !ir::is_int(r.extent, 1) && ir::uses_var(r.min, iter.var);
      });
      if (moves_vector)
        columns_ = i;
      else if (packed && !uses(*packed, iter.var) && extents_[i] >= longest && extents_[i] > 1) {
        rows_ = i;
        longest = extents_[i];
      }
    }
  }

  void split() {
    const std::int64_t lanes = where_.cpu->lanes(s_.get(block_).block->writes[0].buffer->type);
    std::vector<std::int64_t> codes;
    std::vector<double> weights;
    for (const register_tile& t : register_tiles(
             *where_.cpu, s_.get(block_).block->writes[0].buffer->type,
             rows_ ? extents_[*rows_] : 1, (columns_ ? extents_[*columns_] : 1) * lanes)) {
      codes.push_back(t.rows * tile_code + t.columns / lanes);
      weights.push_back(t.weight);
    }
    const expr_rv code = choices_.categorical(s_, codes, weights);
    const std::vector<loop_rv> loops = s_.get_loops(block_);
    // what is added up one after the other lies so in the packed operand
    for (const std::size_t i : reductions()) reduce_.push_back(loops[i]);
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (kinds_[i] == ir::iter_kind::reduce) {
        continue;
      } else if (i == columns_) {
        const auto [outer, tile] = s_.split(loops[i], {infer, floormod(code, tile_code)});
        column_outer_ = outer;
        column_tile_ = tile;
      } else if (i == rows_) {
        const auto [outer, tile] = s_.split(loops[i], {infer, floordiv(code, tile_code)});
        const expr_rv blocks = choices_.categorical(s_, {1, 2, 3, 4, 8, 16}, {4, 2, 2, 2, 1, 1});
        const auto [first, second] = s_.split(outer, {blocks, infer});
        row_outer_ = first;
        row_middle_ = second;
        row_tile_ = tile;
      } else {
        others_.push_back(loops[i]);
      }
    }
  }

  void order() {
    std::vector<loop_rv> all;
    const auto add = [&](const std::vector<loop_rv>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    const bool inside = others_.size() > 0 && choices_.pick(2) == 1;
    if (!inside) add(others_);
    if (rows_) all.push_back(row_outer_);
    if (columns_) all.push_back(column_outer_);
    const std::size_t parallel = all.size();
    if (inside) add(others_);
    if (rows_) all.push_back(row_middle_);
    if (all.empty())
      throw schedule_error("register_tiling_with_intrinsic", 1, "there is one vector of results");
    tile_loop_ = all.back();
    const std::size_t spatial = all.size();
    add(reduce_);
    if (rows_) all.push_back(row_tile_);
    if (columns_) all.push_back(column_tile_);
    s_.reorder(all);
    if (where_.threads > 1 && parallel > 0) {
      const loop_rv fused =
          s_.fuse(std::vector<loop_rv>(all.begin(), all.begin() + static_cast<long>(parallel)));
      s_.parallel(fused);
      if (parallel == spatial) tile_loop_ = fused;
    }
  }

  /// Whether squares whose lanes run along what the consumer writes have few lanes beside it, and
  /// several vectors of results side by side; and all of it stays in the first-level cache until it is
  /// transposed, as what a tile has just computed does.
  bool fills_squares(const block_profile& consumer, std::size_t along) const {
    constexpr double most_lanes = 0.8;
    const dtype type = consumer.write.buffer->type;
    const std::int64_t lanes = where_.cpu->lanes(type);
    std::int64_t size = bytes(type);
    for (const std::int64_t extent : consumer.extent)
      size = support::saturated_product(size, extent);
    return size <= where_.cpu->l1_bytes && consumer.extent[along] > lanes &&
           fill(consumer.extent[*consumer.contiguous()], lanes) >= most_lanes;
  }

  /// The only consumer, where it is computed element by element, goes below the tile; one that
  /// transposes stays behind all of them, or goes there, too.
  void fuse_consumer() {
    const std::string name = s_.get(block_).block->name;
    const std::vector<std::string> consumers = consumer_names(s_, name);
    if (consumers.size() != 1 || is_output(s_, name)) return;
    const std::optional<block_profile> p = profile(s_, consumers[0]);
    if (!p || p->reduction || p->updates || !p->contiguous()) return;
    if (producer_names(s_, consumers[0]).size() != 1) return;
    schedule attempt = s_;
    try {
      const block_rv consumer = attempt.get_block(consumers[0]);
      const ir::buffer result = s_.get(block_).block->writes[0].buffer;
      if (const auto along = across_result(*p, result);
          along && (choices_.pick(2) == 0) == fills_squares(*p, *along)) {
        // squares of the whole result: a tile has few of its rows
        vectorize_squares(attempt, consumer, *p->contiguous(), *along, where_, choices_);
        s_ = std::move(attempt);
        return;
      }
      attempt.reverse_compute_at(consumer, tile_loop_, true);
      std::vector<loop_rv> inner = attempt.get_loops(consumer);
      inner.erase(inner.begin(), inner.end() - static_cast<long>(p->kind.size()));
      std::rotate(inner.begin() + static_cast<long>(*p->contiguous()),
                  inner.begin() + static_cast<long>(*p->contiguous()) + 1, inner.end());
      if (inner.size() > 1) attempt.reorder(inner);
      attempt.vectorize(inner.back());
      if (inner.size() > 1) attempt.unroll(inner[inner.size() - 2]);
      s_ = std::move(attempt);
    } catch (const schedule_error&) {
      // then it is computed behind
    }
  }

  schedule& s_;
  block_rv block_;
  const context& where_;
  chooser& choices_;
  const intrin::intrinsic& what_;

  std::vector<std::int64_t> extents_;  // [iters]
  std::vector<ir::iter_kind> kinds_;   // [iters]
  std::vector<std::size_t> depths_;    // [iters] first dimension of the packed operand that moves
  std::optional<std::size_t> rows_, columns_;
  std::vector<loop_rv> others_, reduce_;
  loop_rv row_outer_, row_middle_, row_tile_, column_outer_, column_tile_, tile_loop_;
};

/// The first intrinsic and form that fit: a schedule in which the block has the form.
struct fit {
  schedule formed;
  block_rv outer;
  std::shared_ptr<const intrin::intrinsic> what;
};
inline std::optional<fit> find_fit(const schedule& s, const std::string& name,
                                   const target::cpu& cpu) {
  const ir::block block = named_block(s, name).block;
  if (!block->init || block->writes.size() != 1) return std::nullopt;
  for (const auto& what : fitting(*block, cpu))
    for (const tensor_form form :
         {tensor_form::packed, tensor_form::windowed, tensor_form::reindexed_packed}) {
      schedule formed = s;
      if (const std::optional<block_rv> outer = give_tensor_form(formed, name, *what, form))
        return fit{std::move(formed), *outer, what};
    }
  return std::nullopt;
}

}  // namespace detail::tensor_tiles

TILEWRIGHT_INLINE bool is_tensorized(const schedule& s, const std::string& name) {
  return is_tiled(s, name) && !primitive::child_blocks(named_block(s, name).block->body).empty();
}

TILEWRIGHT_INLINE bool register_tiling_with_intrinsic(schedule& s, const std::string& name,
                                                      const context& where, chooser& choices) {
  namespace tiles = detail::tensor_tiles;
  std::optional<tiles::fit> found = tiles::find_fit(s, name, *where.cpu);
  if (!found) return false;
  tiles::tiling(found->formed, found->outer, where, choices, *found->what).run();
  s = std::move(found->formed);
  return true;
}

}  // namespace tilewright::space
