#pragma once

#include <algorithm>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/block_buffers.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/schedule/primitive/buffers/storage.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive {
namespace detail::storing {

using block_buffers::need_allocation, block_buffers::region_of;

inline const ir::block_node& block_at(const path& at) {
  return *ir::as_realize(at.target())->block;
}

/// Whether every reader of the buffer finds what it reads in its own memory, in each scope below
/// the block that allocates the buffer.
inline bool readers_covered(const ir::stmt& site, const ir::buffer& x) {
  bool covered = true;
  const auto check = [&](const ir::block_node& b) {
    const block_scope scope(b);
    for (std::size_t i = 0; i < scope.size() && covered; ++i)
      for (const ir::buffer_region& r : scope[i].block().reads)
        if (r.buffer == x && covered) covered = region_covered(scope, i, sums::partial);
  };
  ir::for_each_stmt(site, [&](const ir::stmt& s) {
    if (const ir::block_realize_node* r = ir::as_realize(s); r && covered) check(*r->block);
  });
  return covered;
}

inline bool has_threads(const ir::stmt& s) {
  return ir::any_stmt(s, [](const ir::stmt& x) {
    const ir::loop_node* loop = ir::as_loop(x);
    return loop && loop->loop == ir::loop_kind::thread_binding;
  });
}

/// Whether an instance of the block writes other elements in each iteration of the loop: its region
/// says the value of every variable that the loop drives.
inline bool writes_own_elements(const child_block& c, const ir::buffer_region& w,
                                std::size_t loop) {
  for (std::size_t i = 0; i < c.realize->values.size(); ++i) {
    const ir::iter_var& v = c.block().iters[i];
    if (!ir::is_int(v.dom.extent, 1) && ir::uses_var(c.realize->values[i], c.loops[loop]->var) &&
        support::none(w.box, [&](const ir::range& d) {
          return d.min.same(v.var) && ir::is_int(d.extent, 1);
        }))
      return false;
  }
  return iterations_apart(c, loop);
}

/// A loop whose threads have a buffer each in its old scope and share one in the new scope, where
/// they would overwrite each other's elements; null if there is none. `site` allocates the buffer.
inline const ir::loop_node* merged_threads(const path& site, const ir::buffer& x,
                                           const std::string& scope) {
  const auto merges = [&](const ir::loop_node& l) {
    return l.loop == ir::loop_kind::thread_binding && !ir::is_int(l.extent, 1) &&
           ir::shared_across(scope, l) && !ir::shared_across(x->scope, l);
  };
  for (const ir::loop_node* l : site.all_loops())
    if (merges(*l)) return l;
  const block_scope children(block_at(site));
  for (const child_block& c : children.children()) {
    if (!reads_buffer(c.block(), x) && !writes_buffer(c.block(), x)) continue;
    for (std::size_t l = 0; l < c.loops.size(); ++l)
      for (const ir::buffer_region& w : c.block().writes)
        if (w.buffer == x && merges(*c.loops[l]) && !writes_own_elements(c, w, l))
          return c.loops[l];
    const ir::loop_node* inside = nullptr;  // its own blocks are below threads
    ir::for_each_stmt(c.block().body, [&](const ir::stmt& s) {
      if (ir::as_loop(s) && merges(*ir::as_loop(s))) inside = ir::as_loop(s);
    });
    if (inside) return inside;
  }
  return nullptr;
}

/// Stores to the buffers convert to their new type, loads back to the old one.
class converter : public ir::mutator {
 public:
  converter(ir::buffer_map map, dtype old, dtype now)
      : map_(std::move(map)), old_(old), now_(now) {}
  using ir::mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    const ir::expr out = ir::mutator::mutate(e);
    const bool changes = e->op == ir::op::load && map_.count(e->buffer);
    return changes ? ir::cast(with_lanes(old_, out.type()), out) : out;
  }
  ir::stmt mutate(const ir::stmt& s) override {
    const ir::store_node* store = ir::as_store(s);
    if (!store || !map_.count(store->buffer)) return ir::mutator::mutate(s);
    std::vector<ir::expr> indices;
    for (const ir::expr& e : store->indices) indices.push_back(mutate(e));
    return ir::make_store(mutate(store->buffer), std::move(indices),
                          ir::cast(with_lanes(now_, store->value.type()), mutate(store->value)));
  }
  ir::buffer mutate(const ir::buffer& b) override {
    const auto found = map_.find(b);
    return found == map_.end() ? b : found->second;
  }

 private:
  ir::buffer_map map_;
  dtype old_, now_;
};

inline bool address_taken(const ir::stmt& s, const ir::buffer_map& map) {
  return ir::any_expr(
      s, [&](const ir::expr& e) { return e->op == ir::op::data && map.count(e->buffer) != 0; });
}

inline bool is_wish(const ir::attr& a) {
  const auto* four = std::get_if<ir::attr::list>(&a.value);
  return four && four->size() == 4 && support::all(*four, [](const ir::attr& x) {
           return std::holds_alternative<std::int64_t>(x.value);
         });
}

