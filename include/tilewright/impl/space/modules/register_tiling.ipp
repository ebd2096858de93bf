#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/space/tiles/operand_panels.hpp>
#include <tilewright/impl/space/tiles/own_transpose.hpp>
#include <tilewright/impl/space/tiles/stageable_operands.hpp>
#include <tilewright/impl/space/tiles/tile_conditions.hpp>
#include <tilewright/impl/space/tiles/tile_promise.hpp>
#include <tilewright/impl/space/windows/borders.hpp>
#include <tilewright/impl/space/windows/own_windows.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/modules/register_tiling.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/divisor.hpp>
#include <tilewright/support/stable_sort.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::space {
namespace detail {

/// One integer for both sizes of a register tile, so that one random variable draws them together.
inline constexpr std::int64_t tile_code = 4096;

/// The tiling of one block in the making.
class tiling {
 public:
  tiling(schedule& s, std::string block, const context& where, chooser& choices)
      : s_(s),
        name_(std::move(block)),
        where_(where),
        choices_(choices),
        profile_(*profile(s, name_)),
        columns_(*profile_.contiguous()),
        shared_rows_(profile_.reuse(columns_)),
        rows_(shared_rows_ ? shared_rows_ : window_rows(s, name_, profile_, columns_)),
        own_windows_(reduces_own_windows(s, name_, profile_, columns_)) {}

  void run() {
    block_ = s_.get_block(name_);
    results_wait_ = where_.threads == 1 && may_split_reduction() && promise().passes_again() &&
                    choices_.pick(2) == 0;
    split_reduction_ = results_wait_;
    // whole reductions first, unless a panel of the streamed operand would not stay in a cache
    if (!results_wait_ && profile_.terms() > 128 && may_split_reduction())
      split_reduction_ = (choices_.pick(2) == 1) !=
                         (profile_.terms() > (reads_own_rows(profile_, columns_) ? 512 : 2048) ||
                          profile_.terms() > promise().steps_that_stay());
    // a block of the transposed buffer then serves all tiles from the second-level cache
    reduction_first_ =
        results_wait_ || (split_reduction_ && where_.threads == 1 &&
                          reads_own_rows(profile_, columns_) && choices_.pick(2) == 0);
    loops_ = s_.get_loops(block_);
    choose_spread();
    split_spatial();
    split_reduce();
    order();
    if (!reduction_first_) fuse_consumers();  // else no tile is finished before the last block
    stage_operands();
    s_.vectorize(column_tile_);
    if (rows_) s_.unroll(row_tile_);
    unroll_taps();
    s_.decompose_reduction(block_, split_reduction_ ? reduce_outer_.front() : taps_.front());
  }

 private:
  static std::vector<std::int64_t> reduce_tiles() { return {64, 128, 192, 256, 384, 512}; }

  /// Tiles of several reduction loops bring their terms in another order.
  bool may_split_reduction() const {
    int loops = 0;
    for (std::size_t i = 0; i < profile_.kind.size(); ++i)
      loops += profile_.kind[i] == ir::iter_kind::reduce && profile_.extent[i] > 1;
    return !profile_.in_order || loops < 2;
  }

  /// Of a tile, as far as is decided.
  tile_promise promise() const {
    return {s_,    block_,       profile_, columns_,        shared_rows_,
            rows_, own_windows_, where_,   spread_in_place_};
  }

  void split_spatial() {
    std::vector<std::int64_t> codes;
    std::vector<double> weights;
    for (const register_tile& t : promise().tiles()) {
      codes.push_back(t.rows * tile_code + t.columns);
      weights.push_back(t.weight);
    }
    const expr_rv code = choices_.categorical(s_, codes, weights);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (profile_.kind[i] != ir::iter_kind::spatial) continue;
      if (i == columns_) {
        const auto [outer, tile] = s_.split(loops_[i], {infer, floormod(code, tile_code)});
        column_tile_ = tile;
        split_column_tiles(outer);
      } else if (i == rows_) {
        const auto [outer, tile] = s_.split(loops_[i], {infer, floordiv(code, tile_code)});
        row_tile_ = tile;
        split_row_tiles(outer);
      } else {
        const std::vector<expr_rv> t = choices_.perfect_tile(s_, loops_[i], 16, {steps_along(i)});
        const std::vector<loop_rv> l = s_.split(loops_[i], t);
        outer_.push_back(l[0]);
        middle_.push_back(l[1]);
      }
    }
  }

