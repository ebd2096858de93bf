#include "calls.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include <tilewright/schedule/path.hpp>
#include <tilewright/support/error.hpp>

#include "ingredients.hpp"

namespace laws {
namespace {

using arguments = std::vector<argument>;
using integers = std::vector<std::int64_t>;

template <class T>
arguments listed(std::initializer_list<T> values) {
  return arguments(values.begin(), values.end());
}
arguments names(std::initializer_list<const char*> values) {
  arguments out;
  for (const char* v : values) out.push_back(std::string(v));
  return out;
}
arguments numbers(std::int64_t first, std::int64_t end) {
  arguments out;
  for (std::int64_t i = first; i < end; ++i) out.push_back(i);
  return out;
}

/// `lambda i0, i1: (<results>)` for the maps of that many indices.
arguments maps_of(std::size_t rank, std::initializer_list<const char*> results) {
  std::string inputs;
  for (std::size_t d = 0; d < rank; ++d) inputs += (d ? ", i" : "i") + std::to_string(d);
  arguments out;
  for (const char* r : results)
    out.push_back(map_argument(std::string_view("lambda " + inputs + ": " + r)));
  return out;
}

/// Fills the parameters of a kind from the first to the last; what one may be can follow from those
/// before it.
class caller {
 public:
  explicit caller(schedule& s) : all_(primitive::all_blocks(s.function().body)) {
    for (const ir::block_realize_node* r : all_) {
      try {
        found f{s.get_block(r->block->name), r->block.get(), {}, {}};
        for (const loop_rv l : s.get_loops(block_rv{f.variable.number})) {
          f.loops.push_back(l);
          f.nodes.push_back(&s.get(l));
        }
        blocks_.push_back(std::move(f));
      } catch (const schedule_error&) {  // two blocks of that name
      }
    }
    std::set<const ir::loop_node*> seen;
    for (const found& f : blocks_)
      for (std::size_t i = 0; i < f.loops.size(); ++i)
        if (seen.insert(f.nodes[i]).second) loops_.push_back(f.loops[i]);
  }

  std::vector<proposal> run() {
    for (const instruction_kind& kind : instruction_kinds()) {
      kind_ = &kind;
      args_.clear();
      extend();
    }
    return std::move(calls_);
  }

 private:
  struct found {
    rv variable;
    const ir::block_node* node;
    std::vector<loop_rv> loops;
    std::vector<const ir::loop_node*> nodes;
  };
  struct hint {
    std::string_view kind;  // empty: of any kind
    std::string_view parameter;
    arguments (caller::*choices)();
  };

  void extend() {
    if (args_.size() == kind_->parameters.size()) {
      calls_.push_back({kind_, args_});
      return;
    }
    for (argument& a : choices(kind_->parameters[args_.size()])) {
      args_.push_back(std::move(a));
      extend();
      args_.pop_back();
    }
  }

  arguments choices(const parameter& p) {
    for (const hint& h : hints())
      if (h.parameter == p.name && (h.kind.empty() || h.kind == kind_->name))
        return (this->*h.choices)();
    switch (p.type) {
      case argument_type::block: return every_block();
      case argument_type::loop: return every_loop();
      case argument_type::block_or_loop: return blocks_and_loops();
      case argument_type::blocks: return consumers();
      case argument_type::loop_or_blocks: return loops_and_neighbours();
      case argument_type::factors: return factors();
      case argument_type::boolean: return listed({p.fallback && *p.fallback == "1"});
      case argument_type::note: return {annotation_value(1)};
      case argument_type::value: return {factor(1), factor(0)};
      case argument_type::buffer: return selectors();
      case argument_type::padding: return {std::monostate{}, std::int64_t{0}};
      default: throw internal_error("no choices for a parameter of " + std::string(kind_->name));
    }
  }

