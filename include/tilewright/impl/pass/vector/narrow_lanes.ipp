#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/vector/narrow_lanes.hpp>

namespace tilewright::pass::detail::words {

using namespace tilewright::ir;

inline constexpr dtype word = dtype::u16, signed_word = dtype::i16;
inline constexpr std::int64_t most = std::numeric_limits<std::uint16_t>::max(),
                              wrapping = std::int64_t{1} << 31;  // of what is narrowed

/// Whether values of a type are integers of no more bits than a word has.
inline bool is_short(dtype t) {
  return !is_float(t) && t != dtype::boolean && bits(t) <= bits(word);
}

inline bool is_comparison(op o) {
  return o == op::lt || o == op::le || o == op::gt || o == op::ge || o == op::eq || o == op::ne;
}

/// Operators whose lower bits follow from those of their operands.
inline bool keeps_bits(const std::string& call) {
  return call == "bitwise_and" || call == "bitwise_or" || call == "bitwise_xor" ||
         call == "bitwise_not";
}

inline bool is_quotient(op o) {
  return o == op::div || o == op::mod || o == op::floordiv || o == op::floormod;
}

inline expr number(std::int64_t value) { return integer(word, value & most); }

class narrower : public arith::scoped_mutator {
 public:
  using scoped_mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (!loop || loop->loop != loop_kind::vectorized) return scoped_mutator::mutate(s);
    const var around = std::exchange(lane_, loop->var);
    stmt out = scoped_mutator::mutate(s);
    lane_ = around;
    return out;
  }

  expr mutate(const expr& e) override {
    if (lane_ && e->op == op::cast && is_short(e.type()) && e->args[0].type() == dtype::i32 &&
        computes(e->args[0]))
      if (const expr low = lower_half(e->args[0])) return cast(e.type(), low);
    return scoped_mutator::mutate(e);
  }

 private:
  /// Whether there is arithmetic of lanes to be narrowed.
  bool computes(const expr& e) const {
    return e->op != op::cast && e->op != op::load && !e->args.empty() && uses_var(e, lane_);
  }

  /// The word that is `e` modulo 2^16; null where some part needs more bits, or nothing says that it does not.
  expr lower_half(const expr& e) {
    if (is_int(e)) return number(e->integer);
    if (e->op == op::cast && is_short(e->args[0].type())) return cast(word, mutate(e->args[0]));
    if (!uses_var(e, lane_)) return cast(word, mutate(e));  // once for all lanes
    if (e.type() != dtype::i32) return {};
    switch (e->op) {
      case op::add:
      case op::sub:
      case op::mul: return halves(e);
      case op::min:
      case op::max: return chosen(e);
      case op::select: {
        const expr condition = compared(e->args[0]);
        return condition ? branches(e, condition) : expr();
      }
      // what is not chosen may lie outside of its buffer
      case op::if_then_else: return branches(e, mutate(e->args[0]));
      case op::call: return of_bits(e);
      default: return is_quotient(e->op) ? quotient(e) : expr();
    }
  }

  /// The same operator on words.
  expr halves(const expr& e) {
    std::vector<expr> args;
    for (const expr& arg : e->args) {
      args.push_back(lower_half(arg));
      if (!args.back()) return {};
    }
    return e->op == op::call ? call(word, e->name, std::move(args)) : with_args(e, std::move(args));
  }

  expr branches(const expr& e, const expr& condition) {
    const expr yes = lower_half(e->args[1]), no = yes ? lower_half(e->args[2]) : expr();
    return no ? with_args(e, {condition, yes, no}) : expr();
  }

