// A block is rewritten until the loops of an intrinsic's description are its innermost ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/space/tensor_operands.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/tensor_form.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space::detail::tensor_forms {

/// The transformation of one block in the making.
class transformation {
 public:
  transformation(schedule& s, const std::string& name, const intrin::intrinsic& what,
                 tensor_mapping mapping, tensor_form form, const std::vector<std::int64_t>& tiles)
      : s_(s),
        name_(name),
        described_(*described(what)),
        mapping_(std::move(mapping)),
        form_(form),
        tiles_(tiles) {}

  /// @throws schedule_error from a primitive
  std::optional<block_rv> run() {
    block_ = s_.get_block(name_);
    const bool reindexed =
        form_ == tensor_form::reindexed || form_ == tensor_form::reindexed_packed;
    if (form_ == tensor_form::packed && !choose_loops()) return std::nullopt;
    if (form_ == tensor_form::windowed && !keep_windows()) return std::nullopt;
    if (reindexed && !fuse_variables()) return std::nullopt;
    if (form_ != tensor_form::as_is && form_ != tensor_form::reindexed) pack_operands();
    return split_off();
  }

 private:
  const ir::block_node& block() const { return *s_.get(block_).block; }
  std::int64_t wanted(std::size_t v) const { return described_.iters[v].dom.extent->integer; }

  /// The variable of the description at each dimension of an operand; none for constants.
  std::vector<std::size_t> dimensions(std::size_t operand) const {
    std::vector<std::size_t> out;
    const ir::buffer_region region = operands_of(described_)[operand];
    for (const ir::range& r : region.box)
      if (ir::is_var(r.min)) out.push_back(position(described_.iters, r.min));
    return out;
  }

  /// One loop for each variable of the description: the one that is the last index of an operand,
  /// so that vectors along it are contiguous, else the innermost. False where extents do not divide.
  bool choose_loops() {
    const std::vector<ir::buffer_region> operands = operands_of(block());
    for (std::size_t v = 0; v < mapping_.fused.size(); ++v) {
      std::vector<std::size_t>& group = mapping_.fused[v];
      std::size_t best = group.back();
      for (const ir::buffer_region& o : operands)
        for (const std::size_t i : group)
          if (!o.box.empty() && o.box.back().min.same(block().iters[i].var)) best = i;
      const ir::expr& extent = block().iters[best].dom.extent;
      if (!ir::is_int(extent) || extent->integer % wanted(v) != 0) return false;
      for (const std::size_t i : group)
        if (i != best) mapping_.outer.push_back(i);
      group = {best};
    }
    std::sort(mapping_.outer.begin(), mapping_.outer.end());
    return true;
  }

  // ---- windows that stay where they are

  /// One loop for each variable of the description, padded where it does not divide. Operands of one
  /// dimension keep their windows, with the variable of the description last; the result and the
  /// other operands are reindexed. Blocks that compute operands become their copies. False where a
  /// variable has no dimension of its own, or padding would more than double it.
  bool keep_windows() {
    if (!choose_channels()) return false;
    const std::vector<std::string> before = root_block_names(s_);
    std::vector<block_rv> copies;
    const std::size_t operands = operands_of(described_).size();
    for (std::size_t o = 0; o < operands; ++o) {
      const std::vector<std::size_t> dims = dimensions(o);
      if (o > 0 && dims.size() == 1) {
        if (!lay_last(o, mapping_.fused[dims[0]][0], copies)) return false;
      } else if (o > 0 || !ends_with(operands_of(block())[0], mapping_.fused[dims[0]][0])) {
        copies.push_back(s_.reindex(block_, selector(o)));
        fuse_dimensions(o);
      }
    }
    std::vector<std::int64_t> multiples(block().iters.size(), 1);
    for (std::size_t v = 0; v < mapping_.fused.size(); ++v)
      multiples[mapping_.fused[v][0]] = wanted(v);
    pad(multiples, copies);
    for (const std::string& copy : producer_names(s_, name_))
      if (!support::contains(before, copy))
        for (const std::string& source : producer_names(s_, copy))
          if (!named_block(s_, source).block->init) inline_ahead(s_.get_block(source));
    return true;
  }

