// Cascades of reductions on a GPU in one kernel, as attention in FlashAttention-2 (Dao, arXiv 2307.08691): a tile of
// rows to each warp, or a row to each thread, parts of the axis one after the other through shared memory, and maxima,
// sums and results in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/algorithm_form.hpp>
#include <tilewright/impl/schedule/primitive/reductions/cascade.hpp>
#include <tilewright/impl/space/tensor_cores/staged_copies.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::space::detail {

/// The forms of a cascade, and what may be drawn for them.
class running_parts {
 public:
  /// @param on_warps products on tensor cores; else in threads
  running_parts(schedule& s, chooser& choices, bool on_warps)
      : s_(s), choices_(choices), on_warps_(on_warps) {}

  /// @throws schedule_error where the function has no such cascade, or a block cannot be moved
  void run() {
    inline_scores();
    choose_form();
    find_parts();
    place();
    if (on_warps_)
      use_warps();
    else
      use_threads();
    copy_ahead();
  }

 private:
  [[noreturn]] static void refuse(int requirement, const std::string& why) {
    throw schedule_error("running_parts", requirement, why);
  }

  /// What is computed of each score goes into the blocks that read it, so that scores are what a product leaves.
  void inline_scores() {
    for (bool changed = true; changed;) {
      changed = false;
      const primitive::parted_cascade c = primitive::reduce_running(s_.function(), 1, 1);
      if (!c.wide) refuse(1, "no reduction needs a maximum and has results along more axes");
      for (const std::string& name : producer_names(s_, c.head)) {
        if (named_block(s_, name).block->init) continue;
        s_.compute_inline(s_.get_block(name));
        changed = true;
        break;
      }
    }
  }

  static std::optional<std::int64_t> literal(const ir::expr& e) {
    return ir::is_int(e) ? std::optional(ir::as_int(e)) : std::nullopt;
  }

  /// Numbers of `sizes` that divide `all`.
  static std::vector<std::int64_t> divisors(const std::vector<std::int64_t>& sizes,
                                            std::int64_t all) {
    std::vector<std::int64_t> out;
    for (const std::int64_t n : sizes)
      if (all % n == 0) out.push_back(n);
    return out;
  }
  expr_rv draw(const std::vector<std::int64_t>& sizes, std::vector<double> weights = {}) {
    if (sizes.empty()) refuse(2, "no tile divides the rows, or no part the axis");
    weights.resize(sizes.size(), 1.0);
    weights[0] += 1;  // what runs unmeasured
    return choices_.categorical(s_, sizes, weights);
  }

  /// Extents of a cascade's results.
  struct extents {
    std::int64_t rows, width, axis;
  };
  extents find_extents() const {
    const primitive::parted_cascade c = primitive::reduce_running(s_.function(), 1, 1);
    const ir::block_node& widest = *named_block(s_, c.widest).block;
    const auto rows = literal(extent_at(widest, c.common - 1)),
               width = literal(extent_at(widest, widest.writes[0].box.size() - 1));
    if (!rows || !width) refuse(2, "its extents are no numbers");
    return {*rows, *width, c.extent};
  }

  /// What rows are padded to a multiple of: tiles of two warps where these divide them, else of four.
  std::int64_t multiple_of(std::int64_t rows) const {
    const std::int64_t team = on_warps_ ? 64 : 32;
    if (rows % team == 0) return team;
    std::int64_t out = on_warps_ ? fragment : team;
    while (out < 2 * team && out < rows) out *= 2;
    return out;
  }
  /// Rows grow to whole teams, and the axis to whole parts where no part divides it.
  void pad(const std::vector<std::int64_t>& lengths) {
    const extents e = find_extents();
    const std::int64_t rows = multiple_of(e.rows);
    std::int64_t length = lengths.front();
    while (length > fragment && length / 2 >= e.axis) length /= 2;
    if (!divisors(lengths, e.axis).empty()) length = 1;
    if (e.rows % rows == 0 && e.axis % length == 0) return;
    s_.work_on(s_.function().name + std::string(primitive::padded_suffix) + "_" +
               std::to_string(rows) + "_" + std::to_string(length));
  }
  /// Copies of operands with zeros behind them are made where what is copied is read.
  void take_padding(block_rv reader) {
    for (const std::string& padding : producer_names(s_, s_.get(reader).block->name))
      become_one_with_consumers(s_, padding);
  }

