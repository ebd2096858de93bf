#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/space/tiles/operand_panels.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/windows/transformed_tiles.hpp>
#include <tilewright/support/stable_sort.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {
namespace detail {

/// The blocks around products of transformed tiles, in the order of the program.
struct tile_chain {
  std::string image, rows, tiles, products, columns, result;
  std::string filter, filter_rows;
  std::vector<std::string>
      after;  // what follows the result, one behind the other; the last is an output
};

/// The only consumer of a block; empty where there are several or none.
inline std::string only_consumer(const schedule& s, const std::string& name) {
  const std::vector<std::string> all = consumer_names(s, name);
  return all.size() == 1 ? all[0] : std::string();
}

inline std::optional<std::int64_t> tile_extent(const schedule& s, const std::string& name) {
  const ir::annotations& notes = named_block(s, name).block->annotations;
  const auto note = notes.find(ir::tile_note);
  if (note == notes.end()) return std::nullopt;
  const auto* tile = std::get_if<std::int64_t>(&note->second.value);
  return tile ? std::optional(*tile) : std::nullopt;
}

/// The block that writes what a block reads first.
inline std::string first_producer(const schedule& s, const std::string& name) {
  const std::vector<std::string> all = producer_names(s, name);
  return all.empty() ? std::string() : all[0];
}

inline std::optional<tile_chain> tile_chain_around(const schedule& s, const std::string& products) {
  tile_chain c;
  c.products = products;
  c.tiles = first_producer(s, products);
  if (!c.tiles.empty()) c.rows = first_producer(s, c.tiles);
  if (!c.rows.empty()) c.image = first_producer(s, c.rows);
  for (const std::string& name : producer_names(s, products))
    if (name != c.tiles && name != products) c.filter = name;
  if (!c.filter.empty()) c.filter_rows = first_producer(s, c.filter);
  c.columns = only_consumer(s, products);
  if (!c.columns.empty()) c.result = only_consumer(s, c.columns);
  if (c.image.empty() || c.result.empty() || c.filter_rows.empty()) return std::nullopt;
  for (const std::string* name :
       {&c.rows, &c.tiles, &c.products, &c.columns, &c.result, &c.filter, &c.filter_rows})
    if (!profile(s, *name)) return std::nullopt;
  std::string last = c.result;
  while (!is_output(s, last)) {
    last = only_consumer(s, last);
    const std::optional<block_profile> p = last.empty() ? std::nullopt : profile(s, last);
    if (!p || p->reduction || p->kind.size() != 4) return std::nullopt;
    c.after.push_back(last);
  }
  return c;
}

/// How many rows and vectors of columns of a product are in registers at a time.
struct product_tile {
  std::int64_t down, across, columns;
  double weight;
};

/// The chain of one convolution on its way into loops.
class tile_stages {
 public:
  tile_stages(schedule& s, tile_chain chain, const context& where, chooser& choices)
      : s_(s),
        c_(std::move(chain)),
        where_(where),
        choices_(choices),
        tile_(*tile_extent(s, c_.products)),
        products_(*profile(s, c_.products)),
        lanes_(where.cpu->lanes(products_.write.buffer->type)) {}

  void run() {
    choose_rows();
    place_results();
    place_products();
    place_tiles();
    place_image();
    place_filter();
    multiply();
  }

 private:
  // iteration variables of products: i, j, n, u, v, k, c
  std::int64_t batch() const { return products_.extent[2]; }
  std::int64_t down() const { return products_.extent[3]; }
  std::int64_t across() const { return products_.extent[4]; }
  std::int64_t outputs() const { return products_.extent[5]; }
  std::int64_t channels() const { return products_.extent[6]; }

  /// Bytes that come from behind the second-level cache where `rows` of tiles are computed at a time: the
  /// filter for each part of them where it does not stay there, and tiles and products where those of a part do not.
  double bytes_moved(std::int64_t rows) const {
    const std::int64_t points =
        products_.extent[0] * products_.extent[1] * bytes(products_.write.buffer->type);
    const auto filter = static_cast<double>(points * channels() * outputs());
    const auto row = static_cast<double>(points * across() * (channels() + outputs()));
    const double room = static_cast<double>(where_.cpu->l2_bytes) / 2;
    const auto parts = static_cast<double>((down() + rows - 1) / rows);
    const bool spills = static_cast<double>(rows) * row > room;
    return filter * (filter > room ? parts : 1) +
           (spills ? 2 * row * static_cast<double>(down()) : 0);
  }

