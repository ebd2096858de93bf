#include "random_steps.hpp"

#include <algorithm>
#include <numeric>

#include <tilewright/schedule/path.hpp>
#include <tilewright/support/error.hpp>

#include "ingredients.hpp"

namespace laws {
namespace {

using strings = std::vector<std::string>;
using integers = std::vector<std::int64_t>;

/// Draws the arguments of one instruction, from the first parameter to the last.
class proposer {
 public:
  proposer(schedule& s, const instruction_kind& kind, support::random& draw)
      : s_(s), kind_(kind), draw_(draw) {
    for (const ir::block_realize_node* b : primitive::all_blocks(s.function().body))
      if (b->block->name != "root") names_.push_back(b->block->name);
    if (names_.empty()) names_.push_back("root");
  }

  std::vector<argument> make() {
    focus_ = pick_block();
    std::vector<argument> out;
    for (const parameter& p : kind_.parameters) {
      const hint* found = find_hint(p);
      out.push_back(found ? (this->*found->make)() : by_type(p));
    }
    return out;
  }

 private:
  struct hint {
    std::string_view kind;  // empty: of any kind
    std::string_view parameter;
    argument (proposer::*make)();
  };
  const hint* find_hint(const parameter& p) const;

  argument by_type(const parameter& p) {
    switch (p.type) {
      case argument_type::block: return block();
      case argument_type::loop: return loop();
      case argument_type::block_or_loop: return chance(draw_, 50) ? block() : loop();
      case argument_type::blocks:
        return chance(draw_, 60) ? std::vector<rv>{} : std::vector<rv>{block()};
      case argument_type::loops: return loops_in_order();
      case argument_type::factors: return factors();
      case argument_type::boolean: return boolean(p);
      case argument_type::integer: return pick(draw_, 6) - 1;
      case argument_type::string: return name();
      case argument_type::integers: return integers{pick(draw_, 4), pick(draw_, 4)};
      case argument_type::reals: return std::vector<double>{0.5, 0.5};
      case argument_type::note: return note();
      case argument_type::loop_or_blocks:
        return chance(draw_, 80) ? argument(loop()) : neighbours();
      case argument_type::value: return factor(std::int64_t{1} + pick(draw_, 4));
      case argument_type::buffer: return selected_buffer();
      case argument_type::index_map: return index_map();
      case argument_type::index_ranges: return index_ranges();
      case argument_type::padding: return padding_value();
      default: return std::monostate{};
    }
  }