  /// The only variable in each group, or the one that the windows do not move with.
  bool choose_channels() {
    const std::vector<ir::buffer_region> operands = operands_of(block());
    for (std::size_t v = 0; v < mapping_.fused.size(); ++v) {
      std::optional<std::size_t> best;
      for (const std::size_t i : mapping_.fused[v]) {
        const ir::expr& extent = block().iters[i].dom.extent;
        if (!ir::is_int(extent)) return false;
        bool apart = true;
        for (std::size_t o = 1; o < operands.size(); ++o)
          if (dimensions(o).size() == 1 && uses(operands[o], block().iters[i].var))
            apart = apart && dimension_of(operands[o], i);
        if (!apart) continue;
        if (!best || extent->integer > block().iters[*best].dom.extent->integer) best = i;
      }
      if (!best) return false;
      const std::int64_t extent = block().iters[*best].dom.extent->integer;
      if ((extent + wanted(v) - 1) / wanted(v) * wanted(v) > 2 * extent) return false;
      for (const std::size_t i : mapping_.fused[v])
        if (i != *best) mapping_.outer.push_back(i);
      mapping_.fused[v] = {*best};
    }
    std::sort(mapping_.outer.begin(), mapping_.outer.end());
    return true;
  }

  /// The dimension of an operand along which variable `iter` takes single steps and others only
  /// multiples of its extent, where no other dimension uses it.
  std::optional<std::size_t> dimension_of(const ir::buffer_region& operand,
                                          std::size_t iter) const {
    const ir::var& v = block().iters[iter].var;
    const std::int64_t extent = block().iters[iter].dom.extent->integer;
    std::optional<std::size_t> out;
    for (std::size_t d = 0; d < operand.box.size(); ++d) {
      if (!ir::uses_var(operand.box[d].min, v)) continue;
      const arith::linear index = arith::to_linear(operand.box[d].min);
      const auto crosses = [&](const auto& term) {
        return term.first.same(v) ? term.second != 1
                                  : term.second % extent != 0 || ir::uses_var(term.first, v);
      };
      if (out || index.coefficient(v) != 1 || index.constant % extent != 0 ||
          support::any(index.terms, crosses))
        return std::nullopt;
      out = d;
    }
    return out;
  }

  bool ends_with(const ir::buffer_region& operand, std::size_t iter) const {
    return !operand.box.empty() && operand.box.back().min.same(block().iters[iter].var);
  }

  /// A copy of the operand in which the variable is the last index alone, unless it is that already.
  bool lay_last(std::size_t operand, std::size_t iter, std::vector<block_rv>& copies) {
    const ir::buffer_region region = operands_of(block())[operand];
    if (ends_with(region, iter)) return true;
    const std::optional<std::size_t> dim = dimension_of(region, iter);
    if (!dim || !ir::is_int(region.buffer->shape[*dim])) return false;
    const std::int64_t extent = block().iters[iter].dom.extent->integer;
    const std::int64_t whole = region.buffer->shape[*dim]->integer;
    if (whole % extent != 0) return false;
    copies.push_back(s_.cache_read(block_, read_of(region.buffer), "global"));
    const ir::index_map map =
        ir::make_index_map(region.box.size(), [&](const std::vector<ir::var>& at) {
          std::vector<ir::expr> out;
          const ir::expr size = ir::integer(at[*dim].type(), extent);
          for (std::size_t d = 0; d < at.size(); ++d)
            if (d != *dim)
              out.push_back(at[d]);
            else if (whole > extent)
              out.push_back(ir::floordiv(at[d], size));
          out.push_back(whole > extent ? ir::floormod(at[*dim], size) : ir::expr(at[*dim]));
          return out;
        });
    s_.transform_layout(block_, selector(operand), map, {}, true);
    return true;
  }

  int read_of(const ir::buffer& b) const {
    const std::vector<ir::buffer_region>& reads = block().reads;
    std::size_t i = 0;
    while (i < reads.size() && reads[i].buffer != b) ++i;
    return static_cast<int>(i);
  }