  /// Rows of tiles at a time: those that move least, where they leave enough pixels for a product.
  void choose_rows() {
    std::vector<std::int64_t> candidates;
    std::vector<double> weights;
    for (std::int64_t rows = 1; rows <= down(); ++rows) {
      const std::int64_t parts = (down() + rows - 1) / rows;
      if ((down() + parts - 1) / parts != rows) continue;  // fewer rows make as many parts
      if (where_.threads > 1 && rows > 1 && parts * batch() < where_.threads) continue;
      candidates.push_back(rows);
      const double pixels = static_cast<double>(rows * across());
      weights.push_back(std::min(1.0, pixels / 24) / std::pow(bytes_moved(rows), 2));
    }
    const double most = *std::max_element(weights.begin(), weights.end());
    for (double& w : weights) w /= most;
    keep_likeliest(candidates, weights, 3);
    rows_ = candidates[choices_.draw(s_, weights)];
  }

  static void keep_likeliest(std::vector<std::int64_t>& candidates, std::vector<double>& weights,
                             std::size_t most) {
    while (candidates.size() > most) {
      const auto least = std::min_element(weights.begin(), weights.end()) - weights.begin();
      candidates.erase(candidates.begin() + least);
      weights.erase(weights.begin() + least);
    }
  }

  std::vector<loop_rv> own_loops(block_rv b, std::size_t count) {
    std::vector<loop_rv> all = s_.get_loops(b);
    return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
  }

  /// Position in `b` of the variable that indexes dimension `d` of what it loads from `from`.
  static std::size_t variable_at(const ir::block_node& b, const ir::buffer& from, std::size_t d) {
    std::size_t out = d;
    ir::for_each_expr(b.body, [&](const ir::expr& e) {
      if (e->op != ir::op::load || e->buffer != from) return;
      for (std::size_t i = 0; i < b.iters.size(); ++i)
        if (e->args[d].same(b.iters[i].var)) out = i;
    });
    return out;
  }

  /// The last block's loops, cut into parts of rows; the blocks before it go below.
  void place_results() {
    const ir::buffer result = named_block(s_, c_.result).block->writes[0].buffer;
    const std::string last = c_.after.empty() ? c_.result : c_.after.back();
    for (std::size_t k = 0; k + 1 < c_.after.size(); ++k)
      s_.compute_inline(s_.get_block(c_.after[k]));
    const auto variable = [&](std::size_t d) {
      return last == c_.result ? d : variable_at(*named_block(s_, last).block, result, d);
    };
    const std::size_t n = variable(0), p = variable(1), q = variable(2), k = variable(3);
    const bool in_place = last != c_.result && profile(s_, last)->contiguous() == k;
    if (in_place) s_.compute_inline(s_.get_block(c_.result));
    const block_rv b = s_.get_block(last);
    const std::vector<loop_rv> loops = s_.get_loops(b);
    batch_ = loops[n];
    const auto [part, rest] = s_.split(loops[p], {infer, rows_ * tile_});
    part_ = part;
    if (in_place || last == c_.result) {
      s_.reorder(batch_, part_, rest);
      write_tiles(outer(), rest, loops[q], loops[k]);
      return;
    }
    // copied from channels last into the order of the result
    s_.reorder(batch_, part_, loops[k], rest, loops[q]);
    constexpr std::size_t channels = 1,
                          pixels = 3;  // of n, k, p and q, in squares of which it is copied
    if (n == 0 && k == channels && q == pixels)
      vectorize_squares(s_, b, pixels, channels, where_, choices_);
    const block_rv made = s_.get_block(c_.result);
    outer();
    s_.compute_at(made, part_, true);
    const std::vector<loop_rv> own = own_loops(made, 4);
    write_tiles({own[0]}, own[1], own[2], own[3]);
  }

  /// The loops around a part of the rows; parallel, and then one, where there are threads.
  std::vector<loop_rv> outer() {
    if (where_.threads == 1) return {batch_, part_};
    part_ = s_.fuse(std::vector<loop_rv>{batch_, part_});
    s_.parallel(part_);
    return {part_};
  }