  /// @name Blocks and loops
  /// @{
  /// A variable of that class that may have expired long ago.
  std::optional<rv> stale(rv_class type) {
    std::vector<rv> all;
    for (std::uint32_t i = 0; i < s_.state().symbols.size(); ++i)
      if (s_.state().symbols[i].kind == type) all.push_back({type, i});
    if (all.empty()) return {};
    return any(draw_, all);
  }
  rv pick_block() {
    try {
      return s_.get_block(any(draw_, names_));
    } catch (const schedule_error&) {  // two blocks of that name
      return s_.get_block(names_.front() == "root" ? "root" : names_.back());
    }
  }
  rv block() {
    if (chance(draw_, 2)) return {rv_class::block, focus_.number + 1};  // a loop's number, or none
    if (chance(draw_, 5))
      if (const auto old = stale(rv_class::block)) return *old;
    return focus_;
  }
  std::vector<loop_rv> loops_of(rv b) {
    try {
      return s_.get_loops(block_rv{b.number});
    } catch (const schedule_error&) {
      return {};
    }
  }
  rv loop() {
    if (chance(draw_, 2)) return {rv_class::loop, focus_.number};  // a block's number
    if (chance(draw_, 6))
      if (const auto old = stale(rv_class::loop)) return *old;
    std::vector<loop_rv> list = loops_of(focus_);
    for (int i = 0; list.empty() && i < 5; ++i) list = loops_of(focus_ = pick_block());
    if (list.empty()) return stale(rv_class::loop).value_or(rv{rv_class::loop, 0});
    return any(draw_, list);
  }
  argument any_loop() {
    focus_ = pick_block();
    return loop();
  }
  /// A loop around one of the blocks, mostly.
  argument loop_near(const std::vector<block_rv>& near) {
    if (near.empty() || chance(draw_, 10)) return any_loop();
    const std::vector<loop_rv> list = loops_of(any(draw_, near));
    return list.empty() ? any_loop() : argument(rv(any(draw_, list)));
  }
  argument loop_near_consumer() {
    try {
      return loop_near(s_.get_consumers(block_rv{focus_.number}));
    } catch (const schedule_error&) {
      return any_loop();
    }
  }
  argument loop_near_producer() {
    try {
      return loop_near(s_.get_producers(block_rv{focus_.number}));
    } catch (const schedule_error&) {
      return any_loop();
    }
  }
  /// Neighbours in one nest.
  argument loops_in_order() {
    const std::vector<loop_rv> all = loops_of(focus_);
    if (all.size() < 2 || chance(draw_, 5)) return std::vector<rv>{loop(), loop()};
    const auto first = static_cast<std::size_t>(pick(draw_, std::ssize(all) - 1));
    const std::size_t last =
        std::min(all.size(), first + 2 + static_cast<std::size_t>(pick(draw_, 2)));
    return std::vector<rv>(all.begin() + static_cast<std::ptrdiff_t>(first),
                           all.begin() + static_cast<std::ptrdiff_t>(last));
  }
  argument loops_in_disorder() {
    const std::vector<loop_rv> all = loops_of(focus_);
    std::vector<rv> out(all.begin(), all.end());
    shuffle(out, draw_);
    if (out.size() > 2 && chance(draw_, 50)) out.pop_back();
    if (chance(draw_, 8)) out.push_back(loop());
    return out;
  }
  /// Loops of two blocks, mostly at the same depth.
  argument loops_of_two_nests() {
    const std::vector<loop_rv> first = loops_of(focus_), second = loops_of(pick_block());
    const std::size_t depth = std::min(first.size(), second.size());
    if (depth == 0 || chance(draw_, 10)) return std::vector<rv>{loop(), loop()};
    const auto at = static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(depth)));
    return std::vector<rv>{first[at], second[at]};
  }
  argument consumer_block() {
    try {
      const std::vector<block_rv> all = s_.get_consumers(block_rv{focus_.number});
      if (!all.empty() && chance(draw_, 90)) return rv(any(draw_, all));
    } catch (const schedule_error&) {
    }
    return other_block();
  }
  /// The inner loop of a tile of four in a reduction, made here as a program would.
  argument loop_to_tensorize() {
    focus_on_reduction();
    const block_rv b{focus_.number};
    try {
      const std::vector<loop_rv> all = s_.get_loops(b);
      if (all.empty() || chance(draw_, 20)) return loop();
      s_.decompose_reduction(b, all.front());
      const std::vector<loop_rv> now = s_.get_loops(b);
      return rv(s_.split(now.back(), {infer, 4})[1]);
    } catch (const schedule_error&) {
      return loop();
    }
  }
  argument intrinsic_name() {
    static const strings all{"laws_dot_int32",   "laws_dot_float32",       "laws_dot_int32",
                             "laws_dot_float32", "outer_product_6x16_f32", "none such"};
    const ir::block_node* b = focus_block();
    if (b && !b->writes.empty() && chance(draw_, 80))
      return "laws_dot_" + std::string(tilewright::name(b->writes[0].buffer->type));
    return any(draw_, all);
  }
  /// Kinds that need a reduction get one, mostly.
  void focus_on_reduction() {
    strings reductions;
    for (const ir::block_realize_node* b : primitive::all_blocks(s_.function().body))
      if (b->block->init) reductions.push_back(b->block->name);
    if (reductions.empty() || chance(draw_, 10)) return;
    try {
      focus_ = s_.get_block(any(draw_, reductions));
    } catch (const schedule_error&) {  // two blocks of that name
    }
  }
  argument reduction_block() {
    focus_on_reduction();
    return block();
  }
  argument reduction_loop() {
    focus_on_reduction();
    const std::vector<loop_rv> all = loops_of(focus_);
    return all.empty() || chance(draw_, 30) ? argument(loop()) : argument(rv(all.back()));
  }
  argument other_block() { return chance(draw_, 90) ? pick_block() : block(); }
  argument consumers() {
    if (chance(draw_, 65)) return std::vector<rv>{};
    if (chance(draw_, 50)) return std::vector<rv>{focus_};
    try {
      const std::vector<block_rv> all = s_.get_consumers(block_rv{focus_.number});
      if (!all.empty()) return std::vector<rv>{any(draw_, all)};
    } catch (const schedule_error&) {
    }
    return std::vector<rv>{pick_block()};
  }
  /// @}