  void choose_form() {
    const bool narrow = find_extents().width <= 64;
    std::vector<std::int64_t> lengths = !on_warps_ ? std::vector<std::int64_t>{16, 32, 8}
                                        : narrow   ? std::vector<std::int64_t>{64, 32, 128}
                                                   : std::vector<std::int64_t>{32, 64};
    pad(lengths);
    const extents e = find_extents();
    if (on_warps_ && e.width % fragment != 0)
      refuse(2, "results of " + std::to_string(e.width) + " columns are no multiple of 16");
    if (e.axis < lengths.front()) lengths.push_back(fragment);
    const std::vector<std::string> before = root_block_names(s_);
    const std::vector<std::int64_t> tiles =
        on_warps_ ? divisors({32, 16}, e.rows) : std::vector<std::int64_t>{1};
    const expr_rv tile = draw(tiles);
    const expr_rv length = draw(divisors(lengths, e.axis));
    const std::int64_t widest_tile = tiles.front();
    tile_ = tile;
    tile_rows_ = widest_tile;
    team_ = draw(divisors(on_warps_ ? std::vector<std::int64_t>{4, 8, 2, 1}
                                    : std::vector<std::int64_t>{128, 64, 256, 32},
                          e.rows / widest_tile));
    s_.annotate(s_.get_block("root"), ir::sizes_attribute, annotation_value::list{tile, length});
    s_.work_on(s_.function().name + std::string(primitive::running_suffix));
    for (const std::string& name : root_block_names(s_))
      if (!support::contains(before, name)) all_ = name;
  }
  static ir::expr extent_at(const ir::block_node& b, std::size_t dimension) {
    for (const ir::iter_var& i : b.iters)
      if (i.var.same(b.writes[0].box[dimension].min)) return i.dom.extent;
    return ir::integer(dtype::i32, 0);
  }

  static bool is_short(dtype t) { return t == dtype::f16 || t == dtype::bf16; }

  /// The product that makes the scores, its operands, the blocks of a part, and what reads the results.
  void find_parts() {
    const ir::block_node& all = *named_block(s_, all_).block;
    for (const std::string& name : producer_names(s_, all_))
      if (named_block(s_, name).block->init) scores_ = name;
    const std::vector<std::string> readers = consumer_names(s_, all_);
    if (scores_.empty() || readers.size() != 1)
      refuse(3, "its scores are no product, or several blocks read its results");
    last_ = readers[0];
    const ir::block_node& scores = *named_block(s_, scores_).block;
    const ir::buffer_region& to = scores.writes[0];
    if (scores.reads.size() != 2 || to.box.size() < 2)
      refuse(3, "its scores are no product of two operands");
    const auto uses = [](const ir::buffer_region& r, const ir::expr& v) {
      return support::any(r.box, [&](const ir::range& side) { return ir::uses_var(side.min, v); });
    };
    const ir::expr& row = to.box[to.box.size() - 2].min;
    for (const ir::iter_var& i : scores.iters)
      if (on_warps_ && i.kind == ir::iter_kind::reduce &&
          (!ir::is_int(i.dom.extent) || ir::as_int(i.dom.extent) % fragment != 0))
        refuse(2, "its scores are sums of terms whose number is no multiple of 16");
    rows_operand_ = uses(scores.reads[0], row) ? 0 : 1;
    if (uses(scores.reads[static_cast<std::size_t>(1 - rows_operand_)], row))
      refuse(3, "both operands of its scores have rows");
    if (on_warps_ && !support::all(scores.reads, [](const ir::buffer_region& r) {
          return is_short(r.buffer->type);
        }))
      refuse(4, "its scores are products of other types than f16 and bf16");
    find_values(all);
  }

