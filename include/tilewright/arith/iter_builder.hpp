// Internal: the analysis behind `detect_iter_map`.
//
// A mark is a value that runs over [0, extent): a loop variable, or a fused sum. A digit is
// (mark // lower) % extent, times a scale. When a sum of digits is fused into a new mark, its
// digits are consumed: from then on they are read as digits of the new mark, so that everything
// that is said about the fused value (a guard that cuts it, a further split) is seen wherever one
// of its digits occurs.
#pragma once

#include <tilewright/arith/iter_map.hpp>
#include <tilewright/arith/solver.hpp>

namespace tilewright::arith {

struct digit {
  std::size_t mark = 0;
  std::int64_t lower = 1;
  std::int64_t extent = 1;
  std::int64_t scale = 1;
};

struct digit_sum {
  std::vector<digit> digits;
  form base;
  dtype type = dtype::i32;
};

class iter_builder {
 public:
  /// `outside` has the loops bound, `known` in addition the predicate assumed.
  iter_builder(const loop_domains& loops, const analyzer& outside, const analyzer& known);

  /// Takes into account what `known` assumes beyond `outside`; false when a part of that has no
  /// place in the model.
  bool restrict_by_assumptions();
  /// Reads an index; false when it is no sum of digits.
  bool add_index(const ir::expr& index);
  /// Checks that all digits are independent; the best level that is reached, nothing if none is.
  std::optional<iter_map_level> check();
  /// The map, after `check`.
  iter_map result(iter_map_level reached) const;
  /// Digits of an index in order of rising scale, after `check`.
  const digit_sum& index(std::size_t i) const { return indices_[i]; }
  bool is_symbolic(const digit& d) const { return !marks_[d.mark].exact; }
  /// Extent of the values of a mark's digit; symbolic where the mark is.
  ir::expr extent_of(const digit& d, dtype type) const;

 private:
  struct consumption {
    std::int64_t lower, extent;  // of the digit of this mark
    std::size_t into;
    std::int64_t into_lower;
  };
  struct mark {
    ir::var source;
    std::int64_t extent = 1;
    bool exact = true;         // otherwise the extent is symbolic: an upper bound at best
    ir::expr symbolic_extent;  // of an inexact mark
    std::vector<digit> parts;  // of a fused mark
    std::vector<consumption> consumed;
  };

  bool uses_loops(const ir::expr& e) const;
  bool parse(const ir::expr& e, digit_sum& out);
  bool parse_form(const form& f, digit_sum& out);
  bool parse_term(const ir::expr& t, std::int64_t coefficient, digit_sum& out);
  bool parse_quotient(const ir::expr& t, std::int64_t coefficient, digit_sum& out);
  bool split(const digit& d, std::int64_t k, bool quotient, digit& out);
  bool limit(const form& f);

  bool is_top(const digit& d) const;
  std::int64_t extent_above(const digit& d) const;
  std::size_t fresh_mark(std::vector<digit> parts, std::int64_t extent, bool exact);
  bool normalize(std::vector<digit>& digits) const;
  bool resolve(std::vector<digit>& work, std::vector<digit>& done) const;
  bool move_into(const consumption& c, digit& d) const;
  static void sort_by_scale(std::vector<digit>& digits);
  void merge(std::vector<digit>& digits) const;
  bool is_compact(const std::vector<digit>& ascending) const;
  bool fuse(std::vector<digit>& digits, digit& out);
  bool check_mark(std::size_t m, const digit* begin, const digit* end, iter_map_level level) const;

  const analyzer& outside_;
  const analyzer& known_;
  const loop_domains& loops_;
  solver solver_;
  std::vector<mark> marks_;         // loops first, in order
  std::vector<ir::expr> minimums_;  // [loop]
  std::vector<digit_sum> indices_;
  bool has_fused_ = false;
};

}  // namespace tilewright::arith