  /// A tile of results at a time, along vectors of channels, all of it written out.
  void write_tiles(std::vector<loop_rv> order, loop_rv rows, loop_rv columns, loop_rv outputs) {
    const auto [u, a] = s_.split(rows, {infer, tile_});
    const auto [v, c] = s_.split(columns, {infer, tile_});
    const auto [k, vector] = s_.split(outputs, {infer, lanes_});
    order.insert(order.end(), {u, v, k, a, c, vector});
    s_.reorder(order);
    s_.unroll(a);
    s_.unroll(c);
    s_.vectorize(vector);
    const block_rv columns_block = s_.get_block(c_.columns);
    s_.compute_at(columns_block, k, true);
    const std::vector<loop_rv> own = own_loops(columns_block, 6);  // n, u, a, v, j, k
    s_.reorder(own[0], own[1], own[3], own[4], own[2], own[5]);
    s_.unroll(own[2]);
    s_.vectorize(own[5]);
  }

  void place_products() { s_.compute_at(s_.get_block(c_.products), part_, true); }

  void place_tiles() {
    const block_rv tiles = s_.get_block(c_.tiles), rows = s_.get_block(c_.rows);
    s_.compute_at(tiles, part_, true);
    const std::vector<loop_rv> own = own_loops(tiles, 6);  // i, j, n, u, v, c
    const auto [c, vector] = s_.split(own[5], {infer, lanes_});
    s_.reorder({own[2], own[3], c, own[4], own[0], own[1], vector});
    s_.unroll(own[1]);
    s_.vectorize(vector);
    s_.compute_at(rows, c, true);
    const std::vector<loop_rv> before = own_loops(rows, 5);  // n, u, i, w, c
    s_.reorder({before[0], before[1], before[3], before[2], before[4]});
    s_.unroll(before[2]);
    s_.vectorize(before[4]);
  }

  void place_image() {
    const block_rv image = s_.get_block(c_.image);
    const bool across = transposes_image();
    if (!across) return s_.compute_inline(image);
    if (choices_.pick(2) == 1) s_.compute_at(image, part_, true);
  }

  /// All of the transformed filter for a few channels at a time.
  void place_filter() {
    const block_rv filter = s_.get_block(c_.filter), rows = s_.get_block(c_.filter_rows);
    const std::vector<loop_rv> own = s_.get_loops(filter);  // i, j, c, k
    const auto [k, vector] = s_.split(own[3], {infer, lanes_});
    s_.reorder({own[2], k, own[0], own[1], vector});
    s_.unroll(own[1]);
    s_.vectorize(vector);
    if (where_.threads > 1) s_.parallel(own[2]);
    s_.compute_at(rows, k, true);
    const std::vector<loop_rv> before = own_loops(rows, 4);  // i, s, c, k
    s_.reorder({before[1], before[2], before[0], before[3]});
    s_.unroll(before[0]);
    s_.vectorize(before[3]);
  }

  /// Whether the image's channels do not lie side by side.
  bool transposes_image() const {
    const ir::block_node& b = *named_block(s_, c_.image).block;
    bool out = false;
    ir::for_each_expr(b.body, [&](const ir::expr& e) {
      if (e->op == ir::op::load) out = out || !e->args.back().same(b.iters[3].var);
    });
    return out;
  }

  /// What is left of a tile's promise where LLVM's register allocator keeps its sums in memory, though they fit: where sums
  /// and the vectors of a step take more than three quarters of the registers, or as many beside a last tile of fewer
  /// pixels. Counted with LLVM 19 and 32 registers on 14 and 7 pixels: in memory are sums of 14 x 32, 6 x 64 and 5 x 64, in
  /// registers those of 7 x 48, 4 x 64 and all smaller ones. 56 by 56 by 64 channels take 458 us in tiles of 5 x 64, 349 us
  /// in tiles of 7 x 32.
  double sums_in_registers(std::int64_t u, std::int64_t v, std::int64_t vectors) const {
    constexpr double in_memory = 0.25;
    const bool ragged = rows_ % u != 0 || across() % v != 0;
    const std::int64_t needed = 4 * (u * v + 1) * vectors, room = 3 * where_.cpu->vector_registers;
    return needed > room || (needed == room && ragged) ? in_memory : 1;
  }

