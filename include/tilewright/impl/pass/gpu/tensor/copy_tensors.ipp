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
#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/impl/pass/gpu/pieces.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
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

/// Elements of a dimension that one box takes at most, and bytes of a row that is swizzled.
inline constexpr std::int64_t widest_side = 256, swizzled_bytes = 128;

/// A copy as it is written.
struct written_copy {
  std::vector<const loop_node*> loops;  // outermost first
  const store_node* to = nullptr;
  expr from;  // the load
  std::vector<expr>
      holds;  // conditions under which it is made; zeros are stored elsewhere, or nothing
};

[[noreturn]] inline void refuse(const written_copy& c, const std::string& why) {
  throw build_error(
      "the copy of " + c.from->buffer->name + " to " + c.to->buffer->name +
      " is left to the device's copy engine (tilewright.tensor_copy), which cannot make "
      "it: " +
      why + "; leave the annotation out, then all threads copy");
}

inline written_copy written_in(const stmt& body) {
  written_copy out;
  stmt s = body;
  for (;;) {
    if (const loop_node* l = as_loop(s)) {
      out.loops.push_back(l);
      s = l->body;
    } else if (const if_node* branch = as_if(s); branch && !branch->else_body) {
      for (const expr& term : conjuncts(branch->condition)) out.holds.push_back(term);
      s = branch->then_body;
    } else {
      break;
    }
  }
  out.to = as_store(s);
  if (!out.to)
    throw build_error(
        "a copy that is left to the device's copy engine (tilewright.tensor_copy) holds more than "
        "one "
        "store; leave the annotation out, then all threads copy");
  const auto [value, condition] = async_copies::copied_by(*out.to);
  out.from = value;
  if (value->op != op::load)
    throw build_error(
        "what is copied to " + out.to->buffer->name +
        " is computed on the way, and the device's copy engine computes nothing; leave "
        "tilewright.tensor_copy out, then all threads copy");
  if (condition)
    for (const expr& term : conjuncts(condition)) out.holds.push_back(term);
  return out;
}

/// The box that a copy is: what of the tensor each loop walks along, and where it begins.
struct copied_box {
  target::tensor_box tensor;            // the box's own sides yet open
  std::vector<const loop_node*> along;  // [dimensions, outermost first] null: one element
  std::vector<expr> begin;              // [dimensions, outermost first]
};

inline copied_box box_of(const written_copy& c, const buffer_set& stored) {
  const buffer& b = c.from->buffer;
  if (storage_rank(b->scope) != 0 || storage_rank(c.to->buffer->scope) != 1)
    refuse(c, "it copies from global to shared memory alone");
  if (stored.count(b)) refuse(c, "the kernel stores to " + b->name);
  if (b->type != c.to->buffer->type) refuse(c, "the types of elements differ");
  if (b->elem_offset && !is_int(b->elem_offset, 0))
    refuse(c, b->name + " begins at an offset in its memory");
  for (const loop_node* l : c.loops)
    if (constant_extent(*l) < 1 || !is_int(l->min, 0))
      refuse(c, "the length of a loop is no constant");
  copied_box out;
  out.tensor.type = b->type;
  std::vector<std::int64_t> strides(b->shape.size(), bytes(b->type));
  for (std::size_t d = b->shape.size(); d-- > 0;) {
    const bool known = is_int(b->shape[d]) && (b->strides.empty() || is_int(b->strides[d]));
    if (!known)
      refuse(c, "extents and strides of " + b->name + " are no constants; bind all of them");
    if (!b->strides.empty())
      strides[d] = as_int(b->strides[d]) * bytes(b->type);
    else if (d + 1 < b->shape.size())
      strides[d] = strides[d + 1] * as_int(b->shape[d + 1]);
    out.tensor.extents.push_back(as_int(b->shape[d]));
    if (d + 1 < b->shape.size()) out.tensor.strides.push_back(strides[d]);
  }
  if (!b->strides.empty() && !b->shape.empty() && strides.back() != bytes(b->type))
    refuse(c, "rows of " + b->name + " are not dense");
  std::vector<const loop_node*> used;
  for (const expr& index : c.from->args) {
    arith::linear rest = arith::to_linear(arith::simplify(index));
    const loop_node* along = nullptr;
    for (const loop_node* l : c.loops) {
      if (!uses_var(index, l->var)) continue;
      if (rest.coefficient(l->var) != 1 || along || support::contains(used, l))
        refuse(c, "what is copied is no box of " + b->name);
      along = l;
      used.push_back(l);
    }
    if (along)
      erase_if(rest.terms, [&](const auto& t) { return arith::same_value(t.first, along->var); });
    out.begin.push_back(arith::from_linear(rest));
    out.along.push_back(along);
    for (const loop_node* l : c.loops)
      if (uses_var(out.begin.back(), l->var)) refuse(c, "what is copied is no box of " + b->name);
  }
  for (const loop_node* l : c.loops)
    if (constant_extent(*l) > 1 && !support::contains(used, l))
      refuse(c, "loop " + l->var->name + " copies the same elements again");
  return out;
}