/// The list of wishes with the one for buffer and axis replaced or added.
inline ir::attr::list with_wish(const ir::block_node& b, std::int64_t buffer, std::int64_t axis,
                                int factor, int offset) {
  ir::attr::list wishes;
  if (const auto found = b.annotations.find("buffer_dim_align"); found != b.annotations.end()) {
    const auto* list = std::get_if<ir::attr::list>(&found->second.value);
    if (!list || !support::all(*list, is_wish))
      refusal{"storage_align"}(5, {"the annotation \"buffer_dim_align\" of ", quoted(b),
                                   " is not a list of four integers each"});
    wishes = *list;
  }
  const ir::attr::list mine{buffer, axis, factor, offset};
  const auto same = support::find(wishes, [&](const ir::attr& wish) {
    const auto& four = std::get<ir::attr::list>(wish.value);
    return four[0] == mine[0] && four[1] == mine[1];
  });
  if (same == wishes.end())
    wishes.emplace_back(mine);
  else
    same->value = mine;
  return wishes;
}

/// A block below that adds to the buffer atomically; null: there is none.
inline const ir::block_node* atomic_adder(const ir::stmt& below, const ir::buffer& x) {
  const ir::block_node* out = nullptr;
  ir::for_each_stmt(below, [&](const ir::stmt& s) {
    const ir::block_realize_node* r = ir::as_realize(s);
    if (r && ir::adds_atomically(*r->block) &&
        support::any(r->block->writes, [&](const ir::buffer_region& w) { return w.buffer == x; }))
      out = r->block.get();
  });
  return out;
}

}  // namespace detail::storing

TILEWRIGHT_INLINE ir::function set_scope(const ir::function& f, std::uint64_t block,
                                         int buffer_index, const std::string& storage_scope) {
  using namespace detail::storing;
  constexpr const char* name = "set_scope";
  const path at = need_block(f, block, name);
  if (const std::string why = ir::no_scope(storage_scope); !why.empty()) refusal{name}(1, why);
  const ir::buffer x = region_of(name, 2, block_at(at), buffer_index, false).buffer;
  if (x->scope == storage_scope) return f;
  const path site = need_allocation(name, 3, at, x);
  if (const ir::block_node* adds = atomic_adder(site.target(), x);
      adds && storage_scope != "global")
    refusal{name}(6, {"block \"", adds->name, "\" adds to \"", x->name,
                      "\" atomically, which memory does in scope \"global\" alone"});
  if (const ir::loop_node* l = merged_threads(site, x, storage_scope))
    refusal{name}(
        5, {"the threads of ", quoted(*l), " have \"", x->name, "\" each for itself; in scope \"",
            storage_scope, "\" they would overwrite each other's elements"});
  const std::string renamed =
      detail::block_buffers::fresh_buffer_name(f, x->name + "_" + storage_scope);
  const ir::buffer_map map = detail::block_buffers::changed_buffers(
      site.target(), x, [&](ir::buffer_node& b) { b.scope = storage_scope; });
  auto* kept = new ir::buffer_node(*map.at(x));
  ir::buffer_map named = map;
  named[x] = ir::buffer(kept);
  kept->name = renamed;
  const ir::stmt with = ir::replace_buffers(site.target(), named);
  if (has_threads(f.body) && readers_covered(site.target(), x) &&
      !readers_covered(with, named.at(x)))
    refusal{name}(4, {"threads hand \"", x->name, "\" to each other; in scope \"", storage_scope,
                      "\" each would have its own"});
  return replace(f, site, with);
}

TILEWRIGHT_INLINE ir::function unsafe_set_dtype(const ir::function& f, std::uint64_t block,
                                                int buffer_index, const std::string& type) {
  using namespace detail::storing;
  constexpr const char* name = "unsafe_set_dtype";
  const path at = need_block(f, block, name);
  const ir::buffer x = region_of(name, 1, block_at(at), buffer_index, false).buffer;
  const std::optional<dtype> now = dtype_from_name(type);
  if (!now || *now == dtype::handle) refusal{name}(2, {"there is no element type \"", type, "\""});
  if (x->type == *now) return f;
  if (with_lanes(*now, x->type) != *now)
    refusal{name}(2, {"\"", type, "\" has not as many lanes as the elements of \"", x->name, "\", ",
                      std::string(tilewright::name(x->type))});
  const path site = need_allocation(name, 3, at, x);
  const ir::buffer_map map = detail::block_buffers::changed_buffers(
      site.target(), x, [&](ir::buffer_node& b) { b.type = *now; });
  if (address_taken(site.target(), map))
    refusal{name}(4, {"the address of \"", x->name,
                      "\" is taken, and its elements would be read with the old type"});
  return replace(f, site, converter(map, x->type, *now).mutate(site.target()));
}

TILEWRIGHT_INLINE ir::function storage_align(const ir::function& f, std::uint64_t block,
                                             int buffer_index, int axis, int factor, int offset) {
  using namespace detail::storing;
  constexpr const char* name = "storage_align";
  const path at = need_block(f, block, name);
  const ir::buffer x = region_of(name, 1, block_at(at), buffer_index, false).buffer;
  if (factor <= 0) refusal{name}(2, {"factor ", factor, " is not positive"});
  const int rank = static_cast<int>(x->shape.size());
  if (axis < -rank || axis >= rank)
    refusal{name}(3, {"\"", x->name, "\" has ", rank, " dimensions; there is no axis ", axis});
  need_allocation(name, 4, at, x);
  ir::block_node changed = block_at(at);
  changed.annotations["buffer_dim_align"] =
      with_wish(changed, buffer_index, axis < 0 ? axis + rank : axis, factor, offset);
  return replace_block(f, at, ir::make_block(std::move(changed)));
}

}  // namespace tilewright::primitive
