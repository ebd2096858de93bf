#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/gpu/async_copy.hpp>
#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/fuse_kernels.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::fusion {

using namespace tilewright::ir;

/// What a kernel does to memory that it shares with others.
struct accesses {
  buffer_set reads, writes, adds;

  explicit accesses(const stmt& kernel) { look(kernel); }

  bool touches(const buffer& b) const {
    return reads.count(b) != 0 || writes.count(b) != 0 || adds.count(b) != 0;
  }
  /// Whether this one stores to something that the other one touches.
  bool disturbs(const accesses& other) const {
    return support::any(writes, [&](const buffer& b) { return other.touches(b); }) ||
           support::any(adds, [&](const buffer& b) {
             return other.reads.count(b) != 0 || other.writes.count(b) != 0;
           });
  }

 private:
  void look(const stmt& s) {
    for_each_stmt(s, [&](const stmt& x) {
      const attribute_node* n = as_attribute(x);
      const store_node* adds_to = n && n->key == atomic_note ? only_addition(n->body) : nullptr;
      if (adds_to) additions_.push_back(adds_to);
    });
    std::vector<const expr_node*> old;  // elements that are added to
    for_each_stmt(s, [&](const stmt& x) {
      const store_node* to = as_store(x);
      if (!to || storage_rank(to->buffer->scope) != 0) return;
      const bool addition = support::contains(additions_, to);
      (addition ? adds : writes).insert(to->buffer);
      if (addition)
        for_each_expr(to->value, [&](const expr& e) {
          if (e->op == op::load && e->buffer == to->buffer) old.push_back(e.get());
        });
    });
    for_each_expr(s, [&](const expr& e) {
      if (e->op == op::load && storage_rank(e->buffer->scope) == 0 &&
          !support::contains(old, e.get()))
        reads.insert(e->buffer);
    });
  }

  std::vector<const store_node*> additions_;
};

/// Extents along x, y and z.
using extents = std::array<std::int64_t, 3>;

inline extents extents_of(const std::vector<const loop_node*>& loops) {
  extents out{1, 1, 1};
  for (const loop_node* l : loops)
    out[static_cast<std::size_t>(l->thread_tag.back() - 'x')] = as_int(l->extent);
  return out;
}
inline std::int64_t product(const extents& e) { return e[0] * e[1] * e[2]; }

struct kernel {
  stmt s;
  kernel_nest nest;
  accesses does;
  extents blocks, threads;
  bool waits;  // all of its threads have to come by somewhere

  explicit kernel(const stmt& of)
      : s(of),
        nest(nest_of(of)),
        does(of),
        blocks(extents_of(nest.blocks)),
        threads(extents_of(nest.threads)),
        waits(any_stmt(of, is_barrier)) {}
};

inline bool is_independent(const kernel& a, const kernel& b) {
  return !a.does.disturbs(b.does) && !b.does.disturbs(a.does);
}

/// Kernels that are one launch.
struct group {
  std::vector<kernel> parts;
  bool closed = false;  // something that is no kernel

  bool same_shape() const {
    return support::all(parts, [&](const kernel& k) { return k.threads == parts.front().threads; });
  }
  std::int64_t threads() const {
    std::int64_t out = 1;
    for (const kernel& k : parts) out = std::max(out, product(k.threads));
    return out;
  }

  /// Whether parts can have threads of one number: those that wait for each other have to be all of them, and
  /// exchanges need whole warps.
  bool fits(std::int64_t most_threads) const {
    constexpr std::int64_t warp = 32;
    const std::int64_t all = threads();
    std::int64_t blocks = 0;
    for (const kernel& k : parts) {
      const std::int64_t own = product(k.threads);
      if (own < all && (k.waits || (own % warp != 0 && calls_others(k.s)))) return false;
      blocks += product(k.blocks);
    }
    return all <= most_threads && blocks <= std::numeric_limits<std::int32_t>::max();
  }

 private:
  /// Functions of a warp, such as a product of matrices or an exchange.
  static bool calls_others(const stmt& s) {
    return any_expr(s, [](const expr& e) {
      return e->op == op::call && e->name.rfind("tw_", 0) == 0 && e->name != "tw_commit_copies";
    });
  }
};

/// Places of a kernel on its axes, of the number of its block or thread; the numbers stay what they were.
inline void add_places(const std::vector<const loop_node*>& loops, const extents& sizes,
                       const expr& number, var_map& out) {
  for (const loop_node* l : loops) {
    std::int64_t below = 1;
    const auto axis = static_cast<std::size_t>(l->thread_tag.back() - 'x');
    for (std::size_t a = 0; a < axis; ++a) below *= sizes[a];
    bool last = true;
    for (std::size_t a = axis + 1; a < sizes.size(); ++a) last = last && sizes[a] == 1;
    expr place = floordiv(number, integer(dtype::i32, below));
    if (!last) place = floormod(place, integer(dtype::i32, sizes[axis]));
    out[l->var] = place.type() == l->var.type() ? place : cast(l->var.type(), place);
  }
}

