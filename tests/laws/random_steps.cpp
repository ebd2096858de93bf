#include "random_steps.hpp"

#include <algorithm>
#include <numeric>

#include <tilewright/schedule/path.hpp>
#include <tilewright/support/error.hpp>

#include "focus.hpp"
#include "ingredients.hpp"

namespace laws {
namespace {

using strings = std::vector<std::string>;
using integers = std::vector<std::int64_t>;

/// Draws the arguments of one instruction, from the first parameter to the last.
class proposer : focus {
 public:
  using focus::focus;

  std::vector<argument> make() {
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
      case argument_type::value: return condition();
      case argument_type::buffer: return selected_buffer();
      case argument_type::index_map: return index_map();
      case argument_type::index_ranges: return index_ranges();
      case argument_type::padding: return padding_value();
      default: return std::monostate{};
    }
  }

  /// @name Preparations, made here as a program would
  /// @{
  /// Splits a loop and puts the inner one last; gives the inner one.
  loop_rv tile(const block_rv& b, const loop_rv& loop, int by) {
    const loop_rv inner = s_.split(loop, {infer, by})[1];
    std::vector<loop_rv> order = s_.get_loops(b);
    while (&s_.get(order.front()) != &s_.get(inner)) order.erase(order.begin());
    order.erase(order.begin());
    order.push_back(inner);
    s_.reorder(order);
    return inner;
  }
  /// C[i, j] += A[i, k] * B[k, j].
  static bool multiplies_matrices(const ir::block_node& b) {
    return b.iters.size() == 3 && b.reads.size() == 3 && b.reads[2].box.size() == 2 &&
           b.reads[2].box[0].min.same(b.iters[2].var);
  }
  /// Loops of a sum that do what an intrinsic of `add_intrinsics` describes.
  argument loop_to_tensorize() {
    const block_rv b{focus_.number};
    if (chance(draw_, 15)) return loop();
    try {
      const std::vector<loop_rv> all = s_.get_loops(b);
      if (all.empty()) return loop();
      if (s_.get(b).block->init)
        s_.decompose_reduction(b, chance(draw_, 50) ? all.front() : any(draw_, all));
      const std::vector<loop_rv> now = s_.get_loops(b);
      product_ = multiplies_matrices(*s_.get(b).block) && now.size() == 3;
      if (product_) {
        const loop_rv rows = tile(b, now[0], 2);
        tile(b, now[1], 2);
        tile(b, now[2], 2);
        return rv(rows);
      }
      return rv(tile(b, now.back(), 4));
    } catch (const error&) {
      return loop();
    }
  }
  /// A sum whose init is a nest of its own, so that it adds to what it finds.
  argument sum_in_progress() {
    const block_rv b{focus_.number};
    try {
      const std::vector<loop_rv> all = s_.get_loops(b);
      if (!all.empty() && s_.get(b).block->init && chance(draw_, 85))
        s_.decompose_reduction(b, any(draw_, all));
    } catch (const error&) {  // a loop that encloses others of its nest
    }
    return focus_;
  }
  argument intrinsic_name() {
    static const strings names{"dot", "sum", "peak", "product"};
    static const strings types{"int32", "float32"};
    if (chance(draw_, 4)) return std::string("none such");
    const ir::block_node* b = focus_block();
    if (!b || b->writes.empty() || chance(draw_, 12))
      return "laws_" + any(draw_, names) + "_" + any(draw_, types);
    bool peak = false;
    if (const ir::store_node* store = ir::as_store(b->body)) peak = store->value->op == ir::op::max;
    const std::string form = product_               ? "product"
                             : peak                 ? "peak"
                             : b->reads.size() == 3 ? "dot"
                                                    : "sum";
    return "laws_" + form + "_" + std::string(tilewright::name(b->writes[0].buffer->type));
  }
  /// A producer that is computed where a tile of its consumer needs it.
  argument producer_to_roll() {
    const std::vector<block_rv> all = consumers_of_focus();
    for (int attempt = 0; attempt < 3 && !all.empty() && chance(draw_, 90); ++attempt) {
      try {
        const std::vector<loop_rv> loops = s_.get_loops(any(draw_, all));
        if (loops.empty()) continue;
        loop_rv at = any(draw_, loops);
        if (attempt == 0 && chance(draw_, 50))
          at = s_.split(at, {infer, 1 + static_cast<int>(pick(draw_, 4))})[0];
        s_.compute_at(block_rv{focus_.number}, at);
        break;
      } catch (const error&) {  // it stays where it is
      }
    }
    return block();
  }
  /// @}

