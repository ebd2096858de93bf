#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/gpu/async_copy.hpp>
#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/impl/pass/gpu/pieces.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
#include <tilewright/impl/pass/gpu/tensor/written_copy.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/tensor/copy_tensors.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/tensor_box.hpp>

namespace tilewright::pass::detail::tensor_copies {

/// Buffers that a kernel loads matrices from, or warp groups multiply.
inline buffer_set matrix_sources(const stmt& kernel) {
  buffer_set out;
  for_each_expr(kernel, [&](const expr& e) {
    if (is_matrix_load(e)) out.insert(e->args.back()->buffer);
    if (groups::is_product_call(e))
      for (std::size_t operand = e->args.size() - 2; operand < e->args.size(); ++operand)
        out.insert(e->args[operand]->buffer);
  });
  return out;
}

/// Rows of more than 128 bytes as panels of such rows.
class paneling : public rerouting {
 public:
  using mutator::mutate;
  paneling(const buffer_map& moved, bool allocations) : moved_(moved), allocations_(allocations) {}
  stmt mutate(const stmt& s) override {
    const allocate_node* n = allocations_ ? as_allocate(s) : nullptr;
    const auto found = n ? moved_.find(n->buffer) : moved_.end();
    return found == moved_.end() ? rerouting::mutate(s)
                                 : make_allocate(found->second, mutate(n->body));
  }

 private:
  bool reroutes(const buffer& b) const override { return moved_.count(b) != 0; }
  buffer_element rerouted(const buffer& b, std::vector<expr> at) override {
    const buffer& to = moved_.at(b);
    if (to->shape.size() == b->shape.size()) return {to, std::move(at)};
    const expr column = at.back(), width = cast(column.type(), to->shape.back());
    at.back() = arith::simplify(floormod(column, width));
    at.insert(at.end() - 2, arith::simplify(floordiv(column, width)));
    return {to, std::move(at)};
  }

  const buffer_map& moved_;
  bool allocations_;
};

inline bool is_dense(const buffer& b) {
  return b->strides.empty() && support::all(b->shape, [](const expr& e) { return is_int(e); });
}

/// The shared buffer of a copy, in a form that the engine can fill.
inline buffer boxed(const written_copy& c, bool swizzled) {
  const buffer& b = c.shared();
  if (!is_dense(b))
    refuse(c,
           "rows of " + b->name + " are padded or have no constant extents; it packs rows densely");
  buffer_node node = *b;
  const std::int64_t size = bytes(b->type),
                     row = b->shape.empty() ? size : as_int(b->shape.back()) * size;
  const bool in_rows =
      swizzled && b->shape.size() >= 2 && (row == 32 || row == 64 || row % swizzled_bytes == 0);
  if (in_rows) {
    node.scope = boxed_scope;
    node.alignment = static_cast<int>(8 * std::min(row, swizzled_bytes));
    if (row > swizzled_bytes) {
      const std::int64_t width = swizzled_bytes / size;
      node.shape.back() = integer(dtype::i32, width);
      node.shape.insert(node.shape.end() - 2, integer(dtype::i32, row / swizzled_bytes));
    }
  } else {
    node.alignment = std::max(node.alignment, 128);
  }
  return buffer(new buffer_node(std::move(node)));
}

inline std::int64_t largest_part(std::int64_t whole, std::int64_t most) {
  std::int64_t out = std::min(whole, most);
  while (whole % out != 0) --out;
  return out;
}

/// One kernel.
class copier {
 public:
  explicit copier(const stmt& kernel)
      : nest_(nest_of(kernel)),
        stored_(stored_buffers(kernel)),
        loaded_(loaded_buffers(kernel)),
        matrices_(matrix_sources(kernel)) {}

