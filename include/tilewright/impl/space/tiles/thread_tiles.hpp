// Sizes of tiles on a device that are sound without measuring.
//
// A block of threads makes a tile of results, a thread up to 8 x 8 of them, from operands that are staged in
// shared memory. Of the shapes of such tiles the one is taken that an estimate likes best: large tiles use what
// is loaded more often, small ones occupy the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/numbers/divisor.hpp>

namespace tilewright::space::detail {

/// What the sizes of tiles depend on.
struct tile_limits {
  std::int64_t threads = 256;  // of a block
  std::int64_t multiprocessors = 108;
  std::int64_t staged_bytes = 48 << 10;  // of operands, between two barriers
};

/// Sizes for each iteration variable of a block, 1 where nothing else is said.
struct thread_tiles {
  struct axis {
    std::int64_t vthreads = 1, threads = 1, results = 1;
    std::int64_t all() const { return vthreads * threads * results; }
  };
  std::vector<axis> spatial;
  std::vector<std::int64_t> steps;  // of reductions, between two barriers
  double staged_bytes = 0;          // of operands, for these
};

class tile_estimate {
 public:
  tile_estimate(const ir::block_node& block, const tile_limits& limits)
      : block_(block), limits_(limits) {
    for (const ir::iter_var& iter : block.iters) {
      extents_.push_back(ir::is_int(iter.dom.extent) ? iter.dom.extent->integer : 1);
      if (!reduces(extents_.size() - 1) || extents_.back() == 1) continue;
      terms_ *= static_cast<double>(extents_.back());
      ++reductions_;
    }
    steps_of_ = std::vector<std::int64_t>(extents_.size(), 1);
    find_strides();
  }

  thread_tiles best() const {
    if (columns_are_apart()) return side_by_side();
    for (const std::int64_t fewest : {std::int64_t{32}, std::int64_t{1}})
      if (std::optional<thread_tiles> out = cheapest(fewest)) {
        add_steps(*out);
        out->staged_bytes = staged(*out, out->steps);
        return *out;
      }
    return side_by_side();
  }

 private:
  /// Of the tiles with so many threads at least.
  std::optional<thread_tiles> cheapest(std::int64_t fewest) const {
    std::optional<thread_tiles> out;
    double least = 0;
    for (const std::int64_t results : {8, 4, 2, 1, 16, 32})
      for (const std::int64_t rows : {8, 4, 2, 1})
        for (const std::int64_t threads : {32, 16, 8, 4, 2, 64, 128, 256})
          for (const std::int64_t row_threads : {64, 32, 16, 8, 4, 2, 1, 128, 256}) {
            thread_tiles tiles = shaped(results, rows, threads, row_threads);
            if (!is_possible(tiles, fewest)) continue;
            const double cost = cycles(tiles);
            if (out && cost >= least) continue;
            least = cost;
            out = std::move(tiles);
          }
    return out;
  }

  bool reduces(std::size_t i) const { return block_.iters[i].kind == ir::iter_kind::reduce; }

  /// Where a term counts only if a sum of variables is a multiple of a stride, as in a transposed convolution, a
  /// thread has a result for each remainder, and all remainders of the reduction between two barriers: what
  /// counts for which is known then when loops are written out.
  void find_strides() {
    ir::for_each_expr(block_.body, [&](const ir::expr& e) {
      if (e->op != ir::op::floormod || !ir::is_int(e->args[1])) return;
      const std::int64_t stride = e->args[1]->integer;
      if (stride < 2 || stride > 4) return;
      bool result = false, term = false;
      for (std::size_t i = 0; i < extents_.size(); ++i)
        if (ir::uses_var(e->args[0], block_.iters[i].var)) (reduces(i) ? term : result) = true;
      if (!result || !term) return;
      for (std::size_t i = 0; i < extents_.size(); ++i)
        if (ir::uses_var(e->args[0], block_.iters[i].var) && extents_[i] % stride == 0)
          steps_of_[i] = reduces(i) ? extents_[i] : stride;
    });
  }

  std::optional<std::size_t> last_spatial() const {
    for (std::size_t i = extents_.size(); i-- > 0;)
      if (!reduces(i) && extents_[i] > 1) return i;
    return std::nullopt;
  }

  /// Whether the last spatial axis is one of all operands, as channels are of a depthwise convolution: nothing
  /// is gained by several of them in a thread, and they lie side by side in memory.
  bool columns_are_apart() const {
    const std::optional<std::size_t> column = last_spatial();
    if (!column) return true;
    for (const ir::buffer_region& r : block_.reads) {
      if (r.buffer == block_.writes[0].buffer) continue;
      bool found = false;
      for (const ir::range& dim : r.box)
        for (const auto& [term, factor] : arith::to_linear(dim.min).terms)
          found = found || term.same(block_.iters[*column].var);
      if (!found) return false;
    }
    return true;
  }