  /// @name Lists and numbers
  /// @{
  argument consumers() {
    if (chance(draw_, 65)) return std::vector<rv>{};
    if (chance(draw_, 50)) return std::vector<rv>{focus_};
    const std::vector<block_rv> all = consumers_of_focus();
    if (!all.empty()) return std::vector<rv>{any(draw_, all)};
    return std::vector<rv>{pick_block()};
  }
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
      if (!b->block->annotations.empty() && chance(draw_, 70))
        if (const auto found = find(b->block->name)) return focus_ = *found;
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
  argument permutation() {
    const ir::block_node* b = focus_block();
    integers out(b ? b->iters.size() : 2);
    std::iota(out.begin(), out.end(), 0);
    shuffle(out, draw_);
    if (chance(draw_, 10)) out.push_back(0);
    return out;
  }
  /// Mostly one in which the row of an element stands before it, as in the iterations of `sparse_program`.
  argument axis_order() {
    if (chance(draw_, 80))
      return any(draw_, std::vector<integers>{{0, 1, 2}, {0, 2, 1}, {2, 0, 1}});
    integers out(static_cast<std::size_t>(2 + pick(draw_, 2)));
    std::iota(out.begin(), out.end(), 0);
    shuffle(out, draw_);
    return out;
  }
  argument axis_group() {
    const std::int64_t first = chance(draw_, 80) ? 0 : 1;
    integers out(static_cast<std::size_t>(chance(draw_, 80) ? 2 : 1 + pick(draw_, 3)));
    std::iota(out.begin(), out.end(), first);
    return out;
  }
  argument padding() {
    const ir::block_node* b = focus_block();
    integers out(b ? b->iters.size() : 2);
    for (std::int64_t& x : out) x = any(draw_, integers{1, 2, 4, 3});
    if (chance(draw_, 5)) out.push_back(1);
    return out;
  }
  /// The read region of a buffer that the block writes too.
  argument updated_index() {
    const ir::block_node* b = focus_block();
    if (!b || chance(draw_, 10)) return buffer_index();
    for (std::size_t i = 0; i < b->reads.size(); ++i)
      for (const ir::buffer_region& w : b->writes)
        if (b->reads[i].buffer == w.buffer) return static_cast<std::int64_t>(i);
    return buffer_index();
  }
  argument condition() { return factor(chance(draw_, 85) ? 1 + pick(draw_, 4) : 0); }
  argument partition_place() { return chance(draw_, 90) ? pick(draw_, 2) : pick(draw_, 5) - 1; }
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
  /// Of the selected buffer, now and then beyond its dimensions.
  argument separators() {
    const std::int64_t rank = domain_ ? std::ssize(*domain_) : 2;
    integers out;
    std::int64_t at = 0;
    while (out.size() < 3 && chance(draw_, 60)) {
      at += pick(draw_, static_cast<std::ptrdiff_t>(rank - std::min(at, rank) + 1));
      out.push_back(chance(draw_, 95) ? at : at + 3);
    }
    return out;
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
    if (at != names_.end() && at + 1 != names_.end())
      if (const auto next = find(*(at + 1))) out.push_back(*next);
    return out;
  }
  /// @}

  /// @name Names
  /// @{
  argument name() { return chance(draw_, 92) ? any(draw_, names_) : std::string("no such block"); }
  argument function_name() { return std::string(chance(draw_, 97) ? "main" : "other"); }
  argument algorithm_name() {
    static const strings all{"main",        "twin",         "other",       "another",
                             "main.joined", "main.parts_3", "main.parts_2"};
    return any(draw_, all);
  }
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
    static const strings all{"note", "other.note", "auto_copy", "warp"};
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

  std::optional<integers> domain_;  // shape of the selected buffer
  std::optional<dtype> selected_type_;
  const std::vector<ir::buffer_region> no_regions_{};
  std::vector<rv> tile_;  // integers that were sampled for the chosen loop
  bool product_ = false;  // the loops were tiled for the intrinsic that multiplies matrices
};

const proposer::hint* proposer::find_hint(const parameter& p) const {
  static const hint hints[] = {
      {"compute_at", "loop", &proposer::loop_near_consumer},
      {"reverse_compute_at", "loop", &proposer::loop_near_producer},
      {"", "disable_predication", &proposer::no},
      {"", "assume_injective_transform", &proposer::no},
      {"add_atomically", "block", &proposer::sum_in_progress},
      {"rfactor", "loop", &proposer::reduction_loop},
      {"split", "loop", &proposer::loop_to_split},
      {"reorder", "loops", &proposer::loops_in_disorder},
      {"merge", "loops", &proposer::loops_of_two_nests},
      {"fuse_reduction_epilogue", "epilogue_block", &proposer::consumer_block},
      {"rolling_buffer", "block", &proposer::producer_to_roll},
      {"sample_partitioned_tile", "partition_pos", &proposer::partition_place},
      {"sample_partitioned_tile", "innerpart_factor", &proposer::few},
      {"tensorize", "block_or_loop", &proposer::loop_to_tensorize},
      {"tensorize", "tensor_intrin", &proposer::intrinsic_name},
      {"cache_inplace", "read_buffer_index", &proposer::updated_index},
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
      {"sparse_reorder", "new_order", &proposer::axis_order},
      {"sparse_fuse", "axes", &proposer::axis_group},
      {"", "new_order", &proposer::permutation},
      {"", "axis_separators", &proposer::separators},
      {"", "padding", &proposer::padding},
      {"work_on", "func_name", &proposer::algorithm_name},
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

std::string_view theme_of(const instruction_kind& kind) {
  static constexpr std::string_view themes[][2] = {{"cache_index", "strided"},
                                                   {"cache_inplace", "in_place"},
                                                   {"compute_inline", "elementwise"},
                                                   {"decompose_padding", "padding"},
                                                   {"fuse_reduction_epilogue", "epilogue"},
                                                   {"merge", "twins"},
                                                   {"pad_einsum", "dot"},
                                                   {"reverse_compute_inline", "elementwise"},
                                                   {"rfactor", "dot"},
                                                   {"rolling_buffer", "blur"},
                                                   {"tensorize", "dot"}};
  for (const auto& [name, theme] : themes)
    if (kind.name == name) return theme;
  return {};
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