  /// @name What the call has so far
  /// @{
  const found* chosen_block() const {
    for (const argument& a : args_)
      if (const rv* v = std::get_if<rv>(&a))
        for (const found& f : blocks_)
          if (f.variable == *v) return &f;
    return nullptr;
  }
  std::size_t iterations() const {
    const found* f = chosen_block();
    return f ? f->node->iters.size() : 0;
  }
  const std::string& chosen_text() const { return std::get<std::string>(args_.back()); }
  std::size_t chosen_rank() const {
    const auto& s = std::get<buffer_selector>(args_[1]);
    const found* f = chosen_block();
    if (!f || s.in == buffer_selector::list::named) return 1;
    const auto& list = s.in == buffer_selector::list::read ? f->node->reads : f->node->writes;
    return list[static_cast<std::size_t>(s.index)].buffer->shape.size();
  }
  /// @}

  /// @name Blocks and loops
  /// @{
  arguments every_block() {
    arguments out;
    for (const found& f : blocks_) out.push_back(f.variable);
    return out;
  }
  arguments every_loop() {
    arguments out;
    for (const loop_rv l : loops_) out.push_back(rv(l));
    return out;
  }
  arguments blocks_and_loops() {
    arguments out = every_block();
    for (argument& l : every_loop()) out.push_back(std::move(l));
    return out;
  }
  /// All that follow, or one of them; one alone is tried for one scope.
  arguments consumers() {
    arguments out{std::vector<rv>{}};
    if (chosen_text() == "global")
      for (const found& f : blocks_) out.push_back(std::vector<rv>{f.variable});
    return out;
  }
  arguments loops_and_neighbours() {
    arguments out = every_loop();
    for (const found& a : blocks_)
      for (const found& b : blocks_)
        if (&a != &b) out.push_back(std::vector<rv>{a.variable, b.variable});
    return out;
  }
  /// Lists of loops of one nest: what `list` makes of the loops around each block, each list once.
  template <class List>
  arguments of_nests(const List& list) {
    arguments out;
    std::set<std::vector<const ir::loop_node*>> seen;
    for (const found& f : blocks_)
      for (const std::vector<std::size_t>& places : list(f.loops.size())) {
        std::vector<rv> loops;
        std::vector<const ir::loop_node*> nodes;
        for (const std::size_t at : places) {
          loops.push_back(f.loops[at]);
          nodes.push_back(f.nodes[at]);
        }
        if (seen.insert(nodes).second) out.push_back(std::move(loops));
      }
    return out;
  }
  arguments loops_to_fuse() {
    return of_nests([](std::size_t n) {
      std::vector<std::vector<std::size_t>> out;
      for (std::size_t i = 0; i + 1 < n; ++i) out.push_back({i, i + 1});
      for (std::size_t i = 0; i + 2 < n; ++i) out.push_back({i, i + 1, i + 2});
      if (n > 1) out.push_back({1, 0});
      return out;
    });
  }
  arguments loops_to_reorder() {
    return of_nests([](std::size_t n) {
      std::vector<std::vector<std::size_t>> out;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j) out.push_back({j, i});
      if (n > 2) out.push_back({2, 0, 1});
      if (n > 0) out.push_back({0, 0});
      return out;
    });
  }
  arguments loops_to_merge() {
    arguments out;
    for (std::size_t i = 0; i < loops_.size(); ++i)
      for (std::size_t j = i + 1; j < loops_.size(); ++j)
        out.push_back(std::vector<rv>{loops_[i], loops_[j]});
    if (loops_.size() > 1) out.push_back(std::vector<rv>{loops_[1], loops_[0]});
    return out;
  }
  arguments block_names() {
    arguments out = names({"root", "no such block"});
    for (const found& f : blocks_) out.push_back(f.node->name);
    return out;
  }
  /// @}