  void find_values(const ir::block_node& all) {
    std::vector<ir::buffer> own = all.alloc_buffers;
    ir::for_each_stmt(all.body, [&](const ir::stmt& s) {
      if (const ir::block_realize_node* r = ir::as_realize(s))
        own.insert(own.end(), r->block->alloc_buffers.begin(), r->block->alloc_buffers.end());
    });
    ir::for_each_stmt(all.body, [&](const ir::stmt& s) {
      const ir::block_realize_node* r = ir::as_realize(s);
      if (!r || r->block->writes.size() != 1) return;
      inner_.push_back(r->block->name);
      const ir::buffer& to = r->block->writes[0].buffer;
      if (to->shape.size() <= common_of(all)) return;
      for (std::size_t k = 0; k < r->block->reads.size(); ++k) {
        const ir::buffer& from = r->block->reads[k].buffer;
        const bool outside = !support::contains(own, from) && from != to;
        const bool sums = support::any(
            r->block->iters, [](const ir::iter_var& i) { return i.kind == ir::iter_kind::reduce; });
        if (!outside || !sums) continue;
        values_ = r->block->name;
        values_operand_ = static_cast<int>(k);
        for (std::size_t n = 0; n < all.reads.size(); ++n)
          if (all.reads[n].buffer == from) values_in_all_ = static_cast<int>(n);
        const auto rounded = [&](const ir::buffer_region& x) {
          return support::contains(own, x.buffer) && is_short(x.buffer->type);
        };
        if (on_warps_ && !support::any(r->block->reads, rounded))
          refuse(4, "weights of its values may not be rounded to 16 bits");
      }
    });
    if (values_.empty()) refuse(3, "its values are no operand of a product");
  }
  /// Dimensions of a maximum: the fewest of what the block writes.
  static std::size_t common_of(const ir::block_node& all) {
    std::size_t out = all.writes[0].buffer->shape.size();
    for (const ir::buffer_region& w : all.writes) out = std::min(out, w.buffer->shape.size());
    return out;
  }

  /// Tiles of rows on blocks and warps or threads, parts below them, and everything else at these.
  void place() {
    const block_rv all = s_.get_block(all_);
    std::vector<loop_rv> loops = s_.get_loops(all);
    part_ = loops.back();
    loops.pop_back();
    const auto split = s_.split(loops.back(), {infer, team_});
    loops.back() = split[0];
    owner_ = split[1];
    const loop_rv blocks = loops.size() > 1 ? s_.fuse(loops) : loops[0];
    s_.bind(blocks, "blockIdx.x");
    s_.bind(owner_, on_warps_ ? "threadIdx.y" : "threadIdx.x");
    s_.compute_at(s_.get_block(scores_), part_, true);
    finish_rows();
    set_scopes();
  }

  /// What reads the results goes to the warp that has them; all of its rows are whole tiles, those behind the last one left
  /// out where they are stored.
  void finish_rows() {
    const block_rv last = s_.get_block(last_);
    s_.reverse_compute_at(last, owner_, true);
    const std::size_t rows = common_of(*s_.get(s_.get_block(all_)).block) - 1;
    const std::vector<loop_rv> loops = s_.get_loops(last);
    const loop_rv row = loops[loops.size() - s_.get(last).block->iters.size() + rows];
    const ir::expr extent = s_.get(row).extent;
    if (on_warps_ && ir::is_int(extent) && ir::as_int(extent) % tile_rows_ != 0)
      s_.split(row, {infer, tile_});
  }
  void set_scopes() {
    const block_rv all = s_.get_block(all_);
    const std::size_t outputs = s_.get(all).block->writes.size();
    const std::size_t common = common_of(*s_.get(all).block);
    for (std::size_t n = 0; n < outputs; ++n) {
      const bool row = s_.get(all).block->writes[n].buffer->shape.size() == common;
      s_.set_scope(all, static_cast<int>(n), scope(row, dtype::f32));
    }
    s_.set_scope(s_.get_block(scores_), 0, scope(false, dtype::f32));
    for (const std::string& name : inner_) {
      const block_rv inner = s_.get_block(name);
      const ir::buffer to = s_.get(inner).block->writes[0].buffer;
      if (to->scope == "global") s_.set_scope(inner, 0, scope(to->shape.size() == 1, to->type));
    }
  }
  std::string scope(bool row, dtype type) const {
    if (!on_warps_) return "local";
    return row ? "wmma.rows" : is_short(type) ? "wmma.matrix_a" : "wmma.accumulator";
  }

  block_rv copy(loop_rv at, block_rv reader, int operand, const char* to) {
    const block_rv out = s_.read_at(at, reader, operand, to);
    s_.annotate(out, "vector_bytes", 16);
    take_padding(out);
    return out;
  }