/// The part's body among `all` threads, in the block with that number among its own.
inline stmt body_of(const kernel& k, const expr& block, const expr& thread, std::int64_t all) {
  var_map places;
  add_places(k.nest.blocks, k.blocks, block, places);
  if (thread) add_places(k.nest.threads, k.threads, thread, places);
  stmt out = substitute(k.nest.body, places);
  const std::int64_t own = product(k.threads);
  return thread && own < all ? make_if(lt(thread, integer(dtype::i32, own)), std::move(out)) : out;
}

/// How many blocks shall be on a multiprocessor at once is kept where all parts say the same.
inline annotations notes_of(const group& g) {
  annotations out = as_loop(g.parts.front().s)->annotations;
  for (const kernel& k : g.parts)
    if (!(as_loop(k.s)->annotations == out) || k.threads != g.parts.front().threads)
      out.erase(resident_blocks_note);
  return out;
}

inline stmt fused(const group& g) {
  const std::int64_t all = g.threads();
  const var bx = make_var("bx");
  const bool same = g.same_shape();
  const std::vector<const loop_node*>& first = g.parts.front().nest.threads;
  const var tx = same ? var{} : make_var("tx");
  std::int64_t blocks = 0;
  std::vector<std::int64_t> begin;
  std::vector<buffer> shared;
  for (const kernel& k : g.parts) {
    begin.push_back(blocks);
    blocks += product(k.blocks);
    shared.insert(shared.end(), k.nest.shared.begin(), k.nest.shared.end());
  }
  stmt body;
  for (std::size_t p = g.parts.size(); p-- > 0;) {
    const kernel& k = g.parts[p];
    stmt part = body_of(k, bx - integer(dtype::i32, begin[p]), tx, all);
    if (same) {  // the axes of the first one are those of all
      var_map axes;
      for (const loop_node* l : k.nest.threads) {
        axes[l->var] = integer(l->var.type(), 0);  // of an axis of one thread
        for (const loop_node* other : first)
          if (other->thread_tag == l->thread_tag) axes[l->var] = other->var;
      }
      part = substitute(part, axes);
    }
    body =
        body ? make_if(lt(bx, integer(dtype::i32, begin[p + 1])), std::move(part), std::move(body))
             : std::move(part);
  }
  if (same)
    for (auto l = first.rbegin(); l != first.rend(); ++l) body = with_body(**l, std::move(body));
  else
    body = make_loop(tx, integer(dtype::i32, 0), integer(dtype::i32, all), std::move(body),
                     loop_kind::thread_binding, {}, "threadIdx.x");
  for (auto b = shared.rbegin(); b != shared.rend(); ++b) body = make_allocate(*b, std::move(body));
  return make_loop(bx, integer(dtype::i32, 0), integer(dtype::i32, blocks), std::move(body),
                   loop_kind::thread_binding, notes_of(g), "blockIdx.x");
}

class fuser {
 public:
  explicit fuser(std::int64_t most_threads) : most_threads_(most_threads) {}

  stmt run(const stmt& s) const {
    if (const allocate_node* n = as_allocate(s)) return make_allocate(n->buffer, run(n->body));
    const seq_node* seq = as_seq(s);
    if (!seq) return s;
    std::vector<group> groups;
    std::vector<stmt> others;  // what is no kernel, of closed groups in order
    for (const stmt& child : seq->stmts) {
      const loop_node* loop = as_loop(child);
      if (loop && loop->loop == loop_kind::thread_binding) {
        add(groups, kernel(child));
        continue;
      }
      groups.push_back({{}, true});
      others.push_back(run(child));
    }
    std::vector<stmt> out;
    std::size_t other = 0;
    for (const group& g : groups)
      out.push_back(g.closed              ? others[other++]
                    : g.parts.size() == 1 ? g.parts.front().s
                                          : fused(g));
    return make_seq(std::move(out));
  }

 private:
  /// To the earliest launch behind all that the kernel waits for.
  void add(std::vector<group>& groups, kernel k) const {
    group* found = nullptr;
    for (auto g = groups.rbegin(); g != groups.rend() && !g->closed; ++g) {
      if (!support::all(g->parts, [&](const kernel& other) { return is_independent(k, other); }))
        break;
      group with = *g;
      with.parts.push_back(k);
      if (with.fits(most_threads_)) found = &*g;
    }
    if (found)
      found->parts.push_back(std::move(k));
    else
      groups.push_back({{std::move(k)}, false});
  }

  std::int64_t most_threads_;
};

}  // namespace tilewright::pass::detail::fusion

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function note_fusion(const ir::function& f) {
  const ir::block_realize_node* root = ir::as_realize(f.body);
  if (!root) return f;
  const auto note = root->block->annotations.find(ir::horizontal_note);
  if (note == root->block->annotations.end()) return f;
  ir::function out = f;
  out.attrs[ir::horizontal_note] = note->second;
  return out;
}

TILEWRIGHT_INLINE ir::function fuse_kernels(const ir::function& f, std::int64_t most_threads) {
  const auto note = f.attrs.find(ir::horizontal_note);
  if (note == f.attrs.end() || note->second == ir::attr(0)) return f;
  ir::function out = f;
  out.body = detail::fusion::fuser(most_threads).run(f.body);
  return out;
}

}  // namespace tilewright::pass