  /// 16 threads an axis and four results, 16 at most, the last axes first.
  thread_tiles side_by_side() const {
    thread_tiles out;
    out.spatial.resize(extents_.size());
    out.steps.assign(extents_.size(), 1);
    std::int64_t threads = limits_.threads, results = 16;
    for (std::size_t i = extents_.size(); i-- > 0;) {
      if (reduces(i)) {
        out.steps[i] = support::largest_divisor(extents_[i], 4);
        continue;
      }
      thread_tiles::axis& a = out.spatial[i];
      a.threads = support::largest_divisor(extents_[i], std::min<std::int64_t>(16, threads));
      a.results =
          support::largest_divisor(extents_[i] / a.threads, std::min<std::int64_t>(4, results));
      threads /= a.threads;
      results /= a.results;
    }
    return out;
  }

  /// Tiles of that many results and threads along the last spatial axis, and along all before it. Windows are
  /// tiled by squares, which share more of what they read.
  thread_tiles shaped(std::int64_t results, std::int64_t rows, std::int64_t threads,
                      std::int64_t row_threads) const {
    thread_tiles out;
    out.spatial.resize(extents_.size());
    out.steps.assign(extents_.size(), 1);
    bool columns = true;
    std::int64_t rows_left = 0;  // axes before the last one
    for (std::size_t i = 0; i < extents_.size(); ++i)
      rows_left += !reduces(i) && extents_[i] > 1 ? 1 : 0;
    for (std::size_t i = extents_.size(); i-- > 0;) {
      if (reduces(i) || extents_[i] == 1) continue;
      --rows_left;
      thread_tiles::axis& a = out.spatial[i];
      std::int64_t& own = columns ? results : rows;
      std::int64_t& others = columns ? threads : row_threads;
      a.results =
          support::largest_divisor(extents_[i] / steps_of_[i], own / steps_of_[i]) * steps_of_[i];
      constexpr std::int64_t square = 16;
      const std::int64_t most =
          columns || rows_left == 0 || reductions_ < 2
              ? others
              : std::min(others, std::max<std::int64_t>(square / a.results, 1));
      a.threads = support::largest_divisor(extents_[i] / a.results, most);
      own /= std::min(own, a.results);
      others /= a.threads;
      // what a thread reads of a row lies in vectors of 16 bytes, those of a warp side by side
      if (columns && a.results % 4 == 0 && a.results > 4) {
        a.vthreads = a.results / 4;
        a.results = 4;
      }
      columns = false;
    }
    return out;
  }

  bool is_possible(const thread_tiles& tiles, std::int64_t fewest) const {
    std::int64_t threads = 1, results = 1, virtuals = 1;
    for (const thread_tiles::axis& a : tiles.spatial) {
      threads *= a.threads;
      results *= a.vthreads * a.results;
      virtuals *= a.vthreads;
    }
    return threads >= fewest && threads <= limits_.threads && results <= 64 && virtuals <= 8;
  }

  /// Of a multiprocessor, on its share of all blocks; a measure for comparisons.
  double cycles(const thread_tiles& tiles) const {
    double blocks = 1, threads = 1, columns = 0, rows = 1;
    for (std::size_t i = extents_.size(); i-- > 0;) {
      if (reduces(i)) continue;
      const thread_tiles::axis& a = tiles.spatial[i];
      const auto mine = static_cast<double>(a.vthreads * a.results);
      const std::int64_t apart = extents_[i] / a.all();
      blocks *= static_cast<double>(apart);
      threads *= static_cast<double>(a.threads);
      if (columns == 0 && extents_[i] > 1)
        columns = mine;
      else
        rows *= mine / static_cast<double>(steps_of_[i]);  // others have no term
    }
    columns = std::max(columns, 1.0);
    const double each = std::ceil(blocks / static_cast<double>(limits_.multiprocessors)),
                 warps = std::ceil(threads / 32);
    // products at four a cycle, and what they load of shared memory, of which half is hidden; few warps wait;
    // one block alone waits at its barriers
    const bool window = reductions_ > 1;
    const double products = rows * columns / 4,
                 loads = 2 * std::ceil(columns / 4) +
                         (window ? rows * shared_by_steps(tiles) : rows / 2),
                 step = std::max(products, loads) + std::min(products, loads) / 2 + 1,
                 all = each * warps,
                 few = window ? std::max(1.0, 4 / all) * std::sqrt(std::max(1.0, 16 / all))
                              : std::max(1.0, 2 / all) * std::sqrt(std::max(1.0, 8 / all)),
                 copied = staged(tiles, extents_) / 24, alone = window ? 0.15 : 0.3;
    return each * (1 + alone / each) * (terms_ * warps * step * few + copied / 2);
  }

