#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/gpu/pieces.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/name_pieces.hpp>

namespace tilewright::pass::detail::pieces {

using namespace tilewright::ir;

/// The call with the first element of each of its pieces.
inline expr shortened(const expr& e) {
  std::vector<expr> out;
  const std::vector<piece> all = pieces_of(e);
  for (const piece& p : all) out.push_back(p.first);
  if (has_condition(e)) out.push_back(e->args.back());
  if (is_piece_copy(e)) out.push_back(integer(dtype::i32, static_cast<std::int64_t>(all[0].count)));
  return call(e.type(), e->name, std::move(out));
}

class shortener : public mutator {
 public:
  using mutator::mutate;
  expr mutate(const expr& e) override { return e; }
  stmt mutate(const stmt& s) override {
    const evaluate_node* does = as_evaluate(s);
    if (!does) return s->kind == stmt_kind::store ? s : mutator::mutate(s);
    return is_call_on_pieces(does->value) ? make_evaluate(shortened(does->value)) : s;
  }
};

}  // namespace tilewright::pass::detail::pieces

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function name_pieces(const ir::function& f) {
  ir::function out = f;
  out.body = detail::pieces::shortener{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