  /// @name Numbers
  /// @{
  argument boolean(const parameter& p) {
    const bool usual = p.fallback && *p.fallback != "0" && *p.fallback != "False";
    return chance(draw_, 80) ? usual : !usual;
  }
  /// The loop of the last sampled tile, whose sizes `factors` then takes.
  argument loop_to_split() {
    const auto& steps = s_.trace().steps();
    for (std::size_t i = steps.size(); chance(draw_, 30) && i-- > 0;) {
      const instruction& what = *steps[i].what;
      if (what.outputs.empty() || what.outputs[0].kind != rv_class::integer) continue;
      if (const rv* l = what.args.empty() ? nullptr : std::get_if<rv>(&what.args[0])) {
        tile_ = what.outputs;
        return *l;
      }
    }
    return loop();
  }
  /// For promises of the caller that a random argument would not keep.
  argument no() { return false; }
  argument factors() {
    std::vector<factor> out;
    for (const rv& v : tile_) out.push_back(factor(expr_rv{v.number}));
    if (!out.empty()) return out;
    const std::int64_t n = 1 + pick(draw_, 3);
    for (std::int64_t i = 0; i < n; ++i) out.push_back(factor(std::int64_t{1} + pick(draw_, 5)));
    if (chance(draw_, 88)) out[static_cast<std::size_t>(pick(draw_, n))] = infer;
    if (chance(draw_, 15))
      if (const auto drawn = stale(rv_class::integer)) out.back() = factor(expr_rv{drawn->number});
    if (chance(draw_, 3)) out.front() = factor(0);
    return out;
  }
  argument buffer_index() { return chance(draw_, 85) ? pick(draw_, 2) : pick(draw_, 5) - 1; }
  /// A key that the chosen block or loop has, mostly.
  argument known_key() {
    strings keys;
    const ir::block_node* b = focus_block();
    if (b)
      for (const auto& [key, value] : b->annotations) keys.push_back(key);
    return keys.empty() || chance(draw_, 10) ? key() : argument(any(draw_, keys));
  }
  argument annotated() {
    for (const ir::block_realize_node* b : primitive::all_blocks(s_.function().body))
      if (!b->block->annotations.empty() && chance(draw_, 70)) {
        try {
          return focus_ = s_.get_block(b->block->name);
        } catch (const schedule_error&) {  // two blocks of that name
        }
      }
    try {
      if (chance(draw_, 60)) s_.annotate(block_rv{focus_.number}, "note", 1);
    } catch (const schedule_error&) {  // it has one
    }
    return chance(draw_, 80) ? block() : loop();
  }
  argument first_buffer() { return chance(draw_, 90) ? std::int64_t{0} : pick(draw_, 4) - 1; }
  argument place_index() {
    return chance(draw_, 70) ? -1 : chance(draw_, 50) ? std::int64_t{-2} : pick(draw_, 3);
  }
  argument few() { return pick(draw_, 4); }
  argument small_axis() { return pick(draw_, 4) - 1; }
  argument align_factor() { return any(draw_, integers{1, 4, 8, 16, 32, 0}); }
  argument align_offset() { return any(draw_, integers{0, 1, 4, 8}); }
  argument innermost_limit() { return any(draw_, integers{1, 4, 16, 64, 4, 16, 0}); }
  argument tile_sizes() { return chance(draw_, 95) ? integers{2, 3, 4} : integers{0, 2}; }
  argument tile_rank() { return chance(draw_, 95) ? 1 + pick(draw_, 3) : std::int64_t{0}; }
  argument candidates() { return integers{1, 2, 4}; }
  argument probabilities() {
    return chance(draw_, 90) ? std::vector<double>{0.25, 0.5, 0.25} : std::vector<double>{1.0};
  }
  const ir::block_node* focus_block() {
    try {
      return s_.get(block_rv{focus_.number}).block.get();
    } catch (const error&) {
      return nullptr;
    }
  }
  argument permutation() {
    const ir::block_node* b = focus_block();
    integers out(b ? b->iters.size() : 2);
    std::iota(out.begin(), out.end(), 0);
    shuffle(out, draw_);
    if (chance(draw_, 10)) out.push_back(0);
    return out;
  }
  argument padding() {
    const ir::block_node* b = focus_block();
    integers out(b ? b->iters.size() : 2);
    for (std::int64_t& x : out) x = any(draw_, integers{1, 2, 4, 3});
    if (chance(draw_, 5)) out.push_back(1);
    return out;
  }
  argument first_index() { return integers{chance(draw_, 90) ? 0 : pick(draw_, 4)}; }
  /// @}