  /// The share of what the results of a thread read of windows that lie on each other, where loops over the windows are
  /// written out: an element that several results read in turn is loaded once.
  double shared_by_steps(const thread_tiles& tiles) const {
    double out = 1;
    for (const ir::buffer_region& r : block_.reads)
      for (const ir::range& dim : r.box) {
        const auto terms = arith::to_linear(dim.min).terms;
        double met = 1, apart = 1;
        bool result = false, step = false;
        for (const auto& [term, factor] : terms)
          for (std::size_t i = 0; i < extents_.size(); ++i) {
            if (!term.same(block_.iters[i].var)) continue;
            const std::int64_t mine =
                reduces(i) ? extents_[i] : tiles.spatial[i].results * tiles.spatial[i].vthreads;
            (reduces(i) ? step : result) = true;
            met += static_cast<double>(std::abs(factor) * (mine - 1));
            apart *= static_cast<double>(mine);
          }
        if (result && step) out *= std::min(1.0, met / apart);
      }
    return out;
  }

  /// How often bytes of rows of so many count when they are moved: as often as memory moves short ones, and those
  /// of a product up to twice where a warp reads more at once.
  double weight_of_row(double row) const {
    constexpr double moved = 64, read = 512;
    const double product = reductions_ < 2 ? std::clamp(read / row, 1.0, 2.0) : 1.0;
    return std::max(1.0, moved / row) * product;
  }

  /// Bytes of all operands for a tile of results and these steps of the reductions, of short rows more.
  double staged(const thread_tiles& tiles, const std::vector<std::int64_t>& steps) const {
    const bool whole = &steps == &extents_;  // what is moved, and not what fits
    double out = 0;
    for (const ir::buffer_region& r : block_.reads) {
      if (r.buffer == block_.writes[0].buffer) continue;
      double box = bytes(r.buffer->type), row = 0;
      for (const ir::range& dim : r.box) {
        double side = 1;
        for (const auto& [term, factor] : arith::to_linear(dim.min).terms)
          for (std::size_t i = 0; i < extents_.size(); ++i)
            if (term.same(block_.iters[i].var)) {
              const std::int64_t all = reduces(i) ? steps[i] : tiles.spatial[i].all();
              side += static_cast<double>(std::abs(factor) * (all - 1));
            }
        box *= side;
        row = side * bytes(r.buffer->type);
      }
      out += box * (whole ? weight_of_row(row) : 1.0);
    }
    return out;
  }

  /// Of the reduction of a product: more where so little is staged that its way to shared memory is what takes time.
  std::int64_t product_steps(const thread_tiles& tiles) const {
    constexpr std::int64_t usual = 32, many = 64;
    constexpr double little = 8 << 10;  // bytes
    std::vector<std::int64_t> steps = extents_;
    for (std::size_t i = 0; i < extents_.size(); ++i)
      if (reduces(i)) steps[i] = std::min(extents_[i], many);
    return staged(tiles, steps) <= little ? many : usual;
  }

  bool fits(const thread_tiles& tiles, const std::vector<std::int64_t>& steps) const {
    return staged(tiles, steps) <= static_cast<double>(limits_.staged_bytes);
  }

  /// The whole reduction where it is short and its operands fit, or some of its last axis and what fits of the
  /// others.
  void add_steps(thread_tiles& tiles) const {
    std::vector<std::int64_t> steps = extents_;
    const double few = reductions_ < 2 ? 64 : 256;  // terms between two barriers
    if (terms_ <= few && fits(tiles, steps)) {
      tiles.steps = extents_;
      return;
    }
    steps.assign(extents_.size(), 1);
    for (std::size_t i = 0; i < extents_.size(); ++i)
      if (reduces(i)) steps[i] = steps_of_[i];
    const std::int64_t some = reductions_ < 2 ? product_steps(tiles) : 16;
    bool last = true;
    for (std::size_t i = extents_.size(); i-- > 0;) {
      if (!reduces(i) || extents_[i] == 1) continue;
      for (std::int64_t most = last ? some : extents_[i]; most > steps[i]; --most) {
        std::vector<std::int64_t> more = steps;
        more[i] = most;
        if (extents_[i] % most == 0 && fits(tiles, more)) steps = more;
      }
      last = false;
    }
    tiles.steps = std::move(steps);
  }

  const ir::block_node& block_;
  const tile_limits& limits_;
  std::vector<std::int64_t> extents_;   // [iteration variables]
  std::vector<std::int64_t> steps_of_;  // [iteration variables], that belong together
  double terms_ = 1;
  int reductions_ = 0;  // axes of several terms
};

}  // namespace tilewright::space::detail