/// Conditions that hold within the tensor alone are the engine's own: it writes zeros outside.
inline void check_conditions(const written_copy& c) {
  const buffer& b = c.from->buffer;
  for (const expr& term : c.holds) {
    const expr holds = term->op == op::call && term->name == "likely" ? term->args[0] : term;
    bool known = false;
    for (std::size_t d = 0; d < b->shape.size() && holds->args.size() == 2; ++d) {
      const expr wide = cast(dtype::i64, c.from->args[d]), end = cast(dtype::i64, b->shape[d]);
      const auto same = [&](const expr& below, const expr& above, std::int64_t more) {
        // below + more <= above, as index >= 0 or index + 1 <= extent
        const expr gap = arith::simplify(cast(dtype::i64, above) - cast(dtype::i64, below) -
                                         integer(dtype::i64, more));
        const auto is = [&](const expr& other) {
          const arith::linear x = arith::to_linear(arith::simplify(gap - other));
          return x.terms.empty() && x.constant == 0;
        };
        return is(end - wide - integer(dtype::i64, 1)) || is(wide);
      };
      const expr &x = holds->args[0], &y = holds->args[1];
      known = known || (holds->op == op::lt && same(x, y, 1)) ||
              (holds->op == op::le && same(x, y, 0)) || (holds->op == op::gt && same(y, x, 1)) ||
              (holds->op == op::ge && same(y, x, 0));
    }
    if (!known) refuse(c, "it is made under a condition that does not end with " + b->name);
  }
}

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
  const buffer& b = c.to->buffer;
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
      : nest_(nest_of(kernel)), stored_(stored_buffers(kernel)), matrices_(matrix_sources(kernel)) {
    for (const loop_node* l : nest_.threads)
      if (!is_int(l->extent, 1)) lead_.push_back(eq(l->var, integer(l->var.type(), 0)));
  }

  stmt run() {
    for_each_stmt(nest_.body, [&](const stmt& s) {
      const attribute_node* n = as_note(s, asked_key);
      if (!n) return;
      const written_copy c = written_in(n->body);
      const buffer& to = c.to->buffer;
      if (fillers_[to]++ > 0) refuse(c, to->name + " is filled by several copies");
      moved_[to] = boxed(c, matrices_.count(to) != 0);
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
    const copied_box whole = box_of(c, stored_);
    const buffer& to = moved_.at(c.to->buffer);
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
    const std::int64_t size = count * box.bytes_of_box();
    const expr elected = lead_.empty() ? integer(dtype::boolean, 1) : conjunction(lead_);
    return make_attribute(elected, copies_key, integer(dtype::i32, size), make_seq(std::move(out)));
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
    std::vector<expr> arguments{load(c.to->buffer, substituted(c.to->indices, first)),
                                load(c.from->buffer, begin)};
    for (std::size_t d = 0; d < rank; ++d)
      arguments.push_back(integer(dtype::i32, box.box[rank - 1 - d]));
    arguments.push_back(integer(dtype::i32, box.swizzle));
    stmt body = make_store(c.to->buffer, substituted(c.to->indices, inside),
                           load(c.from->buffer, substituted(c.from->args, inside)));
    for (std::size_t i = loops.size(); i-- > 0;)
      body = make_loop(loops[i].first, integer(loops[i].first.type(), 0),
                       integer(loops[i].first.type(), loops[i].second), std::move(body));
    return make_attribute(call(dtype::i32, copy_name, std::move(arguments)), box_key,
                          integer(dtype::i32, 0), std::move(body));
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
    const buffer& to = moved_.at(c.to->buffer);
    const auto place = [&](const var_map& at) {
      const stmt moved = paneling(moved_, false)
                             .mutate(make_store(c.to->buffer, substituted(c.to->indices, at),
                                                integer(c.to->buffer->type, 0)));
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
          refuse(c, "dimension " + std::to_string(d) + " of " + c.from->buffer->name +
                        " does not lie in " + c.to->buffer->name + " as it does in the tensor");
      }
      step *= side;
    }
  }

  kernel_nest nest_;
  buffer_set stored_, matrices_;
  std::vector<expr> lead_;  // what holds for the thread that asks
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