  /// @name Buffers and index maps
  /// @{
  argument selected_buffer() {
    const ir::block_node* b = focus_block();
    const bool reads = chance(draw_, 50);
    const auto& regions = reads && b ? b->reads : b ? b->writes : no_regions_;
    if (regions.empty() || chance(draw_, 4)) return buffer_selector("nothing");
    const auto at = pick(draw_, std::ssize(regions));
    const ir::buffer& chosen = regions[static_cast<std::size_t>(at)].buffer;
    domain_ = extents_of(chosen->shape);
    selected_type_ = chosen->type;
    if (chance(draw_, 10)) return buffer_selector(chosen->name);
    return reads ? read_buffer(static_cast<int>(at)) : written_buffer(static_cast<int>(at));
  }
  /// Literal extents; a symbolic one counts as 6.
  static integers extents_of(const std::vector<ir::expr>& shape) {
    integers out;
    for (const ir::expr& e : shape) out.push_back(ir::is_int(e) ? e->integer : 6);
    return out;
  }
  /// The extents that a map is applied to: of the selected buffer, else of the block's iterations.
  integers domain() {
    if (domain_) return *domain_;
    std::vector<ir::expr> extents;
    if (const ir::block_node* b = focus_block())
      for (const ir::iter_var& i : b->iters) extents.push_back(i.dom.extent);
    return extents_of(extents);
  }
  argument index_map() { return map_argument(random_map(domain(), draw_)); }
  /// The region of the first element, as a promise about what a block touches.
  argument index_ranges() {
    const ir::block_node* b = focus_block();
    const std::size_t rank = b && !b->writes.empty() ? b->writes[0].box.size() : 1;
    return map_argument(ir::make_index_map(b ? b->iters.size() : 1, [&](const auto&) {
      std::vector<ir::expr> out;
      for (std::size_t d = 0; d < rank; ++d) out.insert(out.end(), {ir::expr(0), ir::expr(1)});
      return out;
    }));
  }
  argument padding_value() {
    if (chance(draw_, 60)) return std::monostate{};
    if (selected_type_ && is_float(*selected_type_)) return 0.0;
    return std::int64_t{0};
  }
  argument neighbours() {
    std::vector<rv> out{block()};
    const auto at = std::find(names_.begin(), names_.end(), name_of(out[0]));
    if (at != names_.end() && at + 1 != names_.end()) {
      try {
        out.push_back(s_.get_block(*(at + 1)));
      } catch (const schedule_error&) {  // two blocks of that name
      }
    }
    return out;
  }
  std::string name_of(rv block) {
    try {
      return s_.get(block_rv{block.number}).block->name;
    } catch (const error&) {
      return "";
    }
  }
  /// @}

  /// @name Names
  /// @{
  argument name() { return chance(draw_, 95) ? any(draw_, names_) : std::string("no such block"); }
  argument function_name() { return std::string(chance(draw_, 97) ? "main" : "other"); }
  argument scope() {
    static const strings all{"global", "local", "global", "shared", "local", "register"};
    return any(draw_, all);
  }
  argument thread_axis() {
    static const strings all{"blockIdx.x", "threadIdx.x", "threadIdx.y",
                             "vthread.x",  "blockIdx.y",  "threadIdx.w"};
    return any(draw_, all);
  }
  argument type_name() {
    static const strings all{"float32", "int32", "float16", "int8", "no type"};
    return any(draw_, all);
  }
  argument side() {
    static const strings all{"read", "write", "read", "write", "beside"};
    return any(draw_, all);
  }
  argument key() {
    static const strings all{"note", "other.note", "note", "warp"};
    return any(draw_, all);
  }
  argument note() {
    switch (pick(draw_, 4)) {
      case 0: return annotation_value(std::string("a \"quoted\" text"));
      case 1: return annotation_value(0.5);
      case 2: return annotation_value(ir::attr::list{1, "two"});
      default: return annotation_value(1);
    }
  }
  /// @}