  /// Steps along variable `i`, other than rows and columns, that follow each other: windows that overlap along
  /// it are then still in the first-level cache. 3 x 3 of each of 32 channels of 112 by 112 take 54 us a row of
  /// the image at a time, and 41 us by 8 rows of 7.
  std::int64_t steps_of_windows(std::size_t i) const {
    if (!own_windows_) return 1;
    const std::int64_t steps = support::largest_divisor(profile_.extent[i], 8);
    return windows_meet(*s_.get(block_).block, i, steps) ? steps : 1;
  }

  /// Steps along variable `i`, other than rows and columns, before the next tile of either.
  std::int64_t steps_along(std::size_t i) const {
    return std::max(steps_of_windows(i), promise().shares_panel(i) ? profile_.extent[i] : 1);
  }

  /// Few long blocks of rows: whatever is staged for the columns is then used often.
  void split_row_tiles(loop_rv tiles) {
    if (own_windows_ && !reads_windows(*s_.get(block_).block, columns_))
      return split_row_tiles_apart(tiles);
    const expr_rv outer = choices_.categorical(s_, {1, 2, 3, 4, 8, 16}, {4, 3, 2, 2, 1, 1});
    const expr_rv middle = choices_.categorical(s_, {1, 2, 4}, {6, 1, 1});
    const auto [l0, l1, l2] = s_.split(tiles, {outer, middle, infer});
    outer_row_ = {l0};
    middle_row_ = {l1};
    inner_row_ = {l2};
  }

  /// Few rows at a time: where windows that serve one result each do not move along the columns, all
  /// columns of a row are read as they lie in memory. Where the rows that a tile's windows reach do not stay in the
  /// first-level cache from one tile of rows to the next, a few tiles follow each other in each tile of columns: 9 rows
  /// of 2048 columns take 3.3 ms without, 2.6 ms with.
  void split_row_tiles_apart(loop_rv tiles) {
    const expr_rv middle = choices_.categorical(s_, {1, 2, 4}, {6, 1, 1});
    const std::vector<double> weights = rows_leave_cache() ? std::vector<double>{2, 2, 6, 1, 1}
                                                           : std::vector<double>{6, 2, 1, 1, 1};
    const expr_rv inner = choices_.categorical(s_, {1, 2, 4, 8, 16}, weights);
    const auto [l0, l1, l2] = s_.split(tiles, {infer, middle, inner});
    outer_row_ = {l0};
    middle_row_ = {l1};
    inner_row_ = {l2};
  }

  /// Whether windows overlap along the rows, and as many rows as they reach, all columns of each, fill the first-level
  /// cache.
  bool rows_leave_cache() const {
    const ir::block_node& b = *s_.get(block_).block;
    if (!rows_ || !windows_overlap(b, *rows_)) return false;
    std::int64_t reach = 1;
    for (std::size_t i = 0; i < profile_.kind.size(); ++i)
      if (profile_.kind[i] == ir::iter_kind::reduce && moves_windows(b, *rows_, i))
        reach += profile_.extent[i] - 1;
    const access_profile* own = own_operand(profile_);
    return own && support::saturated_product(reach * bytes(own->buffer->type),
                                             profile_.extent[columns_]) > where_.cpu->l1_bytes;
  }

  void split_column_tiles(loop_rv tiles) {
    const expr_rv middle = choices_.categorical(s_, {1, 2, 4, 8}, {5, 1, 1, 1});
    const expr_rv inner = choices_.categorical(s_, {1, 2, 4}, {6, 2, 1});
    const auto [l0, l1, l2] = s_.split(tiles, {infer, middle, inner});
    outer_column_ = {l0};
    middle_column_ = {l1};
    inner_column_ = {l2};
  }

