#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/impl/pass/gpu/tensor/roles.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/tensor/specialize_warps.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::roles {

[[noreturn]] inline void refuse(const std::string& why) {
  throw build_error("a loop's copies are made by warps of their own (tilewright.producer), and " +
                    why + "; leave the annotation out, then all threads meet in each step");
}

inline stmt does(const char* function, std::vector<expr> arguments = {}) {
  return make_evaluate(call(dtype::i32, function, std::move(arguments)));
}
inline expr number(std::int64_t n) { return integer(dtype::i32, n); }

/// Registers of a thread of the producer and of the others, of which a multiprocessor has 512 for each thread of a group.
struct register_shares {
  std::int64_t fewer = 0, more = 0;  // 0: as they come

  static register_shares of(std::int64_t groups, std::int64_t resident) {
    if (resident > 1 || groups < 2 || groups > 3) return {};
    return groups == 2 ? register_shares{40, 232} : register_shares{32, 160};
  }
};

/// What is left of a kernel for the thread that asks for boxes.
class producer_part : public mutator {
 public:
  explicit producer_part(const std::vector<var>& places) : places_(places) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    switch (s->kind) {
      case stmt_kind::attribute:
        if (const attribute_node* two = as_roles(s))
          return tensors::as_note(part_of(*two, true), producer_key)->body;
        return mutate(as_attribute(s)->body);
      case stmt_kind::seq: return mutator::mutate(s);
      case stmt_kind::loop: {
        ++loops_;
        stmt body = mutate(as_loop(s)->body);
        --loops_;
        return is_nothing(body) ? body : with_body(*as_loop(s), std::move(body));
      }
      case stmt_kind::allocate: return mutate(as_allocate(s)->body);
      case stmt_kind::let: {
        stmt body = mutate(as_let(s)->body);
        if (is_nothing(body)) return body;
        check(as_let(s)->value);
        return make_let(as_let(s)->var, as_let(s)->value, std::move(body));
      }
      case stmt_kind::if_else: {
        const if_node& n = *as_if(s);
        stmt yes = mutate(n.then_body), no = n.else_body ? mutate(n.else_body) : make_seq({});
        if (is_nothing(yes) && is_nothing(no)) return yes;
        check(n.condition);
        if (loops_ > 0) refuse("stands under a condition in a loop, whose rounds are counted");
        return make_if(n.condition, std::move(yes), is_nothing(no) ? stmt{} : std::move(no));
      }
      default: return make_seq({});
    }
  }

 private:
  void check(const expr& e) const {
    bool differs = reads_memory(e);
    for (const var& v : places_) differs = differs || uses_var(e, v);
    if (differs) refuse("stands under a condition that is not the same for all threads of a block");
  }
  const std::vector<var>& places_;
  int loops_ = 0;  // around
};

class consumer_part : public mutator {
 public:
  consumer_part(var lane, std::int64_t threads) : lane_(std::move(lane)), threads_(threads) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const attribute_node* two = as_roles(s)) return mutate(part_of(*two, false));
    if (is_barrier(s)) return does(meet_name, {number(1), number(threads_)});
    if (!tensors::is_call(s, tensors::arrive_name)) return mutator::mutate(s);
    constexpr std::int64_t lanes = 32;
    return make_if(eq(floormod(lane_, number(lanes)), number(0)), s);
  }

 private:
  var lane_;
  std::int64_t threads_;
};

class specializer {
 public:
  explicit specializer(const stmt& kernel) : nest_(nest_of(kernel)) {
    for_each_stmt(nest_.body, [&](const stmt& s) {
      const attribute_node* n = as_roles(s);
      if (!n) return;
      if (two_) refuse("a kernel has two such loops");
      two_ = n;
    });
    if (two_) read_threads();
  }

  stmt run() const {
    if (!two_) return {};
    const expr asks = eq(group_, number(groups_)), first = eq(lane_, number(0));
    std::vector<stmt> fill, multiply;
    const register_shares shares = register_shares::of(groups_, resident());
    if (shares.more > 0) {
      fill.push_back(does(fewer_name, {number(shares.fewer)}));
      multiply.push_back(does(more_name, {number(shares.more)}));
    }
    fill.push_back(make_if(first, producer_part(places_).mutate(nest_.body)));
    multiply.push_back(consumer_part(lane_, groups_ * groups::lanes).mutate(nest_.body));
    stmt body = make_seq({begin(logical_and(eq(group_, number(0)), first)),
                          make_if(asks, make_seq(std::move(fill)), make_seq(std::move(multiply)))});
    return around(std::move(body));
  }

