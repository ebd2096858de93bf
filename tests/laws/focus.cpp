#include "focus.hpp"

#include <algorithm>

#include <tilewright/ir/equal.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/error.hpp>

#include "ingredients.hpp"

namespace laws {
namespace {

/// @name What a kind of instruction needs a block to be
/// @{
using blocks = std::vector<const ir::block_realize_node*>;

struct surroundings {
  const ir::function& f;
  blocks all;

  bool local(const ir::buffer& b) const {
    return std::none_of(f.params.begin(), f.params.end(),
                        [&](const ir::param& p) { return p.buffer == b; });
  }
  bool reads_local(const ir::block_node& b) const {
    return std::any_of(b.reads.begin(), b.reads.end(),
                       [&](const ir::buffer_region& r) { return local(r.buffer); });
  }
  bool writes_local(const ir::block_node& b) const {
    return !b.writes.empty() && local(b.writes[0].buffer);
  }
  /// Whether some block that fits touches the buffer that `side` lists.
  template <class Fits>
  bool any_with(const ir::buffer& x, std::vector<ir::buffer_region> ir::block_node::*side,
                const Fits& fits) const {
    return std::any_of(all.begin(), all.end(), [&](const ir::block_realize_node* r) {
      const auto& list = (*r->block).*side;
      return std::any_of(list.begin(), list.end(), [&](const ir::buffer_region& region) {
        return region.buffer == x && fits(*r->block, region);
      });
    });
  }
};

bool gives_local(const surroundings& s, const ir::block_node& b) { return s.writes_local(b); }
bool takes_local(const surroundings& s, const ir::block_node& b) { return s.reads_local(b); }
bool maps(const surroundings&, const ir::block_node& b) { return !b.init; }
bool maps_to_local(const surroundings& s, const ir::block_node& b) {
  return !b.init && s.writes_local(b);
}
bool maps_a_map(const surroundings& s, const ir::block_node& b) {
  return !b.init && b.reads.size() == 1 && s.local(b.reads[0].buffer) &&
         s.any_with(b.reads[0].buffer, &ir::block_node::writes,
                    [&](const ir::block_node& w, const ir::buffer_region&) {
                      return &w != &b && !w.init;
                    });
}
bool reduces(const surroundings&, const ir::block_node& b) { return !!b.init; }
bool has_epilogue(const surroundings& s, const ir::block_node& b) {
  return b.init && s.writes_local(b) &&
         s.any_with(b.writes[0].buffer, &ir::block_node::reads,
                    [](const ir::block_node& r, const ir::buffer_region&) { return !r.init; });
}
bool has_windows(const surroundings& s, const ir::block_node& b) {
  return s.writes_local(b) &&
         s.any_with(b.writes[0].buffer, &ir::block_node::reads,
                    [](const ir::block_node&, const ir::buffer_region& r) {
                      return std::any_of(r.box.begin(), r.box.end(), [](const ir::range& d) {
                        return !ir::is_int(d.extent, 1);
                      });
                    });
}
bool reduces_products(const surroundings&, const ir::block_node& b) {
  return b.init && b.reads.size() > 1;
}
bool updates(const surroundings&, const ir::block_node& b) {
  return std::any_of(b.reads.begin(), b.reads.end(), [&](const ir::buffer_region& r) {
    return std::any_of(b.writes.begin(), b.writes.end(),
                       [&](const ir::buffer_region& w) { return w.buffer == r.buffer; });
  });
}
bool sums_in_fours(const surroundings&, const ir::block_node& b) {
  return ir::as_store(b.body) && !b.iters.empty() && b.iters.back().kind == ir::iter_kind::reduce &&
         ir::is_int(b.iters.back().dom.extent) && ir::as_int(b.iters.back().dom.extent) % 4 == 0;
}
bool pads(const surroundings&, const ir::block_node& b) {
  const ir::store_node* store = ir::as_store(b.body);
  return store && store->value->op == ir::op::if_then_else;
}
/// @}

struct suit {
  std::string_view kind;
  bool (*fits)(const surroundings&, const ir::block_node&);
};

const suit* find_suit(std::string_view kind) {
  static const suit all[] = {{"add_atomically", reduces},
                             {"rfactor", reduces},
                             {"decompose_reduction", reduces},
                             {"pad_einsum", reduces_products},
                             {"fuse_reduction_epilogue", has_epilogue},
                             {"tensorize", sums_in_fours},
                             {"compute_at", gives_local},
                             {"reverse_compute_at", takes_local},
                             {"compute_inline", maps_to_local},
                             {"reverse_compute_inline", maps_a_map},
                             {"cache_index", maps},
                             {"cache_inplace", updates},
                             {"decompose_padding", pads},
                             {"rolling_buffer", has_windows},
                             {"set_scope", gives_local},
                             {"storage_align", gives_local},
                             {"unsafe_set_dtype", gives_local}};
  const auto* found =
      std::find_if(std::begin(all), std::end(all), [&](const suit& s) { return s.kind == kind; });
  return found == std::end(all) ? nullptr : found;
}

/// Kinds that ask for little are refused for wrong variables if at all.
std::int64_t wrong_percent(const instruction_kind& kind) {
  return kind.parameters.size() == 1 ? 9 : 2;
}

}  // namespace

focus::focus(schedule& s, const instruction_kind& kind, support::random& draw)
    : s_(s), kind_(kind), draw_(draw) {
  for (const ir::block_realize_node* b : primitive::all_blocks(s.function().body))
    if (b->block->name != "root") names_.push_back(b->block->name);
  if (names_.empty()) names_.push_back("root");
  focus_ = pick_block();
  if (chance(draw, 85)) focus_ = suitable_block().value_or(focus_);
}

std::optional<rv> focus::find(const std::string& name) {
  try {
    return s_.get_block(name);
  } catch (const schedule_error&) {  // two blocks of that name
    return {};
  }
}

rv focus::pick_block() {
  if (const auto found = find(any(draw_, names_))) return *found;
  return s_.get_block(names_.front() == "root" ? "root" : names_.back());
}

std::optional<rv> focus::suitable_block() {
  const suit* wanted = find_suit(kind_.name);
  if (!wanted) return {};
  const surroundings around{s_.function(), primitive::all_blocks(s_.function().body)};
  std::vector<std::string> fit;
  for (const ir::block_realize_node* b : around.all)
    if (b->block->name != "root" && wanted->fits(around, *b->block)) fit.push_back(b->block->name);
  if (fit.empty()) return {};
  return find(any(draw_, fit));
}

std::optional<rv> focus::stale(rv_class type) {
  std::vector<rv> all;
  for (std::uint32_t i = 0; i < s_.state().symbols.size(); ++i)
    if (s_.state().symbols[i].kind == type) all.push_back({type, i});
  if (all.empty()) return {};
  return any(draw_, all);
}

rv focus::block() {
  if (chance(draw_, wrong_percent(kind_)))
    return {rv_class::block, focus_.number + 1};  // a loop's number, or none
  if (chance(draw_, 5))
    if (const auto old = stale(rv_class::block)) return *old;
  return focus_;
}

argument focus::consumer_block() {
  const std::vector<block_rv> all = consumers_of_focus();
  if (!all.empty() && chance(draw_, 90)) return rv(any(draw_, all));
  return other_block();
}

std::vector<block_rv> focus::consumers_of_focus() {
  try {
    return s_.get_consumers(block_rv{focus_.number});
  } catch (const schedule_error&) {
    return {};
  }
}

const ir::block_node* focus::focus_block() {
  try {
    return s_.get(block_rv{focus_.number}).block.get();
  } catch (const error&) {
    return nullptr;
  }
}

std::string focus::name_of(rv block) {
  try {
    return s_.get(block_rv{block.number}).block->name;
  } catch (const error&) {
    return "";
  }
}

std::vector<loop_rv> focus::loops_of(rv b) {
  try {
    return s_.get_loops(block_rv{b.number});
  } catch (const schedule_error&) {
    return {};
  }
}

rv focus::loop() {
  if (chance(draw_, wrong_percent(kind_))) return {rv_class::loop, focus_.number};  // a block's
  if (chance(draw_, 6))
    if (const auto old = stale(rv_class::loop)) return *old;
  std::vector<loop_rv> list = loops_of(focus_);
  for (int i = 0; list.empty() && i < 5; ++i) list = loops_of(focus_ = pick_block());
  if (list.empty()) return stale(rv_class::loop).value_or(rv{rv_class::loop, 0});
  return any(draw_, list);
}

argument focus::any_loop() {
  focus_ = pick_block();
  return loop();
}

/// A loop around one of the blocks, mostly.
argument focus::loop_near(const std::vector<block_rv>& near) {
  if (near.empty() || chance(draw_, 10)) return any_loop();
  const std::vector<loop_rv> list = loops_of(any(draw_, near));
  return list.empty() ? any_loop() : argument(rv(any(draw_, list)));
}

argument focus::loop_near_consumer() { return loop_near(consumers_of_focus()); }

argument focus::loop_near_producer() {
  try {
    return loop_near(s_.get_producers(block_rv{focus_.number}));
  } catch (const schedule_error&) {
    return any_loop();
  }
}

argument focus::reduction_loop() {
  const std::vector<loop_rv> all = loops_of(focus_);
  return all.empty() || chance(draw_, 30) ? argument(loop()) : argument(rv(all.back()));
}

argument focus::loops_in_order() {
  const std::vector<loop_rv> all = loops_of(focus_);
  if (all.size() < 2 || chance(draw_, 5)) return std::vector<rv>{loop(), loop()};
  const auto first = static_cast<std::size_t>(pick(draw_, std::ssize(all) - 1));
  const std::size_t last =
      std::min(all.size(), first + 2 + static_cast<std::size_t>(pick(draw_, 2)));
  return std::vector<rv>(all.begin() + static_cast<std::ptrdiff_t>(first),
                         all.begin() + static_cast<std::ptrdiff_t>(last));
}

argument focus::loops_in_disorder() {
  const std::vector<loop_rv> all = loops_of(focus_);
  std::vector<rv> out(all.begin(), all.end());
  shuffle(out, draw_);
  if (out.size() > 2 && chance(draw_, 50)) out.pop_back();
  if (chance(draw_, 8)) out.push_back(loop());
  return out;
}

std::vector<const ir::loop_node*> focus::nodes(const std::vector<loop_rv>& loops) {
  std::vector<const ir::loop_node*> out;
  for (const loop_rv& l : loops) out.push_back(&s_.get(l));
  return out;
}

argument focus::loops_of_two_nests() {
  const std::vector<loop_rv> first = loops_of(focus_);
  const std::vector<const ir::loop_node*> mine = nodes(first);
  struct twin {
    std::vector<loop_rv> loops;
    std::size_t depth;  // levels that are equal
  };
  std::vector<twin> twins;
  for (const std::string& name : names_) {
    const auto b = find(name);
    if (!b) continue;
    const std::vector<loop_rv> loops = loops_of(*b);
    const std::vector<const ir::loop_node*> theirs = nodes(loops);
    std::size_t depth = 0;
    while (depth < std::min(mine.size(), theirs.size()) && mine[depth] != theirs[depth] &&
           ir::equal(mine[depth]->extent, theirs[depth]->extent))
      ++depth;
    if (depth > 0) twins.push_back({loops, depth});
  }
  if (twins.empty() || chance(draw_, 20)) {
    const std::vector<loop_rv> second = loops_of(pick_block());
    const std::size_t depth = std::min(first.size(), second.size());
    if (depth == 0) return std::vector<rv>{loop(), loop()};
    const auto at = static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(depth)));
    return std::vector<rv>{first[at], second[at]};
  }
  const twin& other = any(draw_, twins);
  const auto at = static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(other.depth)));
  return std::vector<rv>{first[at], other.loops[at]};
}

}  // namespace laws