  void split_reduce() {
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (profile_.kind[i] != ir::iter_kind::reduce) continue;
      if (!split_reduction_) {
        reduce_inner_.push_back(loops_[i]);
        continue;
      }
      const std::vector<std::int64_t> few{1, 2, 4, 8};  // rows of operands for all results
      const std::vector<loop_rv> l = s_.split(
          loops_[i], results_wait_ && reduce_outer_.empty()
                         ? choices_.tile(s_, loops_[i], few, 1)
                         : choices_.tile(s_, loops_[i], reduce_tiles(), preferred_reduce_tile()));
      reduce_outer_.push_back(l[0]);
      reduce_inner_.push_back(l[1]);
    }
    order_taps();
  }

  /// The longest tile of a reduction loop up to 256 whose rows of an operand stay in the second-level cache, and which leaves in
  /// the first-level one what taps read again. The taps of
  /// a window fill caches by themselves, and each tile reads and writes all sums: where no panel is used again, 512
  /// channels of 3x3 are one tile, 784 us where two take 837 us.
  std::int64_t preferred_reduce_tile() const {
    constexpr std::int64_t usual = 256, of_windows = 512;
    int loops = 0;
    for (std::size_t i = 0; i < profile_.kind.size(); ++i)
      loops += profile_.kind[i] == ir::iter_kind::reduce && profile_.extent[i] > 1;
    const tile_promise here = promise();
    const bool panels = !here.transposed_operands().empty();
    const std::int64_t most = loops > 1 && !panels ? of_windows : usual;
    std::int64_t stay = std::min(most, here.steps_that_stay());
    if (loops > 1 && panels) stay = std::min(stay, here.steps_between_taps());
    std::int64_t out = 0;
    for (const std::int64_t tile : reduce_tiles())
      if (out == 0 || tile <= stay) out = tile;
    return out;
  }

  /// What rows of windows share is loaded once where taps along the rows come last, written out: then few
  /// vectors wait for the next row at a time. With the others last, which share vectors where columns move in
  /// steps, a tile keeps a vector of each row and tap. One of the two comes first as a structural choice.
  void order_taps() {
    taps_ = reduce_inner_;
    const ir::block_node& b = *s_.get(block_).block;
    if (profile_.in_order || !own_windows_ || !rows_ || !windows_overlap(b, *rows_)) return;
    std::vector<loop_rv> along_rows, others;
    for (std::size_t i = 0, loop = 0; i < profile_.kind.size(); ++i) {
      if (profile_.kind[i] != ir::iter_kind::reduce) continue;
      (profile_.extent[i] > 1 && moves_windows(b, *rows_, i) ? along_rows : others)
          .push_back(reduce_inner_[loop++]);
    }
    if (along_rows.empty() || others.empty() || along_rows.back() == reduce_inner_.back()) return;
    const bool steps = own_operand(profile_)->stride[columns_] > 1;
    if ((choices_.pick(2) == 0) == steps) return;
    taps_ = std::move(others);
    taps_.insert(taps_.end(), along_rows.begin(), along_rows.end());
  }

  /// Short reduction loops may be written out inside the tile: windows that overlap are then loaded
  /// once, and conditions on their position decided. Those that decide which rows of the tile a step
  /// is about always are, as that of a transposed convolution, and those that indices divide: 5 taps of
  /// pixels in steps of three are 6 quotients otherwise, computed again in every step.
  void unroll_taps() {
    bool found = false;
    for (std::size_t i = 0, loop = 0; i < profile_.kind.size(); ++i) {
      if (profile_.kind[i] != ir::iter_kind::reduce) continue;
      const loop_rv l = reduce_inner_[loop++];
      if (profile_.extent[i] < 2 || profile_.extent[i] > most_taps) continue;
      found = true;
      if ((spread_in_place_ && profile_.extent[i] <= target::cheap_lane_step) ||
          (rows_ && decides_rows(*s_.get(block_).block, *rows_, i)) ||
          divides_tap(*s_.get(block_).block, i))
        s_.unroll(l);
    }
    if (!found) return;
    // taps of bytes are widened one by one, and fill the instruction cache sooner
    const std::vector<double> written_out = !own_windows_   ? std::vector<double>{2, 1, 1}
                                            : reads_bytes() ? std::vector<double>{1, 2, 1}
                                                            : std::vector<double>{1, 1, 2};
    const expr_rv most = choices_.categorical(s_, {0, 64, 192}, written_out);
    s_.annotate(taps_.front(), ir::unroll_note, most);
  }

  bool reads_bytes() const {
    return support::any(profile_.reads,
                        [](const access_profile& r) { return bytes(r.buffer->type) == 1; });
  }

  void order() {
    std::vector<loop_rv> all;
    const auto add = [&](const std::vector<loop_rv>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    columns_first_ = makes_panels() && choices_.pick(2) == 0;
    if (reduction_first_) add(reduce_outer_);
    if (columns_first_) add(outer_column_);
    add(outer_);
    add(outer_row_);
    if (!columns_first_) add(outer_column_);
    const std::size_t parallel = all.size();
    add(middle_);
    add(middle_row_);
    add(middle_column_);
    const std::size_t spatial = all.size();
    if (!reduction_first_) add(reduce_outer_);
    add(inner_column_);
    add(inner_row_);
    add(taps_);
    if (rows_) all.push_back(row_tile_);
    all.push_back(column_tile_);
    s_.reorder(all);
    last_middle_ = all[spatial - 1];
    if (where_.threads > 1) {
      const loop_rv fused =
          s_.fuse(std::vector<loop_rv>(all.begin(), all.begin() + static_cast<long>(parallel)));
      s_.parallel(fused);
    }
  }

  /// Operands of which the columns take every second to fourth element, as coordinates of points, are shuffled
  /// out of whole vectors, those of all steps out of the same ones, or transposed in a panel, which pays where
  /// many rows use it.
  void choose_spread() {
    constexpr std::int64_t few_rows = 4;
    const auto spread = [&](const access_profile& x) {
      return !loads_vectors(x, columns_) && loads_spread(x, columns_) &&
             is_panel_material(s_, *s_.get(block_).block, x, columns_, *shared_rows_);
    };
    if (!shared_rows_ || own_windows_ || operands(spread).empty()) return;
    spread_in_place_ = (choices_.pick(2) == 0) == (profile_.extent[*shared_rows_] <= few_rows);
  }

  /// Whether calls transpose an operand, a few columns of which had better be transposed and used by
  /// all rows before the next ones: a transposed copy of all of it is written line by line, each in
  /// another page. 256 filters of 3x3x256 on images of 14 by 14 take 1.33 ms with it, 0.98 with
  /// panels. On several threads each would need the panels of the others.
  bool makes_panels() const {
    const std::vector<int> across = promise().transposed_operands();
    return where_.threads == 1 && !across.empty() && !promise().any_bound(across);
  }

  /// The deepest loop below which a whole reduction of one tile happens.
  loop_rv tile_loop() const {
    if (split_reduction_) return last_middle_;
    return inner_row_.empty() ? inner_column_.back() : inner_row_.back();
  }

  /// Whether the rows of a tile lie side by side in what the consumer writes.
  bool writes_along_rows(const block_profile& consumer) const {
    return rows_ && support::any(consumer.reads, [&](const access_profile& read) {
             return read.buffer == profile_.write.buffer && read.affine &&
                    read.stride[*consumer.contiguous()] == profile_.write.stride[*rows_];
           });
  }

  void fuse_consumers() {
    const std::vector<std::string> consumers = consumer_names(s_, name_);
    if (consumers.size() != 1 || is_output(s_, name_)) return;
    const std::optional<block_profile> p = profile(s_, consumers[0]);
    if (!p || p->reduction || p->updates || !p->contiguous()) return;
    if (producer_names(s_, consumers[0]).size() != 1) return;
    const block_rv consumer = s_.get_block(consumers[0]);
    if (const auto along = across_result(*p, profile_.write.buffer)) {
      // squares of a block of tiles, or of the whole result where a block is one element wide
      if ((choices_.pick(2) == 0) == writes_along_rows(*p))
        s_.reverse_compute_at(consumer, last_middle_, true);
      return vectorize_squares(s_, consumer, *p->contiguous(), *along, where_, choices_);
    }
    s_.reverse_compute_at(consumer, tile_loop(), true);
    std::vector<loop_rv> inner = s_.get_loops(consumer);
    inner.erase(inner.begin(), inner.end() - static_cast<long>(p->kind.size()));
    // the contiguous loop goes innermost
    std::rotate(inner.begin() + static_cast<long>(*p->contiguous()),
                inner.begin() + static_cast<long>(*p->contiguous()) + 1, inner.end());
    s_.reorder(inner);
    if (split_reduction_) {
      const auto [outer, lanes] = s_.split(inner.back(), {infer, vector_lanes()});
      s_.vectorize(lanes);
      return;
    }
    // Only whole unrolling keeps the accumulators of the tile in registers.
    s_.vectorize(inner.back());
    if (inner.size() > 1) s_.unroll(inner[inner.size() - 2]);
  }

  void stage_operands() {
    const tile_promise here = promise();
    const std::vector<int> streamed = here.streamed_operands();
    const std::vector<int> broadcast = operands([&](const access_profile& r) {
      return r.stride[columns_] == 0 && shared_rows_ && r.stride[*shared_rows_] != 0;
    });
    // the first sketch stages the streamed operand when it would not stay in the first-level cache
    // and many rows use what was copied, or when it is bound and staging it costs a call nothing
    // panels of windows would have their borders, and those of columns that are divided whole rows
    const bool divided = divides_tap(*s_.get(block_).block, columns_);
    const bool alone = broadcast.empty() || skips_zeros(*s_.get(block_).block);
    const std::size_t levels = divided ? 1 : alone ? 2 : 3;
    const std::size_t level = (choices_.pick(levels) + here.stages_streamed(streamed)) % levels;
    place_producers();
    const operand_panels panels{s_, block_, columns_, vector_lanes()};
    if (level >= 1)
      for (int r : streamed) panels.copy(r, inner_column_.back());
    if (level >= 2)
      for (int r : broadcast)
        panels.copy(r, split_reduction_ ? reduce_outer_.back() : last_middle_);
    // transposed once a call, unless it is bound, all of the call is in one block of columns, or each task has panels of its own
    const std::vector<int> across = promise().transposed_operands();
    if (columns_first_) {
      for (int r : across) panels.transpose(r, outer_column_.back());
      return;
    }
    if (across.empty()) return;
    const bool whole = (choices_.pick(2) == 0) !=
                       (promise().any_bound(across) || promise().tasks_own_panels(across));
    for (int r : across)
      if (whole)
        panels.transpose(r, std::nullopt);
      else
        panels.transpose(r, inner_column_.back());
  }

  template <class F>
  std::vector<int> operands(F f) const {
    return stageable_operands(s_, profile_, f);
  }
  /// Padded or otherwise computed operands: with the tile, under the outer loops, or where they
  /// are.
  void place_producers() {
    for (const std::string& producer : producer_names(s_, name_)) {
      const std::optional<block_profile> p = profile(s_, producer);
      if (!p || p->reduction || !p->contiguous() || consumer_names(s_, producer).size() != 1)
        continue;
      const std::size_t place = choices_.pick(2);
      if (place == 0) continue;
      const block_rv b = s_.get_block(producer);
      s_.compute_at(b, last_middle_, true);
      if (const auto along = transposed_iter(s_, *s_.get(b).block, *p->contiguous())) {
        vectorize_squares(s_, b, *p->contiguous(), *along, where_, choices_);
        continue;
      }
      const auto [outer, lanes] = s_.split(s_.get_loops(b).back(), {infer, vector_lanes()});
      s_.vectorize(lanes);
    }
  }

  int vector_lanes() const { return where_.cpu->lanes(profile_.write.buffer->type); }

  schedule& s_;
  std::string name_;
  const context& where_;
  chooser& choices_;
  block_profile profile_;
  std::size_t columns_;
  std::optional<std::size_t> shared_rows_;  // along which an operand is used again
  std::optional<std::size_t> rows_;
  bool own_windows_;

  bool split_reduction_ = false, reduction_first_ = false, columns_first_ = false;
  bool results_wait_ = false;     // in a cache, while operands pass by
  bool spread_in_place_ = false;  // elements of every few are shuffled where they are loaded
  block_rv block_;
  std::vector<loop_rv> loops_;
  std::vector<loop_rv> outer_, middle_;
  std::vector<loop_rv> outer_row_, middle_row_, inner_row_, outer_column_, middle_column_,
      inner_column_;
  std::vector<loop_rv> reduce_outer_, reduce_inner_, taps_;  // taps_: the inner ones in order
  loop_rv row_tile_, column_tile_, last_middle_;
};

}  // namespace detail