  /// The loops of a product's own, and the one over its terms.
  struct own_loops {
    std::vector<loop_rv> results;
    loop_rv terms;
  };
  own_loops loops_of(const std::string& name) {
    const block_rv block = s_.get_block(name);
    const std::vector<ir::iter_var>& iters = s_.get(block).block->iters;
    const std::vector<loop_rv> loops = s_.get_loops(block);
    own_loops out;
    const std::size_t first = loops.size() - iters.size();
    for (std::size_t i = 0; i < iters.size(); ++i)
      if (iters[i].kind == ir::iter_kind::reduce)
        out.terms = loops[first + i];
      else
        out.results.push_back(loops[first + i]);
    return out;
  }
  /// Steps of `length` terms around the results. @returns the loop over these
  loop_rv step_by(const std::string& name, std::int64_t length) {
    own_loops own = loops_of(name);
    const auto steps = s_.split(own.terms, {infer, length});
    std::vector<loop_rv> order{steps[0]};
    order.insert(order.end(), own.results.begin(), own.results.end());
    order.push_back(steps[1]);
    s_.reorder(order);
    return steps[0];
  }

  /// Rows stay in fragments, where these are few registers, or are loaded from shared memory for each part.
  void use_warps() {
    const block_rv root = s_.get_block("root"), scores = s_.get_block(scores_),
                   all = s_.get_block(all_);
    s_.annotate(root, "warp_execution", 1);
    const bool kept = choices_.pick(2) == 1;
    if (kept)
      take_padding(s_.read_at(owner_, scores, rows_operand_, "wmma.matrix_a"));
    else
      copy(owner_, scores, rows_operand_, "shared.dyn");
    copy(part_, scores, 1 - rows_operand_, "shared.dyn");
    copy(part_, all, values_in_all_, "shared.dyn");
    const loop_rv terms = step_by(scores_, fragment);
    if (!kept) s_.read_at(terms, scores, rows_operand_, "wmma.matrix_a");
    s_.read_at(terms, scores, 1 - rows_operand_, "wmma.matrix_b");
    s_.read_at(step_by(values_, fragment), s_.get_block(values_), values_operand_, "wmma.matrix_b");
  }

  /// Each thread keeps its row in registers, and reads all others from shared memory as its neighbours do.
  void use_threads() {
    const block_rv scores = s_.get_block(scores_), all = s_.get_block(all_);
    take_padding(s_.read_at(owner_, scores, rows_operand_, "local"));
    copy(part_, scores, 1 - rows_operand_, "shared");
    copy(part_, all, values_in_all_, "shared");
    // beginnings of sums are a statement of the pipeline, as those of fragments are
    s_.decompose_reduction(scores, loops_of(scores_).results.front());
  }

  /// The next parts are copied while one is worked on.
  void copy_ahead() {
    using list = ir::attr::list;
    const std::int64_t ahead = choices_.pick(2) == 0 ? 1 : 2;
    s_.annotate(part_, "software_pipeline_stage", list{0, ahead, ahead, 0, ahead});
    s_.annotate(part_, "software_pipeline_order", list{0, 2, 3, 1, 4});
    s_.annotate(part_, "software_pipeline_async_stages", list{0});
    s_.annotate(part_, "software_pipeline_rest", 1);
  }

  static constexpr std::int64_t fragment = 16;  // rows, columns and terms of an instruction

  schedule& s_;
  chooser& choices_;
  bool on_warps_;
  std::int64_t tile_rows_ = 1;  // the most that a warp has
  expr_rv tile_{}, team_{};     // rows of a warp or thread; warps or threads of a block
  std::string all_, scores_, last_, values_;
  std::vector<std::string> inner_;
  int rows_operand_ = 0, values_operand_ = 0, values_in_all_ = 0;
  loop_rv part_{}, owner_{};
};

/// Families of a cascade in one kernel; none where the function has none, or where it does not fit.
inline void add_running_families(std::vector<schedule>& out, const schedule& s,
                                 const context& where, bool on_warps) {
  constexpr std::size_t limit = 8;
  if (!primitive::reduce_running(s.function(), 1, 1).wide) return;
  schedule start = s;
  try {
    for (schedule& grown : enumerate(start, where, limit, [&](schedule&t, chooser&choices) {
           running_parts(t, choices, on_warps).run();
         }))
      out.push_back(std::move(grown));
  } catch (const schedule_error&) {  // other families do
  }
}

}  // namespace tilewright::space::detail