 private:
  void read_threads() {
    for (const loop_node* l : nest_.threads) {
      places_.push_back(l->var);
      if (l->thread_tag == "threadIdx.x") {
        lane_ = l->var;
        if (!is_int(l->extent, groups::lanes)) refuse("threads are no groups of warps");
      } else if (!group_ || is_int(along_->extent, 1)) {
        group_ = l->var;
        along_ = l;
        groups_ = as_int(l->extent);
      } else if (!is_int(l->extent, 1)) {
        refuse("groups of warps lie along two axes; fuse the loops that are bound to them");
      }
    }
    if (!lane_) refuse("threads are no groups of warps");
    if (!group_) group_ = make_var("ty", lane_.type());
  }

  /// Blocks of a multiprocessor that the schedule asks for, at least 1.
  std::int64_t resident() const {
    for (const auto* loops : {&nest_.blocks, &nest_.threads})
      for (const loop_node* l : *loops) {
        const auto found = l->annotations.find(resident_blocks_note);
        const auto* n = found == l->annotations.end()
                            ? nullptr
                            : std::get_if<std::int64_t>(&found->second.value);
        if (n && *n > 1) return *n;
      }
    return 1;
  }

  /// One thread makes what counts arrivals, before all of the block meet for the last time.
  stmt begin(const expr& elected) const {
    std::vector<stmt> out;
    const auto init = [&](const buffer& b, std::int64_t count) {
      for (std::int64_t i = 0; i < constant_size(b); ++i)
        out.push_back(does(tensors::init_name, {load(b, {number(i)}), number(count)}));
    };
    constexpr std::int64_t warps = 4;
    // pass/gpu/plan_shared_memory.hpp has given these buffers their places
    init(filled(*two_), as_int(two_->value));
    init(emptied(*two_), groups_ * warps);
    out.push_back(does(tensors::fence_init_name));
    return make_seq(
        {make_if(elected, make_seq(std::move(out))), does(tensors::fence_name), barrier()});
  }

  /// The nest, with one group more.
  stmt around(stmt body) const {
    const auto bound = [](const var& v, std::int64_t extent, const char* tag, annotations notes,
                          stmt inside) {
      return make_loop(v, integer(v.type(), 0), integer(v.type(), extent), std::move(inside),
                       loop_kind::thread_binding, std::move(notes), tag);
    };
    std::vector<const loop_node*> threads = nest_.threads;
    for (std::size_t i = threads.size(); i-- > 0;) {
      const loop_node& l = *threads[i];
      const bool more = &l == along_;
      body = bound(l.var, as_int(l.extent) + (more ? 1 : 0), l.thread_tag.c_str(), l.annotations,
                   std::move(body));
    }
    if (!along_) body = bound(group_, groups_ + 1, "threadIdx.y", {}, std::move(body));
    for (std::size_t i = nest_.shared.size(); i-- > 0;)
      body = make_allocate(nest_.shared[i], std::move(body));
    for (std::size_t i = nest_.blocks.size(); i-- > 0;) {
      const loop_node& l = *nest_.blocks[i];
      annotations notes = l.annotations;
      // registers change hands where their number at the beginning is known
      if (i == 0) notes[resident_blocks_note] = resident();
      body = make_loop(l.var, l.min, l.extent, std::move(body), l.loop, std::move(notes),
                       l.thread_tag);
    }
    return body;
  }

  kernel_nest nest_;
  const attribute_node* two_ = nullptr;
  std::vector<var> places_;
  var lane_, group_;
  const loop_node* along_ = nullptr;  // null: one group, along no axis
  std::int64_t groups_ = 1;
};

}  // namespace tilewright::pass::detail::roles

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function specialize_warps(const ir::function& f) {
  ir::function out = f;
  out.body = rewrite_kernels(f.body, [](const ir::stmt& kernel) {
    ir::stmt special = detail::roles::specializer(kernel).run();
    return special ? special : kernel;
  });
  return out;
}

}  // namespace tilewright::pass