TILEWRIGHT_INLINE bool can_be_columns(const schedule& s, const std::string& block,
                                      const block_profile& p, std::size_t iter) {
  const std::optional<std::size_t> rows = p.reuse(iter);
  const ir::block_node& b = *named_block(s, block).block;
  return support::all(p.reads, [&](const access_profile& read) {
    return detail::loads_spread(read, iter) ||
           (rows && detail::is_panel_material(s, b, read, iter, *rows));
  });
}

TILEWRIGHT_INLINE bool needs_register_tiling(const schedule& s, const std::string& block) {
  const std::optional<block_profile> p = profile(s, block);
  if (!p || !p->reduction || !p->has(ir::iter_kind::reduce)) return false;
  const std::optional<std::size_t> columns = p->contiguous();
  if (!columns || !can_be_columns(s, block, *p, *columns)) return false;
  // a sum of rows within a chain is computed with the chain instead: it shares nothing to tile for
  return p->reuse(*columns) || consumer_names(s, block).empty();
}

TILEWRIGHT_INLINE void register_tiling(schedule& s, const std::string& block, const context& where,
                                       chooser& choices) {
  if (!needs_register_tiling(s, block))
    primitive::refusal{"register_tiling"}(
        1, {"block ", block,
            " is no reduction with a contiguous output axis along which its "
            "operands can be loaded as vectors"});
  detail::tiling(s, block, where, choices).run();
}

}  // namespace tilewright::space
