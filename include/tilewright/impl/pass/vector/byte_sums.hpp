// Sums of bytes, and of differences between bytes, eight at a time.
//
//   for k in range(4096):                                     for v in range(16), l in vectorized(32):
//     S = S + max(A[k] - B[k], B[k] - A[k])         ->          part[l] = sad8(part[l], A[(v * 32 + l) * 8 + 0] .. 7, B[..])
//                                                             ... S = S + sum of part
//
// One instruction takes 64 bytes of both where others widen each byte to the type of the sum first. Bytes may be what an operation on
// bits makes of others, as popcount(A[k] ^ B[k]).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/impl/pass/vector/reduction_nest.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass::detail::reductions {

using namespace tilewright::ir;

inline constexpr std::int64_t bytes_at_once = 8;

/// |a - b|, of two bytes.
struct byte_difference {
  expr a, b;
};

/// Whether each of eight bytes in a row is one element of the same loads, or what one operation on bits makes of these.
inline bool is_packed_byte(const expr& byte, const var& k) {
  if (byte.type() != dtype::u8) return false;
  if (byte->op == op::load) return !uses_var(byte, k) || reads_next(byte, k);
  return byte->op == op::call && ir::detail::works_on_bits(byte->name) &&
         support::all(byte->args,
                      [&](const expr& part) { return is_int(part) || is_packed_byte(part, k); });
}

/// A byte as an operand, one that lies along the loop, or stays; null where it is none.
inline expr byte_operand(const expr& e, const var& k) {
  const expr& byte = e->op == op::cast ? e->args[0] : e;
  return is_packed_byte(byte, k) ? byte : expr{};
}

/// What is added and what is taken away in a difference between two bytes, one of which may be a number.
inline std::optional<byte_difference> match_sides(const arith::linear& d, const var& k) {
  byte_difference out;
  for (const auto& [term, factor] : d.terms) {
    expr& side = factor == 1 ? out.a : out.b;
    if ((factor != 1 && factor != -1) || side) return std::nullopt;
    side = byte_operand(term, k);
    if (!side) return std::nullopt;
  }
  expr& left = out.a ? out.b : out.a;  // what no byte stands for
  const std::int64_t number = out.a ? -d.constant : d.constant;
  if (left ? d.constant != 0 : d.terms.empty() || number < 0 || number > 255) return std::nullopt;
  if (!left) left = integer(dtype::u8, number);
  return out;
}

/// The larger one of a difference and the one turned round, or a byte, of which 0 is taken away.
inline std::optional<byte_difference> match_difference(const expr& value, const var& k) {
  expr e = value;
  while (e->op == op::cast && !is_float(e->args[0].type()) && bits(e->args[0].type()) > 8)
    e = e->args[0];
  if (const expr plain = byte_operand(e, k)) return byte_difference{plain, integer(dtype::u8, 0)};
  if (e->op != op::max || (e.type() != dtype::i32 && e.type() != dtype::i64)) return std::nullopt;
  const arith::linear first = arith::to_linear(e->args[0]), second = arith::to_linear(e->args[1]);
  const bool turned =
      first.constant == -second.constant && first.terms.size() == second.terms.size() &&
      support::all(first.terms,
                   [&](const auto& t) { return second.coefficient(t.first) == -t.second; });
  return turned ? match_sides(first, k) : std::nullopt;
}

/// A reduction whose terms are added up eight at a time.
class byte_sum {
 public:
  /// Nothing where there are other terms, few, or what groups of eight leave is not.
  static std::optional<byte_sum> of(const reduction& r, const target::cpu& target) {
    const loop_node& inner = *r.chain.back();
    const std::int64_t extent = constant_extent(inner);
    const dtype type = r.step.to.front()->type;
    if (!target.has("avx2") || r.step.combine != op::add || is_float(type) ||
        type == dtype::boolean || asks_for_order(inner.annotations) || extent < 2 * bytes_at_once ||
        (extent % bytes_at_once != 0 && extent < 32 * bytes_at_once))
      return std::nullopt;
    const std::optional<byte_difference> terms = match_difference(r.step.value.front(), inner.var);
    if (!terms || !(uses_var(terms->a, inner.var) || uses_var(terms->b, inner.var)))
      return std::nullopt;
    return byte_sum(r, *terms, target.lanes(dtype::i64));
  }

