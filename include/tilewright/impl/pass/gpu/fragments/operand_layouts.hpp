// How fragments are laid out, as the statements of a function say that touch them.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/gpu/fragments/fragment_layout.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_product.hpp>
#include <tilewright/impl/pass/gpu/fragments/tile_places.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::pass::detail::fragments {

/// Operands may be used as they are or transposed, and bytes lie otherwise where memory has them transposed.
class operand_layouts : public tile_places {
 protected:
  /// Of all fragments that a statement touches.
  void find_layouts(const stmt& s) {
    look(s, [&](const store_node& x) { note(x); });
    look(s, [&](const store_node& x) { note_copy(x); });
    look(s, [&](const store_node& x) { note_sums(x); });
    if (mixed_) interleaved_.clear();
  }

  layout layout_of(const buffer& b) const {
    layout out;
    out.interleaved = interleaved_.count(b) != 0;
    out.of_group = is_group_sum(b);
    if (is_sum(b) && out.interleaved) out.part = 4;
    if (is_sum(b)) return out;
    out.part = 4 / bytes(b->type);
    out.halves_inside = b->scope == "wmma.matrix_a";
    const auto known = swapped_.find(b);
    out.swapped = known == swapped_.end() ? !out.halves_inside : known->second;
    return out;
  }

  /// Whether an operand is filled with elements of shared memory as they are there.
  static bool copies_shared(const store_node& s) {
    return is_fragment(s.buffer) && !is_sum(s.buffer) && s.value->op == op::load &&
           storage_rank(s.value->buffer->scope) == 1 && s.value->type == s.buffer->type &&
           bytes(s.buffer->type) <= 4;
  }

  /// Whether rows in shared memory are columns of the layout; nothing where they are neither.
  std::optional<bool> lies_transposed(const store_node& s, const layout& how, const loop_node& row,
                                      const loop_node& column) const {
    const std::vector<expr>& at = s.value->args;
    const auto last = loops_.index_of(at.back());
    if (!last || (last->loop != &row && last->loop != &column)) return std::nullopt;
    for (std::size_t d = 0; d + 1 < at.size(); ++d)
      if (uses_var(at[d], last->loop->var)) return std::nullopt;
    return (last->loop == &row) != how.swapped;
  }

 private:
  template <class See>
  void look(const stmt& s, const See& see) {
    if (const loop_node* loop = as_loop(s)) {
      loops_.enter(*loop);
      look(loop->body, see);
      loops_.leave();
      return;
    }
    if (const store_node* store = as_store(s)) return see(*store);
    if (const seq_node* seq = as_seq(s))
      for (const stmt& child : seq->stmts) look(child, see);
    if (const if_node* branch = as_if(s)) {
      look(branch->then_body, see);
      if (branch->else_body) look(branch->else_body, see);
    }
    if (const let_node* let = as_let(s)) look(let->body, see);
    if (const allocate_node* n = as_allocate(s)) look(n->body, see);
    if (const attribute_node* n = as_attribute(s)) look(n->body, see);
  }

  /// Second operands of bytes that lie transposed in shared memory.
  void note_copy(const store_node& s) {
    if (s.buffer->scope != "wmma.matrix_b" || bytes(s.buffer->type) != 1 || !copies_shared(s))
      return;
    const auto [row, column] = loops_.loops_of(s.buffer, s.indices);
    if (lies_transposed(s, layout_of(s.buffer), *row, *column).value_or(false))
      interleaved_.insert(s.buffer);
    else
      mixed_ = true;
  }
  void note_sums(const store_node& s) {
    const auto p = product_of(s);
    if (!p || bytes(p->b->buffer->type) != 1) return;
    if (interleaved_.count(p->b->buffer))
      interleaved_.insert(s.buffer);
    else
      mixed_ = true;
  }

  /// Which of the last two indices moves with the loop that both loads have in common.
  void note(const store_node& s) {
    const auto p = product_of(s);
    if (!p || is_group_sum(s.buffer)) return;
    const auto [a0, a1] = loops_.loops_of(p->a->buffer, p->a->args);
    const auto [b0, b1] = loops_.loops_of(p->b->buffer, p->b->args);
    const auto [c0, c1] = loops_.loops_of(s.buffer, s.indices);
    const bool a_swapped = a1 == c0, b_swapped = b1 == c1;
    const loop_node* const k = a_swapped ? a0 : a1;
    if ((a_swapped ? a1 : a0) != c0 || (b_swapped ? b1 : b0) != c1 || k != (b_swapped ? b0 : b1) ||
        c0 == c1 || k == c0 || k == c1)
      refuse(s.buffer, "is stored to by something that is no product of matrices");
    if (!has_product(p->a->buffer->type, s.buffer->type) ||
        p->a->buffer->type != p->b->buffer->type)
      refuse(s.buffer, "sums products of " + std::string(name(p->a->buffer->type)) + " and " +
                           std::string(name(p->b->buffer->type)) + " in " +
                           std::string(name(s.buffer->type)) + ", which tensor cores do not");
    for (const auto& [b, swapped] :
         {std::pair{p->a->buffer, a_swapped}, std::pair{p->b->buffer, b_swapped}}) {
      const auto [known, fresh] = swapped_.emplace(b, swapped);
      if (!fresh && known->second != swapped)
        refuse(b, "is an operand of one product as it is and of another one transposed");
    }
  }

  std::unordered_map<buffer, bool> swapped_;
  buffer_set interleaved_;
  bool mixed_ = false;  // some second operands of bytes lie one way and some the other
};

}  // namespace tilewright::pass::detail::fragments
