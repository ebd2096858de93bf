// What the rules of multi-level tiling share: one block, tiled in a structure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/space/tiles/product_order.hpp>
#include <tilewright/impl/space/tiles/thread_tiles.hpp>
#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::space::detail {

/// The tiling of one block in the making.
class tiler {
 public:
  tiler(schedule& s, std::string block, const multi_level_tiling& rule, chooser& choices)
      : s_(s), name_(std::move(block)), rule_(rule), choices_(choices) {}

  /// The innermost tile of this iteration variable has `lanes` elements, where it has more.
  void fix_innermost(std::size_t iter, std::int64_t lanes) {
    vector_iter_ = iter;
    lanes_ = lanes;
  }

  void run() {
    check();
    block_ = s_.get_block(name_);
    origin_ = origin_of_operands();
    tile_loops();
    bind_tiles();
    stage_results();
    stage_operands();
    overlap_steps();
  }

  /// The innermost tile that `fix_innermost` asked for, if the extent was longer.
  std::optional<loop_rv> vector_tile() const { return vector_tile_; }

 private:
  static constexpr primitive::refusal refuse{"multi_level_tiling"};

  static char letter_of(ir::iter_kind kind) { return kind == ir::iter_kind::reduce ? 'R' : 'S'; }

  void check() const {
    if (rule_.structure.empty() || rule_.structure.find_first_not_of("SR") != std::string::npos)
      refuse(1, {"the structure \"", rule_.structure, "\" needs letters S and R only"});
    for (const ir::iter_var& iter : named_block(s_, name_).block->iters) {
      if (iter.kind != ir::iter_kind::spatial && iter.kind != ir::iter_kind::reduce)
        refuse(2, {"block ", name_, " has a variable, ", iter.var->name,
                   ", that is neither spatial nor a reduction"});
      if (rule_.structure.find(letter_of(iter.kind)) == std::string::npos)
        refuse(1, {"the structure \"", rule_.structure, "\" has no ",
                   std::string(1, letter_of(iter.kind)), " for ", iter.var->name, " of block ",
                   name_});
    }
    if (!is_trivially_bound(s_, name_))
      refuse(2, {"the iteration variables of block ", name_, " are not its loops"});
    for (const reuse* r : {&rule_.reuse_read, &rule_.reuse_write})
      for (const int level : r->levels)
        if (level < 1 || level > static_cast<int>(rule_.structure.size()))
          refuse(3, {"level ", level, " is no position in \"", rule_.structure, "\""});
  }

  // ---- loops