  stmt lowered() const {
    const loop_node& inner = *r_.chain.back();
    const dtype index = inner.var.type();
    const std::int64_t extent = inner.extent->integer, groups = extent / bytes_at_once,
                       steps = groups / parts_;
    const var v = make_var(inner.var->name, index);
    std::vector<stmt> all;
    if (steps > 0)
      all.push_back(make_loop(v, integer(index, 0), integer(index, steps),
                              lanes(parts_, v * integer(index, parts_)), loop_kind::serial,
                              {{reduction_note, 1}}));
    std::int64_t done = steps * parts_;
    for (std::int64_t width = parts_ / 2; width >= 1; width /= 2)
      if (groups - done >= width) {
        all.push_back(lanes(width, integer(index, done)));
        done += width;
      }
    if (const std::int64_t first = groups * bytes_at_once; first < extent) {
      const var t = make_var(inner.var->name, index);
      all.push_back(make_loop(t, inner.min + integer(index, first), integer(index, extent - first),
                              substitute(inner.body, {{inner.var, t}}), loop_kind::serial,
                              {{reduction_note, 1}}));
    }
    stmt main = make_seq(std::move(all));
    for (std::size_t d = r_.chain.size() - 1; d-- > 0;)
      main = with_body(*r_.chain[d], std::move(main));
    return make_allocate(part_, make_seq({each(parts_,
                                               [&](const expr& l) {
                                                 return make_store(part_, {l},
                                                                   integer(dtype::i64, 0));
                                               }),
                                          std::move(main), total()}));
  }

 private:
  byte_sum(const reduction& r, byte_difference terms, std::int64_t vector)
      : r_(r), terms_(std::move(terms)) {
    const std::int64_t groups = r.chain.back()->extent->integer / bytes_at_once;
    while (parts_ * 2 <= vector && parts_ * 2 <= groups) parts_ *= 2;
    while (parts_ < 4 * vector && groups >= 4 * parts_) parts_ *= 2;
    part_ = make_buffer(r.step.to.front()->name + "_part", dtype::i64,
                        {integer(dtype::i32, parts_)}, "local");
  }

  template <class Body>
  static stmt each(std::int64_t count, const Body& body) {
    const var l = make_var("l");
    return make_loop(l, 0, integer(dtype::i32, count), body(l), loop_kind::vectorized);
  }

  /// Adds `count` groups from the group `first` on, one to each of the first lanes.
  stmt lanes(std::int64_t count, const expr& first) const {
    const loop_node& inner = *r_.chain.back();
    const dtype index = inner.var.type();
    return each(count, [&](const expr& l) {
      const expr begin = inner.min + (first + cast(index, l)) * integer(index, bytes_at_once);
      std::vector<expr> args{load(part_, {l})};
      for (const expr* of : {&terms_.a, &terms_.b})
        for (std::int64_t n = 0; n < bytes_at_once; ++n)
          args.push_back(substitute(*of, {{inner.var, begin + integer(index, n)}}));
      return make_store(part_, {l}, call(dtype::i64, "sad8", std::move(args)));
    });
  }

  /// Adds up the lanes and what they were begun for; sums wrap, so that the width of the lanes does not matter.
  stmt total() const {
    std::vector<stmt> all;
    for (std::int64_t width = parts_ / 2; width >= 1; width /= 2)
      all.push_back(each(width, [&](const expr& l) {
        return make_store(part_, {l},
                          load(part_, {l}) + load(part_, {l + integer(dtype::i32, width)}));
      }));
    const buffer& to = r_.step.to.front();
    const std::vector<expr>& at = r_.step.at.front();
    all.push_back(make_store(to, at, load(to, at) + cast(to->type, load(part_, {0}))));
    return make_seq(std::move(all));
  }

  const reduction& r_;
  byte_difference terms_;
  std::int64_t parts_ = 1;
  buffer part_;
};

}  // namespace tilewright::pass::detail::reductions