  std::vector<product_tile> product_tiles() const {
    std::vector<product_tile> out;
    const auto fill = [](std::int64_t extent, std::int64_t tile) {
      return static_cast<double>(extent) / static_cast<double>((extent + tile - 1) / tile * tile);
    };
    for (std::int64_t vectors = 1; vectors <= 4; ++vectors) {
      if (vectors > 1 && vectors * lanes_ >= outputs() + lanes_) break;
      const std::int64_t most = (where_.cpu->vector_registers - 1 - vectors) / vectors;
      for (std::int64_t u = 1; u <= std::min(most, rows_); ++u)
        for (std::int64_t v = 1; u * v <= most && v <= across(); ++v) {
          if (u > 1 && v < across()) continue;
          const auto sums = static_cast<double>(u * v * vectors);
          const double reuse = sums / static_cast<double>(u * v + vectors);
          const double inside =
              fill(rows_, u) * fill(across(), v) * fill(outputs(), vectors * lanes_);
          out.push_back({u, v, vectors * lanes_,
                         std::pow(reuse, 2) * std::pow(inside, 4) * std::min(1.0, sums / 8) *
                             sums_in_registers(u, v, vectors)});
        }
    }
    support::stable_sort(
        out, [](const product_tile& a, const product_tile& b) { return a.weight > b.weight; });
    if (out.size() > 12) out.resize(12);
    return out;
  }

  void multiply() {
    constexpr std::int64_t code = 256;
    std::vector<std::int64_t> codes;
    std::vector<double> weights;
    for (const product_tile& t : product_tiles()) {
      codes.push_back((t.down * code + t.across) * code + t.columns);
      weights.push_back(t.weight);
    }
    const expr_rv drawn = choices_.categorical(s_, codes, weights);
    const block_rv b = s_.get_block(c_.products);
    const std::vector<loop_rv> own = own_loops(b, 7);  // i, j, n, u, v, k, c
    const auto [u, rows] = s_.split(own[3], {infer, floordiv(drawn, code * code)});
    const auto [v, pixels] = s_.split(own[4], {infer, floormod(floordiv(drawn, code), code)});
    const auto [k, columns] = s_.split(own[5], {infer, floormod(drawn, code)});
    // all pixels with some of the filter, which may be copied to a panel, or all of the filter with some pixels
    const std::size_t kind = choices_.pick(3);
    const bool filter_first = kind < 2, panel = kind == 1;
    std::vector<loop_rv> order{own[0], own[1], own[2]};
    if (filter_first) order.push_back(k);
    order.insert(order.end(), {u, v});
    if (!filter_first) order.push_back(k);
    order.insert(order.end(), {own[6], rows, pixels, columns});
    s_.reorder(order);
    if (panel) {
      const ir::block_node& block = *s_.get(b).block;
      const ir::buffer tiles = named_block(s_, c_.tiles).block->writes[0].buffer;
      for (std::size_t r = 0; r < block.reads.size(); ++r)
        if (block.reads[r].buffer != tiles && block.reads[r].buffer != block.writes[0].buffer) {
          operand_panels{s_, b, 5, static_cast<int>(lanes_)}.copy(static_cast<int>(r), k);
          break;
        }
    }
    s_.unroll(rows);
    s_.unroll(pixels);
    s_.vectorize(columns);
    s_.decompose_reduction(b, own[6]);
  }

  schedule& s_;
  tile_chain c_;
  const context& where_;
  chooser& choices_;
  std::int64_t tile_;
  block_profile products_;
  std::int64_t lanes_;
  std::int64_t rows_ = 1;  // of tiles at a time
  loop_rv batch_, part_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::optional<std::string> transformed_products(const schedule& s) {
  for (const std::string& name : root_block_names(s))
    if (detail::tile_extent(s, name) && detail::tile_chain_around(s, name)) return name;
  return std::nullopt;
}

TILEWRIGHT_INLINE void transformed_tiles(schedule& s, const std::string& products,
                                         const context& where, chooser& choices) {
  const std::optional<detail::tile_chain> chain =
      has_block(s, products) && detail::tile_extent(s, products)
          ? detail::tile_chain_around(s, products)
          : std::nullopt;
  if (!chain)
    primitive::refusal{"transformed_tiles"}(
        1,
        {"block ", products, " multiplies no transformed tiles between blocks that can be placed"});
  detail::tile_stages(s, *chain, where, choices).run();
}

}  // namespace tilewright::space