  void tile_loops() {
    const ir::block block = s_.get(block_).block;
    const std::vector<loop_rv> loops = s_.get_loops(block_);
    s_.annotate(block_, tiling_structure_key, rule_.structure);
    tiles_.assign(rule_.structure.size(), {});
    if (!rule_.tile_binds.empty()) device_ = tile_estimate(*block, limits()).best();
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const char letter = letter_of(block->iters[i].kind);
      std::vector<std::size_t> positions;
      for (std::size_t p = 0; p < rule_.structure.size(); ++p)
        if (rule_.structure[p] == letter) positions.push_back(p);
      const std::vector<loop_rv> tiled = split(loops[i], i, positions);
      for (std::size_t t = 0; t < tiled.size(); ++t) tiles_[positions[t]].push_back(tiled[t]);
      if (letter == 'S' && ir::is_int(block->iters[i].dom.extent))
        spatial_volume_ *= block->iters[i].dom.extent->integer;
    }
    std::vector<loop_rv> order;
    for (const std::vector<loop_rv>& tile : tiles_)
      order.insert(order.end(), tile.begin(), tile.end());
    // the loop of whole vectors goes innermost in its tile
    if (vector_tile_)
      support::stable_sort(
          order, [&](loop_rv a, loop_rv b) { return !(a == *vector_tile_) && b == *vector_tile_; });
    if (order.size() > 1) s_.reorder(order);
  }

  tile_limits limits() const {
    tile_limits out;
    out.threads = std::min(256, rule_.max_threads_per_block);
    out.multiprocessors = rule_.multiprocessors;
    out.staged_bytes = rule_.staged_bytes;
    return out;
  }

  std::vector<loop_rv> split(loop_rv loop, std::size_t iter,
                             const std::vector<std::size_t>& positions) {
    if (positions.size() == 1) return {loop};
    const ir::expr extent = s_.get(loop).extent;
    if (iter != vector_iter_ || !ir::is_int(extent) || extent->integer <= lanes_)
      return s_.split(loop, sizes(loop, iter, positions));
    const auto [rest, vector] = s_.split(loop, {infer, lanes_});
    vector_tile_ = vector;
    std::vector<loop_rv> out{rest};
    if (positions.size() > 2)
      out = s_.split(rest, sizes(rest, iter, {positions.begin(), positions.end() - 1}));
    out.push_back(vector);
    return out;
  }

  std::vector<expr_rv> sizes(loop_rv loop, std::size_t iter,
                             const std::vector<std::size_t>& positions) {
    if (!rule_.dividing) {
      std::vector<std::int64_t> innermost;
      const int limit = rule_.max_innermost_factor < 1 ? 64 : rule_.max_innermost_factor;
      for (std::int64_t size = 1; size <= limit; size *= 2) innermost.push_back(size);
      return s_.sample_tile(loop, static_cast<int>(positions.size()), innermost);
    }
    std::vector<std::int64_t> preferred;
    for (std::size_t i = 1; i < positions.size(); ++i)
      preferred.push_back(preferred_size(positions[i], i + 1 == positions.size(), iter));
    const int limit = rule_.max_innermost_factor < 1 ? std::numeric_limits<int>::max()
                                                     : rule_.max_innermost_factor;
    return choices_.perfect_tile(s_, loop, limit, preferred);
  }

  /// A size that is sound without measuring.
  std::int64_t preferred_size(std::size_t position, bool innermost, std::size_t iter) const {
    if (!device_) return innermost ? 16 : 4;
    const thread_tiles::axis& mine = device_->spatial[iter];
    if (rule_.structure[position] == 'R') return innermost ? 1 : device_->steps[iter];
    if (innermost) return mine.results;
    if (position >= rule_.tile_binds.size()) return 1;
    const std::string& axis = rule_.tile_binds[position];
    if (axis.rfind("threadIdx", 0) == 0) return mine.threads;
    return axis.rfind("vthread", 0) == 0 ? mine.vthreads : 1;
  }

  void bind_tiles() {
    bool threads = false;
    const ir::block block = named_block(s_, name_).block;
    const std::optional<product_sides> sides =
        rule_.product_order ? sides_of_product(*block) : std::nullopt;
    const std::optional<product_sides> of_threads = sides ? sides : sides_of_vectors(*block);
    for (std::size_t p = 0; p < std::min(rule_.tile_binds.size(), tiles_.size()); ++p) {
      if (tiles_[p].empty()) continue;
      if (sides && rule_.tile_binds[p].rfind("blockIdx", 0) == 0)
        group_blocks(s_, tiles_[p], *sides, choices_, rule_.multiprocessors);
      if (of_threads && rule_.tile_binds[p].rfind("threadIdx", 0) == 0)
        order_in_warps(s_, tiles_[p], *of_threads, choices_, rule_.warp_size);
      const loop_rv fused = tiles_[p].size() > 1 ? s_.fuse(tiles_[p]) : tiles_[p][0];
      s_.bind(fused, rule_.tile_binds[p]);
      tiles_[p] = {fused};
      threads = threads || rule_.tile_binds[p].rfind("threadIdx", 0) == 0;
    }
    if (!threads) return;
    limit_registers();
    const int least = spatial_volume_ > std::int64_t{2} * rule_.warp_size ? rule_.warp_size : 1;
    s_.annotate(block_, "meta_schedule.thread_extent_low_inclusive", least);
    s_.annotate(block_, "meta_schedule.thread_extent_high_inclusive", rule_.max_threads_per_block);
  }

  /// Of a window whose threads read vectors of what all pixels share.
  std::optional<product_sides> sides_of_vectors(const ir::block_node& block) const {
    if (!rule_.product_order || !device_) return std::nullopt;
    std::optional<product_sides> out = sides_of_window(block);
    std::size_t spatial = 0;
    for (std::size_t i = 0; out && i < block.iters.size(); ++i)
      if (block.iters[i].kind != ir::iter_kind::reduce && spatial++ == out->column &&
          device_->spatial[i].results < 2)
        return std::nullopt;
    return out;
  }

  /// Threads with many results need registers that leave room for other blocks.
  void limit_registers() {
    if (rule_.resident_blocks.empty() || tiles_[0].size() != 1 || !device_) return;
    std::int64_t threads = 1, results = 1;
    for (const thread_tiles::axis& a : device_->spatial) {
      threads *= a.threads;
      results *= a.vthreads * a.results;
    }
    constexpr std::int64_t many = 32, all = 512;  // results of a thread; threads of 128 registers
    const std::int64_t wanted =
        results > many && origin_ == origin::copied ? std::max<std::int64_t>(all / threads, 1) : 0;
    std::vector<std::int64_t> numbers = rule_.resident_blocks;
    const auto first = std::find(numbers.begin(), numbers.end(), wanted);
    if (first != numbers.end()) std::rotate(numbers.begin(), first, first + 1);
    const std::vector<double> weights(numbers.size(), 1.0);
    s_.annotate(tiles_[0][0], ir::resident_blocks_note, choices_.categorical(s_, numbers, weights));
  }

  /// The last loop at the position or, where that tile has none, before it.
  loop_rv loop_at(int level) const {
    for (auto p = static_cast<std::size_t>(level); p-- > 0;)
      if (!tiles_[p].empty()) return tiles_[p].back();
    refuse(3, {"block ", name_, " has no loop at level ", level, " of \"", rule_.structure, "\""});
  }

  // ---- results

  reuse wish_of_results() const {
    reuse wish = rule_.reuse_write;
    const ir::annotations& notes = s_.get(block_).block->annotations;
    const auto note = notes.find("meta_schedule.write_cache_level");
    if (note == notes.end()) return wish;
    wish.levels.clear();
    if (const auto* list = std::get_if<ir::attr::list>(&note->second.value))
      for (const ir::attr& level : *list)
        if (const auto* n = std::get_if<std::int64_t>(&level.value))
          wish.levels.push_back(static_cast<int>(*n));
    wish.wish = staging::must;
    return wish;
  }

  /// The only consumer, where it can stand for the copy out of a tile.
  std::optional<std::string> epilogue() const {
    const std::vector<std::string> consumers = consumer_names(s_, name_);
    if (consumers.size() != 1 || is_output(s_, name_)) return std::nullopt;
    const ir::block_node& consumer = *named_block(s_, consumers[0]).block;
    const read_pattern reads = pattern_of_reads(consumer);
    if (consumer.init || !reads.injective || !reads.ordered) return std::nullopt;
    if (producer_names(s_, consumers[0]).size() != 1) return std::nullopt;
    return consumers[0];
  }

  void stage_results() {
    const reuse wish = wish_of_results();
    if (wish.wish == staging::none || wish.levels.empty()) return;
    const bool optional = wish.wish == staging::may;
    if (const std::optional<std::string> consumer = epilogue(); optional && consumer) {
      const std::size_t choice = choices_.pick(wish.levels.size() + 1);
      if (choice < wish.levels.size())
        s_.reverse_compute_at(s_.get_block(*consumer), loop_at(wish.levels[choice]), true);
      return;
    }
    std::size_t choice = choices_.pick(wish.levels.size() + (optional ? 1 : 0));
    if (optional && choice-- == 0) return;
    if (!wish.through.empty() && is_matrix(s_.get(block_).block->writes[0].buffer) &&
        choices_.pick(2) == 1)
      store_together(wish.through);
    const block_rv copy = s_.cache_write(block_, 0, wish.scope);
    s_.reverse_compute_at(copy, loop_at(wish.levels[choice]), true);
  }

  /// Whether no more than two dimensions have several elements. Of others lowering cannot always tell that
  /// threads which store them together store apart.
  static bool is_matrix(const ir::buffer& b) {
    int sides = 0;
    for (const ir::expr& extent : b->shape) sides += ir::is_int(extent, 1) ? 0 : 1;
    return sides <= 2;
  }

  /// Results of all threads of a block meet in a buffer, from where they go on below the first tile.
  void store_together(const std::string& scope) {
    const ir::buffer result = s_.get(block_).block->writes[0].buffer;
    const block_rv out = s_.cache_write(block_, 0, scope);
    s_.reverse_compute_at(out, loop_at(1), true);
    fetch_together(out, result);
  }

  // ---- operands

  void stage_operands() {
    const reuse& wish = rule_.reuse_read;
    if (wish.wish == staging::none || wish.levels.empty()) return;
    const bool optional = wish.wish == staging::may;
    std::size_t choice = choices_.pick(wish.levels.size() + (optional ? 1 : 0));
    if (optional && choice-- == 0) return;
    const loop_rv at = loop_at(wish.levels[choice]);
    const std::size_t reads = s_.get(block_).block->reads.size();
    for (std::size_t r = 0; r < reads; ++r) {
      const ir::block_node& block = *s_.get(block_).block;
      const ir::buffer operand = block.reads[r].buffer;
      if (operand == block.writes[0].buffer) continue;
      const bool in_rows = has_rows_of_terms(block, block.reads[r]) || has_long_rows(block, r);
      ++copies_;
      const block_rv copy = s_.cache_read(block_, static_cast<int>(r), wish.scope, {block_});
      s_.compute_at(copy, at, true);
      fetch_together(copy, operand);
      if (in_rows && !rule_.row_padding.empty())
        s_.annotate(copy, ir::row_padding_note,
                    choices_.categorical(s_, rule_.row_padding,
                                         std::vector<double>(rule_.row_padding.size(), 1.0)));
    }
  }

  /// Whether rows of the operand are terms of a window, and so many of them at once that rows may meet in a bank.
  bool has_long_rows(const ir::block_node& block, std::size_t operand) const {
    constexpr std::int64_t many = 32;  // bytes
    if (!device_ || !rule_.product_order) return false;
    const ir::buffer_region& r = block.reads[operand];
    const std::optional<std::size_t> terms = terms_of_rows(block, r);
    return terms && device_->steps[*terms] * bytes(r.buffer->type) >= many;
  }

  /// What becomes of operands on their way to shared memory.
  enum class origin : std::uint8_t { copied, padded, computed };

  origin origin_of_operands() const {
    origin out = origin::copied;
    for (const std::string& name : producer_names(s_, name_)) {
      const ir::store_node* to = ir::as_store(named_block(s_, name).block->body);
      if (!to) return origin::computed;
      const bool chooses = to->value->op == ir::op::if_then_else || to->value->op == ir::op::select;
      const ir::expr& element = chooses ? to->value->args[1] : to->value;
      const bool border = !chooses || to->value->args[2]->op == ir::op::real ||
                          to->value->args[2]->op == ir::op::integer;
      if (element->op != ir::op::load || !border) return origin::computed;
      if (chooses) out = origin::padded;
    }
    return out;
  }

  /// Operands of later steps are copied in the background of one.
  void overlap_steps() {
    const std::size_t first = rule_.structure.find('R');
    if (rule_.steps_ahead.empty() || copies_ == 0 || origin_ == origin::computed ||
        first == std::string::npos)
      return;
    const std::optional<loop_rv> loop = longest_reduction(first);
    if (!loop) return;
    std::vector<std::int64_t> numbers = rule_.steps_ahead;
    const std::int64_t wanted = preferred_ahead(rounds(*loop));
    const auto chosen = std::find(numbers.begin(), numbers.end(), wanted);
    if (chosen != numbers.end()) std::rotate(numbers.begin(), chosen, chosen + 1);
    const std::vector<double> weights(numbers.size(), 1.0);
    const expr_rv ahead = choices_.categorical(s_, numbers, weights);
    annotation_value::list stages(static_cast<std::size_t>(copies_), 0);
    ir::attr::list order;
    stages.emplace_back(factor(ahead));
    for (std::int64_t i = 0; i <= copies_; ++i) order.emplace_back(i);
    s_.annotate(*loop, "software_pipeline_stage", stages);
    s_.annotate(*loop, "software_pipeline_order", order);
    s_.annotate(*loop, "software_pipeline_async_stages", ir::attr::list{0});
  }

  /// Of a short loop the first copies are much of it, and several are made at once; as many as leave memory for
  /// other blocks.
  std::int64_t preferred_ahead(std::int64_t rounds) const {
    constexpr std::int64_t short_loop = 8, most = 3;
    if (rounds == 1 || !device_) return 1;
    std::int64_t out = rounds <= short_loop ? std::min(most, rounds) : 1;
    const double room = 1.5 * static_cast<double>(rule_.staged_bytes);
    while (out > 0 && static_cast<double>(out + 1) * device_->staged_bytes > room) --out;
    return out;
  }
  std::int64_t rounds(loop_rv loop) const {
    const ir::expr& extent = s_.get(loop).extent;
    return ir::is_int(extent) ? extent->integer : std::numeric_limits<std::int64_t>::max();
  }

  /// The outermost tile of the longest reduction; nothing where none has several iterations.
  std::optional<loop_rv> longest_reduction(std::size_t position) const {
    std::optional<loop_rv> out;
    std::int64_t most = 1;
    std::size_t next = 0;
    for (const ir::iter_var& iter : named_block(s_, name_).block->iters) {
      if (iter.kind != ir::iter_kind::reduce) continue;
      const loop_rv tile = tiles_[position].at(next++);
      if (!ir::is_int(iter.dom.extent) || iter.dom.extent->integer <= most) continue;
      most = iter.dom.extent->integer;
      out = tile;
    }
    return out;
  }

  void fetch_together(block_rv copy, const ir::buffer& operand) {
    std::vector<loop_rv> loops = s_.get_loops(copy);
    const std::size_t rank = operand->shape.size();
    loops.erase(loops.begin(), loops.end() - static_cast<std::ptrdiff_t>(rank));
    if (loops.size() > 1) s_.fuse(loops);
    std::vector<std::int64_t> lengths = loadable(operand->type);
    if (lengths.empty()) return;
    const std::vector<double> weights(lengths.size(), 1.0);
    const expr_rv length = choices_.categorical(s_, lengths, weights);
    s_.annotate(copy, ir::cooperative_fetch_note, length);
  }

  /// The lengths that one load of at most 16 bytes can have.
  std::vector<std::int64_t> loadable(dtype type) const {
    std::vector<std::int64_t> out;
    for (const std::int64_t n : rule_.vector_load_lengths)
      if (n * bytes(type) <= 16 && (bytes(type) != 2 || n == 1 || n % 2 == 0)) out.push_back(n);
    return out;
  }

  schedule& s_;
  std::string name_;
  const multi_level_tiling& rule_;
  chooser& choices_;

  std::optional<std::size_t> vector_iter_;
  std::int64_t lanes_ = 1;
  std::optional<loop_rv> vector_tile_;

  block_rv block_;
  std::vector<std::vector<loop_rv>> tiles_;  // [positions]
  std::int64_t spatial_volume_ = 1;
  std::int64_t copies_ = 0;  // of operands
  origin origin_ = origin::copied;
  std::optional<thread_tiles> device_;  // preferred sizes
};

}  // namespace tilewright::space::detail