  stmt run() {
    for_each_stmt(nest_.body, [&](const stmt& s) {
      const attribute_node* n = as_note(s, asked_key);
      if (!n) return;
      const written_copy c = written_in(n->body);
      const buffer& inside = c.shared();
      if (c.leaves ? fillers_.count(inside) != 0 : moved_.count(inside) != 0)
        refuse(c, inside->name + " is filled by the copy engine elsewhere");
      if (!c.leaves) fillers_[inside] = 1;
      // whoever stores single elements to rows of it meets fewer others in a bank where they are swizzled
      moved_[inside] = boxed(c, c.leaves || matrices_.count(inside) != 0);
    });
    if (moved_.empty()) return {};
    for (const auto& [from, count] : fillers_)
      if (stores_to(from) > count)
        throw build_error(
            "buffer " + from->name +
            " is filled by the device's copy engine (tilewright.tensor_copy) and stored to "
            "elsewhere; leave the annotation out, then all threads copy");
    const stmt body = replacer(*this).mutate(nest_.body);
    std::vector<buffer> shared;
    for (const buffer& b : nest_.shared) {
      const auto found = moved_.find(b);
      shared.push_back(found == moved_.end() ? b : found->second);
    }
    return with_kernel_body(nest_, std::move(shared), paneling(moved_, true).mutate(body));
  }

 private:
  class replacer : public mutator {
   public:
    explicit replacer(const copier& all) : all_(all) {}
    using mutator::mutate;
    stmt mutate(const stmt& s) override {
      const attribute_node* n = as_note(s, asked_key);
      return n ? all_.boxes(written_in(n->body)) : mutator::mutate(s);
    }

   private:
    const copier& all_;
  };

  std::int64_t stores_to(const buffer& b) const {
    std::int64_t out = 0;
    for_each_stmt(nest_.body, [&](const stmt& s) {
      if (const store_node* to = as_store(s); to && to->buffer == b) ++out;
    });
    return out;
  }

  /// All boxes of the copy, in the elements of the buffer as it was.
  stmt boxes(const written_copy& c) const {
    check_conditions(c);
    const copied_box whole = box_of(c, c.leaves ? loaded_ : stored_);
    const buffer& to = moved_.at(c.shared());
    const bool swizzled = to->scope == boxed_scope;
    const std::size_t rank = whole.along.size();
    target::tensor_box box = whole.tensor;
    box.swizzle = swizzled ? to->alignment / 8 : 0;
    std::vector<std::int64_t> parts(rank), sides(rank);  // outermost first
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t all = whole.along[d] ? constant_extent(*whole.along[d]) : 1;
      const std::int64_t most =
          swizzled && d + 1 == rank ? box.swizzle / bytes(to->type) : widest_side;
      sides[d] = largest_part(all, most);
      parts[d] = all / sides[d];
    }
    box.box.assign(sides.rbegin(), sides.rend());
    if (const std::string why = box.why_not(); !why.empty()) refuse(c, why);
    std::int64_t count = 1;
    for (const std::int64_t p : parts) count *= p;
    if (count > 1 && box.bytes_of_box() % box.alignment() != 0)
      refuse(c, "its boxes of " + std::to_string(box.bytes_of_box()) +
                    " bytes do not lie at multiples of " + std::to_string(box.alignment()));
    std::vector<stmt> out;
    std::vector<std::int64_t> part(rank);
    for (std::int64_t n = 0; n < count; ++n) {
      std::int64_t rest = n;
      for (std::size_t d = rank; d-- > 0; rest /= parts[d]) part[d] = rest % parts[d];
      out.push_back(one_box(c, whole, box, part));
    }
    if (c.leaves) return leaving(c, std::move(out));
    const std::int64_t size = count * box.bytes_of_box();
    return make_attribute(elected(c), copies_key, integer(dtype::i32, size),
                          make_seq(std::move(out)));
  }

  /// What holds for the thread that asks, one of those who make the copy together.
  expr elected(const written_copy& c) const {
    std::vector<expr> lead;
    for (const loop_node* l : nest_.threads) {
      const bool apart = c.leaves && support::any(c.in_tensor(), [&](const expr& e) {
                           return uses_var(e, l->var);
                         });
      if (!is_int(l->extent, 1) && !apart) lead.push_back(eq(l->var, integer(l->var.type(), 0)));
    }
    return lead.empty() ? integer(dtype::boolean, 1) : conjunction(lead);
  }

  /// The engine sees what all have stored, and has read it when the thread goes on.
  stmt leaving(const written_copy& c, std::vector<stmt> boxes) const {
    boxes.push_back(make_evaluate(call(dtype::i32, commit_name, {})));
    boxes.push_back(make_evaluate(call(dtype::i32, wait_stores_name, {integer(dtype::i32, 0)})));
    return make_seq({make_evaluate(call(dtype::i32, fence_name, {})), barrier(),
                     make_if(elected(c), make_seq(std::move(boxes)))});
  }

