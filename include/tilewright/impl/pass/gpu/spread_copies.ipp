#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/impl/pass/gpu/tensor/memory_order.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/spread_copies.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::pass::detail::copies {

using namespace tilewright::ir;

inline constexpr std::int64_t warp_lanes = 32;

/// Threads along an axis that make a copy together.
struct thread_loop {
  std::string tag;
  std::int64_t extent;
};

/// The loops of a copy, outermost first, and what is done for each element.
struct copy_nest {
  std::vector<const loop_node*> loops;
  stmt element;
  std::int64_t bytes = 1;  // of the widest element
};

inline std::int64_t number_in(const block_node& b, const char* key) {
  const auto found = b.annotations.find(key);
  if (found == b.annotations.end()) return 0;
  const auto* n = std::get_if<std::int64_t>(&found->second.value);
  return n ? *n : 0;
}

class copy_spreader : public mutator {
 public:
  /// @param warps  that a thread of the schedule stands for; 0: it is one of the device's
  copy_spreader(std::int64_t warps, bool tensor_copies)
      : warps_(warps), tensor_copies_(tensor_copies) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (!loop || loop->loop != loop_kind::thread_binding) return mutator::mutate(s);
    around_.push_back(loop);
    stmt out = mutator::mutate(s);
    around_.pop_back();
    return out;
  }

  block mutate(const block& b) override {
    const block inside = mutator::mutate(b);
    const bool tensors = tensor_copies_ && number_in(*b, ir::tensor_copy_note) > 0;
    if (!is_auto_copy(*b) || !touches_shared_alone(*b)) {
      if (tensors) refuse_engine(*b);
      return inside;
    }
    const std::vector<thread_loop> threads = threads_around(*b);
    const copy_nest nest = nest_of_copy(*b);
    if (tensors && nest.loops.empty()) refuse_engine(*b);
    if ((threads.empty() && !tensors) || nest.loops.empty()) return inside;
    block_node out = *inside;
    if (tensors) {
      out.body = by_threads(threads, make_attribute(text("box"), tensor_copies::asked_key,
                                                    integer(dtype::i32, 0), std::move(out.body)));
      return make_block(std::move(out));
    }
    out.body =
        spread(nest, threads, number_in(*b, "vector_bytes"), number_in(*b, "local_stage") > 0);
    return make_block(std::move(out));
  }

 private:
  [[noreturn]] static void refuse_engine(const block_node& b) {
    throw build_error(
        "block " + b.name +
        " is left to the device's copy engine (tilewright.tensor_copy) and is no copy of a "
        "tile to shared memory with its loops inside, as read_at makes one; make it by "
        "read_at, or leave the annotation out");
  }

  static bool touches_shared_alone(const block_node& b) {
    bool shared = false, own = false;
    for (const auto* list : {&b.reads, &b.writes})
      for (const buffer_region& r : *list) {
        shared = shared || storage_rank(r.buffer->scope) == 1;
        own = own || storage_rank(r.buffer->scope) > 1;
      }
    return shared && !own;
  }

  /// All threads come by, and wait for what one of them has asked for.
  static stmt by_threads(const std::vector<thread_loop>& threads, stmt s) {
    for (std::size_t d = threads.size(); d-- > 0;)
      s = make_loop(make_var(std::string("copy_") + threads[d].tag.back()), integer(dtype::i32, 0),
                    integer(dtype::i32, threads[d].extent), std::move(s), loop_kind::thread_binding,
                    {}, threads[d].tag);
    return s;
  }

  /// Outermost first, threadIdx.x last.
  std::vector<thread_loop> threads_around(const block_node& b) const {
    std::vector<thread_loop> out;
    for (const char* tag : {"threadIdx.z", "threadIdx.y", "threadIdx.x"}) {
      const auto has_tag = [&](const loop_node* l) { return l->thread_tag == tag; };
      const auto at = support::find(around_, has_tag);
      const bool lanes = warps_ > 0 && std::string_view(tag) == "threadIdx.x";
      if (at == around_.end()) {
        if (lanes) out.push_back({tag, warps_ * warp_lanes});
      } else if (copies_jointly(b, **at) && is_int((*at)->extent)) {
        out.push_back({tag, as_int((*at)->extent)});
      }
    }
    return out;
  }

  static copy_nest nest_of_copy(const block_node& b) {
    copy_nest out;
    out.element = b.body;
    while (const loop_node* l = as_loop(out.element)) {
      if (constant_extent(*l) < 1 || !is_int(l->min, 0) || l->loop == loop_kind::thread_binding)
        return {};
      out.loops.push_back(l);
      out.element = l->body;
    }
    if (any_stmt(out.element, [](const stmt& s) { return as_loop(s) || as_realize(s); })) return {};
    for (const auto* list : {&b.reads, &b.writes})
      for (const buffer_region& r : *list)
        out.bytes = std::max<std::int64_t>(out.bytes, bytes(r.buffer->type));
    return out;
  }

  static stmt spread(copy_nest nest, const std::vector<thread_loop>& threads,
                     std::int64_t vector_bytes, bool staged) {
    const dtype t = nest.loops.back()->var.type();
    const auto number = [&](std::int64_t n) { return integer(t, n); };
    const memory_order order(nest.element);
    order.sort(nest.loops);
    std::int64_t width = std::max<std::int64_t>(vector_bytes / nest.bytes, 1);
    while (constant_extent(*nest.loops.back()) % width != 0) width /= 2;
    width = order.narrowed(width, nest.bytes, nest.loops.back()->var);
    std::int64_t pieces = 1, team = 1;
    for (const loop_node* l : nest.loops) pieces *= constant_extent(*l);
    pieces /= width;
    for (const thread_loop& l : threads) team *= l.extent;
    // the number of a piece, of those that all threads copy in order
    const var round = make_var("round", t), lane = make_var("lane", t);
    std::vector<var> places;
    expr piece = round;
    for (const thread_loop& l : threads) {
      places.push_back(make_var(std::string("copy_") + l.tag.back(), t));
      piece = piece * number(l.extent) + places.back();
    }
    var_map at;
    expr rest = piece;
    for (std::size_t d = nest.loops.size(); d-- > 0;) {
      const loop_node& l = *nest.loops[d];
      const std::int64_t extent = constant_extent(l) / (d + 1 == nest.loops.size() ? width : 1);
      expr mine = d == 0 ? rest : floormod(rest, number(extent));
      rest = floordiv(rest, number(extent));
      if (d + 1 == nest.loops.size() && width > 1) mine = mine * number(width) + lane;
      at[l.var] = mine.type() == l.var.type() ? mine : cast(l.var.type(), mine);
    }
    const std::int64_t rounds = (pieces + team - 1) / team;
    const auto around = [&](stmt out) {
      if (width > 1)
        out = make_loop(lane, number(0), number(width), std::move(out), loop_kind::vectorized);
      if (pieces % team != 0) out = make_if(lt(piece, number(pieces)), std::move(out));
      for (std::size_t d = threads.size(); d-- > 0;)
        out = make_loop(places[d], number(0), number(threads[d].extent), std::move(out),
                        loop_kind::thread_binding, {}, threads[d].tag);
      return make_loop(round, number(0), number(rounds), std::move(out));
    };
    const stmt element = substitute(nest.element, at);
    const store_node* to = only_store(element);
    if (!staged || !to || storage_rank(to->buffer->scope) != 1) return around(element);
    // what a thread loads waits in its registers, so that a pipeline may store it later
    const buffer waiting = make_buffer(to->buffer->name + "_stage", to->buffer->type,
                                       {number(rounds), number(width)}, "local");
    const std::vector<expr> place{round, width > 1 ? expr(lane) : number(0)};
    const stmt first = make_store(waiting, place, to->value),
               second = make_store(to->buffer, to->indices, load(waiting, place));
    return make_allocate(waiting, make_seq({around(with_store(element, first)),
                                            rename_loops(around(with_store(element, second)))}));
  }

  /// The store that a copy makes of each element, under conditions or none; null where there is more.
  static const store_node* only_store(const stmt& s) {
    const if_node* branch = as_if(s);
    return branch && !branch->else_body ? only_store(branch->then_body) : as_store(s);
  }
  static stmt with_store(const stmt& s, const stmt& store) {
    const if_node* branch = as_if(s);
    return branch ? make_if(branch->condition, with_store(branch->then_body, store)) : store;
  }

  std::int64_t warps_;
  bool tensor_copies_;
  std::vector<const loop_node*> around_;  // on threads
};

}  // namespace tilewright::pass::detail::copies

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function spread_copies(const ir::function& f, bool tensor_copies) {
  const ir::block_realize_node* root = ir::as_realize(f.body);
  const std::int64_t warps = root ? ir::warps_of_thread(*root->block) : 0;
  ir::function out = f;
  out.body = detail::copies::copy_spreader(warps, tensor_copies).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