  // ---- operands that follow the variables

  /// Reindexes, fuses and pads, until the variables of the block are the outer ones and then those
  /// of the description.
  bool fuse_variables() {
    for (const ir::iter_var& i : block().iters)
      if (!ir::is_int(i.dom.extent)) return false;
    std::vector<block_rv> copies{s_.reindex(block_, written_buffer(0))};
    const std::size_t reads = operands_of(described_).size() - 1;
    for (std::size_t r = 0; r < reads; ++r)
      copies.push_back(s_.reindex(block_, read_buffer(static_cast<int>(r))));
    for (std::size_t o = 0; o <= reads; ++o) fuse_dimensions(o);
    std::vector<ir::iter_var> iters = block().iters;
    std::vector<std::int64_t> extents;
    for (const ir::iter_var& i : iters) extents.push_back(i.dom.extent->integer);
    s_.transform_block_layout(block_,
                              ir::make_index_map(iters.size(), [&](const std::vector<ir::var>& v) {
                                std::vector<ir::expr> out;
                                for (const std::size_t i : mapping_.outer) out.push_back(v[i]);
                                for (const auto& group : mapping_.fused)
                                  out.push_back(fused(group, extents, v));
                                return out;
                              }));
    const std::size_t outer = mapping_.outer.size();
    mapping_.outer.clear();
    for (std::size_t i = 0; i < outer; ++i) mapping_.outer.push_back(i);
    for (std::size_t v = 0; v < mapping_.fused.size(); ++v) mapping_.fused[v] = {outer + v};
    std::vector<std::int64_t> multiples(outer, 1);
    for (std::size_t v = 0; v < mapping_.fused.size(); ++v)
      multiples.push_back(wanted(v) * (v < tiles_.size() ? tiles_[v] : 1));
    pad(multiples, copies);
    return true;
  }

  static ir::expr fused(const std::vector<std::size_t>& group,
                        const std::vector<std::int64_t>& extents,
                        const std::vector<ir::var>& values) {
    ir::expr out;
    for (const std::size_t i : group)
      out = out ? out * ir::integer(dtype::i32, extents[i]) + values[i] : ir::expr(values[i]);
    return out;
  }

  /// The copy of an operand gets the outer variables and those of the description as dimensions.
  void fuse_dimensions(std::size_t operand) {
    const ir::buffer_region region = operands_of(block())[operand];
    const std::vector<ir::iter_var> iters = block().iters;
    std::vector<std::size_t> at(iters.size(), iters.size());  // dimension of each variable
    std::vector<std::int64_t> extents(iters.size(), 1);
    for (std::size_t d = 0; d < region.box.size(); ++d) {
      const std::size_t i = position(iters, region.box[d].min);
      if (i == iters.size()) continue;
      at[i] = d;
      extents[i] = iters[i].dom.extent->integer;
    }
    const ir::index_map map =
        ir::make_index_map(region.box.size(), [&](const std::vector<ir::var>& dims) {
          const auto value = [&](const std::vector<std::size_t>& group) {
            ir::expr out;
            for (const std::size_t i : group)
              if (at[i] < iters.size())
                out = out ? out * ir::integer(dtype::i32, extents[i]) + dims[at[i]]
                          : ir::expr(dims[at[i]]);
            return out ? out : ir::expr(0);
          };
          std::vector<ir::expr> out;
          for (const std::size_t i : mapping_.outer)
            if (at[i] < iters.size()) out.push_back(value({i}));
          for (const std::size_t v : dimensions(operand)) out.push_back(value(mapping_.fused[v]));
          return out;
        });
    s_.transform_layout(block_, selector(operand), map, {}, true);
  }

  static buffer_selector selector(std::size_t operand) {
    return operand == 0 ? written_buffer(0) : read_buffer(static_cast<int>(operand) - 1);
  }