  /// `e`, the words of whose operands tell their values when they are read with or without a sign; null
  /// where neither holds.
  expr ordered(const expr& e) {
    const arith::bounds x = range(e->args[0]), y = range(e->args[1]);
    const auto all_in = [&](std::int64_t lo, std::int64_t hi) {
      return std::min(x.lo, y.lo) >= lo && std::max(x.hi, y.hi) <= hi;
    };
    const bool plain = all_in(0, most);
    if (!plain && !all_in(-most / 2 - 1, most / 2)) return {};
    const expr a = lower_half(e->args[0]), b = a ? lower_half(e->args[1]) : expr();
    if (!b || plain) return b ? with_args(e, {a, b}) : expr();
    return with_args(e, {cast(signed_word, a), cast(signed_word, b)});
  }

  /// What bounds show of sums and products as they are written, and of their normal form: that of x * (255 - x) forgets
  /// that its parts are of one x.
  arith::bounds range(const expr& e) const {
    const arith::bounds normal = known.const_bounds(e);
    if (e->op != op::add && e->op != op::sub && e->op != op::mul) return normal;
    const arith::bounds x = range(e->args[0]), y = range(e->args[1]);
    const arith::bounds written = e->op == op::mul   ? arith::multiply(x, y)
                                  : e->op == op::add ? arith::add(x, y)
                                                     : arith::add(x, arith::scale(y, -1));
    if (!written.bounded() || written.lo < -wrapping || written.hi >= wrapping) return normal;
    return {std::max(written.lo, normal.lo), std::min(written.hi, normal.hi)};
  }

  expr chosen(const expr& e) {
    const expr out = ordered(e);
    return out ? cast(word, out) : expr();
  }

  /// A condition on which words are chosen, itself of words.
  expr compared(const expr& e) {
    if (!uses_var(e, lane_)) return mutate(e);
    if (e->op == op::logical_and || e->op == op::logical_or || e->op == op::logical_not) {
      std::vector<expr> args;
      for (const expr& arg : e->args) {
        args.push_back(compared(arg));
        if (!args.back()) return {};
      }
      return with_args(e, std::move(args));
    }
    if (!is_comparison(e->op)) return {};
    if (is_short(e->args[0].type())) return mutate(e);
    return e->args[0].type() == dtype::i32 ? ordered(e) : expr();
  }

  expr quotient(const expr& e) {
    if (!is_int(e->args[1]) || e->args[1]->integer <= 0 || e->args[1]->integer > most) return {};
    const std::int64_t by = e->args[1]->integer;
    const arith::bounds x = range(e->args[0]);
    const bool floors = e->op == op::floordiv || e->op == op::floormod;
    if (!x.bounded() || (x.lo < 0 && !floors) || x.lo < -most) return {};
    const std::int64_t more = x.lo < 0 ? (by - 1 - x.lo) / by : 0;
    if (x.hi + more * by > most) return {};
    const expr dividend = lower_half(e->args[0]);
    if (!dividend) return {};
    const expr out = with_args(e, {dividend + number(more * by), number(by)});
    return e->op == op::floordiv ? out - number(more) : out;
  }

  expr of_bits(const expr& e) {
    if (keeps_bits(e->name)) return halves(e);
    const bool left = e->name == "shift_left";
    if ((!left && e->name != "shift_right") || !is_int(e->args[1])) return {};
    const std::int64_t by = e->args[1]->integer;
    if (by < 0 || by >= bits(word)) return {};
    if (left) return shifted(word, e, by);
    const arith::bounds x = range(e->args[0]);
    if (x.lo >= 0 && x.hi <= most) return shifted(word, e, by);
    const expr out =
        x.lo >= -most / 2 - 1 && x.hi <= most / 2 ? shifted(signed_word, e, by) : expr();
    return out ? cast(word, out) : expr();
  }

  expr shifted(dtype type, const expr& e, std::int64_t by) {
    const expr x = lower_half(e->args[0]);
    return x ? call(type, e->name, {cast(type, x), integer(type, by)}) : expr();
  }

  var lane_;  // of the vectorized loop around; null outside of one
};

}  // namespace tilewright::pass::detail::words

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function narrow_lanes(const ir::function& f) {
  ir::function out = f;
  out.body = detail::words::narrower{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