  /// @name Numbers
  /// @{
  arguments factors() {
    using list = std::vector<factor>;
    if (kind_->name == "loop_partition") return {list{1, infer}, list{2, infer}, list{0, 1}};
    return {list{infer, 2}, list{3, infer}, list{2, 2}, list{0, 2}};
  }
  /// Of the regions that the block declares, and the first that it has not.
  arguments read_index() {
    const found* f = chosen_block();
    return numbers(0, f ? std::ssize(f->node->reads) + 1 : 1);
  }
  arguments write_index() {
    const found* f = chosen_block();
    return numbers(0, f ? std::ssize(f->node->writes) + 1 : 1);
  }
  arguments both_booleans() { return listed({false, true}); }
  arguments place_index() {
    if (!std::get<bool>(args_.back())) return numbers(-1, 0);
    return listed({std::int64_t{0}, std::int64_t{-2}});
  }
  arguments factor_axis() { return listed<std::int64_t>({0, 1, -1, 7}); }
  arguments threshold() { return numbers(0, 2); }
  arguments tile_rank() { return listed<std::int64_t>({2, 0}); }
  arguments innermost_limit() { return listed<std::int64_t>({4}); }
  arguments innermost_sizes() { return listed({integers{2, 3}}); }
  arguments partition_place() { return numbers(1, 2); }
  arguments part_factor() { return listed<std::int64_t>({2}); }
  arguments candidates() { return listed({integers{1, 2, 4}}); }
  arguments probabilities() {
    return {std::vector<double>{0.25, 0.5, 0.25}, std::vector<double>{1.0}};
  }
  arguments aligned_axis() { return listed<std::int64_t>({0, 2}); }
  arguments align_factor() { return listed<std::int64_t>({4, 0}); }
  arguments align_offset() { return listed<std::int64_t>({1}); }
  arguments separators() { return listed({integers{1}, integers{9}}); }
  arguments first_index() { return listed({integers{0}, integers{9}}); }
  arguments new_orders() {
    integers same(iterations());
    std::iota(same.begin(), same.end(), 0);
    const integers back(same.rbegin(), same.rend());
    return listed({same, back, integers{0, 0}});
  }
  arguments axis_orders() {
    return listed({integers{0, 1, 2}, integers{0, 2, 1}, integers{2, 0, 1}, integers{1, 0, 2},
                   integers{0, 1}, integers{1, 0}});
  }
  arguments axis_groups() {
    return listed({integers{0, 1}, integers{0, 1, 2}, integers{1, 2}, integers{0}});
  }
  arguments paddings() {
    arguments out;
    for (const std::int64_t by : {1, 2, 4}) out.push_back(integers(iterations(), by));
    out.push_back(integers(iterations() + 1, 2));
    if (iterations() > 1) {
      integers last(iterations(), 1);
      last.back() = 4;
      out.push_back(std::move(last));
    }
    return out;
  }
  /// @}

  /// @name Buffers and maps
  /// @{
  arguments selectors() {
    arguments out{buffer_selector("nothing")};
    if (const found* f = chosen_block()) {
      for (std::size_t i = 0; i < f->node->reads.size(); ++i)
        out.push_back(read_buffer(static_cast<int>(i)));
      for (std::size_t i = 0; i < f->node->writes.size(); ++i)
        out.push_back(written_buffer(static_cast<int>(i)));
    }
    return out;
  }
  arguments layouts() {
    switch (chosen_rank()) {
      case 0: return maps_of(0, {"(0,)"});
      case 1:
        return maps_of(1, {"(i0 // 2, i0 % 2)", "(i0 // 3, i0 % 3)", "(i0 // 8, i0 % 8)", "(i0, 0)",
                           "(i0 // 2,)"});
      case 2:
        return maps_of(2, {"(i1, i0)", "(i0, i1 // 2, i1 % 2)", "(i0 // 3, i0 % 3, i1)",
                           "(i0 * 4 + i1,)", "(i0,)"});
      case 3: return maps_of(3, {"(i2, i0, i1)", "(i0, i1 * 2 + i2)"});
      default: return {};
    }
  }
  /// Of the iteration variables of a block; bijective or not.
  arguments iteration_maps() {
    switch (iterations()) {
      case 0: return maps_of(0, {"(0,)"});
      case 1: return maps_of(1, {"(i0,)", "(i0 // 2, i0 % 2)", "(i0 // 3, i0 % 3)", "(0,)"});
      case 2:
        return maps_of(2, {"(i0, i1)", "(i1, i0)", "(i0,)", "(i1,)", "(i0 + i1,)", "(i0 * 2 + i1,)",
                           "(i0, i1 // 2, i1 % 2)"});
      case 3: return maps_of(3, {"(i0, i1, i2)", "(i2, i0, i1)", "(i0, i1)"});
      default: return {};
    }
  }
  /// The region of the first element, as a promise about what a block touches.
  arguments index_ranges() {
    const found* f = chosen_block();
    const std::size_t rank = f && !f->node->writes.empty() ? f->node->writes[0].box.size() : 1;
    return {map_argument(ir::make_index_map(iterations(), [&](const auto&) {
      std::vector<ir::expr> out;
      for (std::size_t d = 0; d < rank; ++d) out.insert(out.end(), {ir::expr(0), ir::expr(1)});
      return out;
    }))};
  }
  /// @}