  /// Rounds extents up to those of the description; the copies become one with those that pad.
  /// @param copies of the result, where it has one, and of operands
  void pad(const std::vector<std::int64_t>& multiples, const std::vector<block_rv>& copies) {
    bool whole = true;
    for (std::size_t i = 0; i < multiples.size(); ++i)
      whole = whole && block().iters[i].dom.extent->integer % multiples[i] == 0;
    if (whole) return;
    s_.pad_einsum(block_, multiples);
    for (const block_rv copy : copies) {
      const std::string name = s_.get(copy).block->name;
      const std::vector<std::string> sources = producer_names(s_, name);
      if (support::contains(sources, name_) || support::contains(consumer_names(s_, name), name_))
        continue;  // nothing of it was padded
      const bool is_result = support::any(sources, [&](const std::string& source) {
        return support::contains(producer_names(s_, source), name_);
      });
      is_result ? inline_behind(copy) : inline_ahead(copy);
    }
  }

  /// A block becomes one with what reads it, or with what it reads; or stays.
  void inline_ahead(block_rv copy) {
    try {
      s_.compute_inline(copy);
    } catch (const schedule_error&) {
    }
  }
  void inline_behind(block_rv copy) {
    try {
      s_.reverse_compute_inline(copy);
    } catch (const schedule_error&) {
    }
  }

  /// Operands of two and more dimensions stand in memory tile by tile.
  void pack_operands() {
    const std::vector<ir::buffer_region> all = operands_of(described_);
    for (std::size_t o = 1; o < all.size(); ++o) {
      const std::vector<std::size_t> dims = dimensions(o);
      if (dims.size() < 2) continue;
      if (form_ == tensor_form::packed) s_.reindex(block_, selector(o));
      const ir::buffer_region region = operands_of(block())[o];
      const std::vector<ir::iter_var> iters = block().iters;
      s_.transform_layout(block_, selector(o),
                          ir::make_index_map(region.box.size(),
                                             [&](const std::vector<ir::var>& at) {
                                               return tile_by_tile(region, iters, dims, at);
                                             }),
                          {}, true);
    }
  }

  /// Where element `at` of the operand goes: the variables in its tile last, before them the tiles of
  /// the reductions, so that what is added up one after the other lies so.
  std::vector<ir::expr> tile_by_tile(const ir::buffer_region& region,
                                     const std::vector<ir::iter_var>& iters,
                                     const std::vector<std::size_t>& dims,
                                     const std::vector<ir::var>& at) const {
    std::vector<ir::expr> spatial, reductions, within(dims.size());
    for (std::size_t d = 0; d < region.box.size(); ++d) {
      const std::size_t i = position(iters, region.box[d].min);
      ir::expr value = at[d];
      for (std::size_t k = 0; k < dims.size(); ++k)
        if (mapping_.fused[dims[k]][0] == i) {
          within[k] = ir::floormod(value, ir::integer(dtype::i32, wanted(dims[k])));
          value = ir::floordiv(value, ir::integer(dtype::i32, wanted(dims[k])));
        }
      const bool reduced = i < iters.size() && iters[i].kind == ir::iter_kind::reduce;
      (reduced ? reductions : spatial).push_back(std::move(value));
    }
    spatial.insert(spatial.end(), reductions.begin(), reductions.end());
    spatial.insert(spatial.end(), within.begin(), within.end());
    return spatial;
  }

  /// The block of the intrinsic's loops.
  block_rv split_off() {
    std::vector<loop_rv> outer = s_.get_loops(block_), inner;
    for (std::size_t v = 0; v < mapping_.fused.size(); ++v) {
      const auto [rest, tile] = s_.split(outer[mapping_.fused[v][0]], {infer, wanted(v)});
      outer[mapping_.fused[v][0]] = rest;
      inner.push_back(tile);
    }
    outer.insert(outer.end(), inner.begin(), inner.end());
    s_.reorder(outer);
    return s_.blockize(inner[0]);
  }

  schedule& s_;
  const std::string& name_;
  const ir::block_node& described_;
  tensor_mapping mapping_;
  tensor_form form_;
  const std::vector<std::int64_t>& tiles_;  // to whose multiples extents are padded
  block_rv block_;
};

}  // namespace tilewright::space::detail::tensor_forms