  stmt one_box(const written_copy& c, const copied_box& whole, const target::tensor_box& box,
               const std::vector<std::int64_t>& part) const {
    const std::size_t rank = whole.along.size();
    var_map first, inside;  // of the copy's loops: their first value in the box, and all of them
    std::vector<expr> begin;
    std::vector<std::pair<var, std::int64_t>> loops;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t side = box.box[rank - 1 - d];
      expr start = whole.begin[d];
      if (const loop_node* l = whole.along[d]) {
        const expr offset = integer(l->var.type(), part[d] * side);
        const var v = make_var(l->var->name, l->var.type());
        first[l->var] = offset;
        inside[l->var] = part[d] == 0 ? expr(v) : v + offset;
        loops.emplace_back(v, side);
        start = start + integer(start.type(), part[d] * side);
      }
      begin.push_back(arith::simplify(start));
    }
    for (const loop_node* l : c.loops)  // of one iteration, which moves nothing
      if (!first.count(l->var)) first[l->var] = inside[l->var] = integer(l->var.type(), 0);
    check_dense(c, whole, box, first, part);
    std::vector<expr> arguments{load(c.shared(), substituted(c.in_shared(), first)),
                                load(c.tensor(), begin)};
    for (std::size_t d = 0; d < rank; ++d)
      arguments.push_back(integer(dtype::i32, box.box[rank - 1 - d]));
    arguments.push_back(integer(dtype::i32, box.swizzle));
    stmt body = make_store(c.to->buffer, substituted(c.to->indices, inside),
                           load(c.from->buffer, substituted(c.from->args, inside)));
    for (std::size_t i = loops.size(); i-- > 0;)
      body = make_loop(loops[i].first, integer(loops[i].first.type(), 0),
                       integer(loops[i].first.type(), loops[i].second), std::move(body));
    return make_attribute(call(dtype::i32, c.leaves ? store_name : copy_name, std::move(arguments)),
                          box_key, integer(dtype::i32, 0), std::move(body));
  }

  static std::vector<expr> substituted(const std::vector<expr>& list, const var_map& values) {
    std::vector<expr> out;
    for (const expr& e : list) out.push_back(arith::simplify(substitute(e, values)));
    return out;
  }

  /// Elements of the box lie one after the other in shared memory, in the order of the tensor's.
  void check_dense(const written_copy& c, const copied_box& whole, const target::tensor_box& box,
                   const var_map& first, const std::vector<std::int64_t>& part) const {
    const std::size_t rank = whole.along.size();
    const buffer& to = moved_.at(c.shared());
    const auto place = [&](const var_map& at) {
      const stmt moved = paneling(moved_, false)
                             .mutate(make_store(c.shared(), substituted(c.in_shared(), at),
                                                load(c.shared(), substituted(c.in_shared(), at))));
      return async_copies::offset_of(to, as_store(moved)->indices);
    };
    const expr origin = place(first);
    std::int64_t step = 1;
    for (std::size_t d = rank; d-- > 0;) {
      const std::int64_t side = box.box[rank - 1 - d];
      const loop_node* l = whole.along[d];
      for (const std::int64_t i : {std::int64_t{1}, side - 1}) {
        if (!l || i < 1 || i >= side) continue;
        var_map next = first;
        next[l->var] = integer(l->var.type(), part[d] * side + i);
        if (!is_int(arith::simplify(place(next) - origin), i * step))
          refuse(c, "dimension " + std::to_string(d) + " of " + c.tensor()->name +
                        " does not lie in " + c.shared()->name + " as it does in the tensor");
      }
      step *= side;
    }
  }

  kernel_nest nest_;
  buffer_set stored_, loaded_, matrices_;
  buffer_map moved_;
  std::unordered_map<buffer, std::int64_t> fillers_;
};

}  // namespace tilewright::pass::detail::tensor_copies

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function copy_tensors(const ir::function& f) {
  ir::function out = f;
  out.body = rewrite_kernels(f.body, [](const ir::stmt& kernel) {
    ir::stmt copied = detail::tensor_copies::copier(kernel).run();
    return copied ? copied : kernel;
  });
  return out;
}

}  // namespace tilewright::pass