  /// @name Names
  /// @{
  arguments scopes() { return names({"global", "local", "shared"}); }
  /// Those that behave differently where one block copies what a loop touches.
  arguments tile_scopes() { return names({"global", "shared"}); }
  arguments cache_scope() { return names({"global"}); }
  arguments thread_axes() { return names({"threadIdx.x", "blockIdx.x", "threadIdx.w"}); }
  arguments types() { return names({"int64", "no type"}); }
  arguments sides() { return names({"read", "write", "beside"}); }
  arguments keys() { return names({"note", "auto_copy"}); }
  arguments function_name() { return names({"main"}); }
  arguments algorithms() { return names({"main", "twin", "other"}); }
  arguments intrinsics() {
    return names(
        {"laws_dot_int32", "laws_sum_int32", "laws_peak_int32", "laws_product_int32", "none such"});
  }
  /// @}

  static const std::vector<hint>& hints() {
    static const std::vector<hint> all{
        {"fuse", "loops", &caller::loops_to_fuse},
        {"reorder", "loops", &caller::loops_to_reorder},
        {"merge", "loops", &caller::loops_to_merge},
        {"reindex_cache_read", "storage_scope", &caller::cache_scope},
        {"reindex_cache_write", "storage_scope", &caller::cache_scope},
        {"cache_index", "storage_scope", &caller::cache_scope},
        {"read_at", "storage_scope", &caller::tile_scopes},
        {"write_at", "storage_scope", &caller::tile_scopes},
        {"transform_layout", "index_map", &caller::layouts},
        {"get_block", "name", &caller::block_names},
        {"work_on", "func_name", &caller::algorithms},
        {"", "func_name", &caller::function_name},
        {"", "preserve_unit_loops", &caller::both_booleans},
        {"", "index", &caller::place_index},
        {"", "read_buffer_index", &caller::read_index},
        {"", "write_buffer_index", &caller::write_index},
        {"", "buffer_index", &caller::write_index},
        {"", "factor_axis", &caller::factor_axis},
        {"", "cse_thresh", &caller::threshold},
        {"", "n", &caller::tile_rank},
        {"", "max_innermost_factor", &caller::innermost_limit},
        {"", "innermost", &caller::innermost_sizes},
        {"", "partition_pos", &caller::partition_place},
        {"", "innerpart_factor", &caller::part_factor},
        {"", "candidates", &caller::candidates},
        {"", "probs", &caller::probabilities},
        {"", "axis", &caller::aligned_axis},
        {"", "factor", &caller::align_factor},
        {"", "offset", &caller::align_offset},
        {"", "axis_separators", &caller::separators},
        {"", "buf_index_array", &caller::first_index},
        {"sparse_reorder", "new_order", &caller::axis_orders},
        {"sparse_fuse", "axes", &caller::axis_groups},
        {"", "new_order", &caller::new_orders},
        {"", "padding", &caller::paddings},
        {"", "index_map", &caller::iteration_maps},
        {"", "gen_new_ranges", &caller::index_ranges},
        {"", "storage_scope", &caller::scopes},
        {"", "thread_axis", &caller::thread_axes},
        {"", "dtype", &caller::types},
        {"", "buf_type", &caller::sides},
        {"", "ann_key", &caller::keys},
        {"", "tensor_intrin", &caller::intrinsics},
    };
    return all;
  }

  std::vector<const ir::block_realize_node*> all_;
  std::vector<found> blocks_;
  std::vector<loop_rv> loops_;
  const instruction_kind* kind_ = nullptr;
  arguments args_;
  std::vector<proposal> calls_;
};

}  // namespace

std::vector<proposal> every_call(schedule& s) {
  static const bool known = (add_intrinsics(), true);
  static_cast<void>(known);
  return caller(s).run();
}

}  // namespace laws