  schedule& s_;
  const instruction_kind& kind_;
  support::random& draw_;
  strings names_;
  rv focus_;
  std::optional<integers> domain_;  // shape of the selected buffer
  std::optional<dtype> selected_type_;
  const std::vector<ir::buffer_region> no_regions_{};
  std::vector<rv> tile_;  // integers that were sampled for the chosen loop
};

const proposer::hint* proposer::find_hint(const parameter& p) const {
  static const hint hints[] = {
      {"compute_at", "loop", &proposer::loop_near_consumer},
      {"reverse_compute_at", "loop", &proposer::loop_near_producer},
      {"", "disable_predication", &proposer::no},
      {"", "assume_injective_transform", &proposer::no},
      {"rfactor", "loop", &proposer::reduction_loop},
      {"decompose_reduction", "block", &proposer::reduction_block},
      {"split", "loop", &proposer::loop_to_split},
      {"reorder", "loops", &proposer::loops_in_disorder},
      {"merge", "loops", &proposer::loops_of_two_nests},
      {"fuse_reduction_epilogue", "reduction_block", &proposer::reduction_block},
      {"fuse_reduction_epilogue", "epilogue_block", &proposer::consumer_block},
      {"pad_einsum", "block", &proposer::reduction_block},
      {"tensorize", "block_or_loop", &proposer::loop_to_tensorize},
      {"tensorize", "tensor_intrin", &proposer::intrinsic_name},
      {"cache_inplace", "read_buffer_index", &proposer::buffer_index},
      {"storage_align", "axis", &proposer::small_axis},
      {"storage_align", "factor", &proposer::align_factor},
      {"storage_align", "offset", &proposer::align_offset},
      {"", "consumer_blocks", &proposer::consumers},
      {"", "read_buffer_index", &proposer::buffer_index},
      {"", "write_buffer_index", &proposer::first_buffer},
      {"", "buffer_index", &proposer::first_buffer},
      {"", "buf_index", &proposer::first_buffer},
      {"", "buf_index_array", &proposer::first_index},
      {"", "index", &proposer::place_index},
      {"", "factor_axis", &proposer::small_axis},
      {"", "cse_thresh", &proposer::few},
      {"", "max_innermost_factor", &proposer::innermost_limit},
      {"", "innermost", &proposer::tile_sizes},
      {"", "n", &proposer::tile_rank},
      {"", "candidates", &proposer::candidates},
      {"", "probs", &proposer::probabilities},
      {"", "new_order", &proposer::permutation},
      {"", "padding", &proposer::padding},
      {"", "func_name", &proposer::function_name},
      {"", "storage_scope", &proposer::scope},
      {"", "thread_axis", &proposer::thread_axis},
      {"", "dtype", &proposer::type_name},
      {"", "buf_type", &proposer::side},
      {"unannotate", "block_or_loop", &proposer::annotated},
      {"unannotate", "ann_key", &proposer::known_key},
      {"", "ann_key", &proposer::key},
  };
  for (const hint& h : hints)
    if (h.parameter == p.name && (h.kind.empty() || h.kind == kind_.name)) return &h;
  return nullptr;
}

}  // namespace

proposal propose(schedule& s, const instruction_kind& kind, support::random& draw) {
  static const bool known = (add_intrinsics(), true);
  static_cast<void>(known);
  return {&kind, proposer(s, kind, draw).make()};
}

bool keeps_meaning(const instruction_kind& kind) {
  return kind.name.substr(0, 7) != "unsafe_" && kind.name != "set_dtype" &&
         kind.name != "annotate_buffer_access";
}

const instruction_kind& random_kind(support::random& draw) {
  // What other primitives build on comes more often.
  static const std::vector<const instruction_kind*> weighted = [] {
    std::vector<const instruction_kind*> out;
    for (const instruction_kind& kind : instruction_kinds()) {
      const bool frequent = kind.name == "split" || kind.name == "reorder" || kind.name == "fuse" ||
                            kind.name.find("compute_at") != kind.name.npos;
      out.insert(out.end(), kind.pure ? 1 : frequent ? 4 : 2, &kind);
    }
    return out;
  }();
  return *any(draw, weighted);
}

void random_step(schedule& s, support::random& draw) {
  const instruction_kind* kind = &random_kind(draw);
  while (!keeps_meaning(*kind)) kind = &random_kind(draw);
  const proposal next = propose(s, *kind, draw);
  try {
    s.apply(*next.kind, next.args);
  } catch (const schedule_error&) {
  } catch (const argument_error&) {
  }
}

}  // namespace laws
