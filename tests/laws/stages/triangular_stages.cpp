#include "triangular_stages.hpp"

#include <algorithm>

namespace laws {

using namespace tilewright::ir;

range triangular_stages::lower(const expr& row, std::int64_t) const {
  return {num(0), row + num(1)};
}
range triangular_stages::strictly_lower(const expr& row, std::int64_t) const {
  return {num(0), row};
}
range triangular_stages::upper(const expr& row, std::int64_t width) const {
  return {row, num(width) - row};
}
range triangular_stages::shrinking(const expr& row, std::int64_t width) const {
  return {num(0), num(width) - row};
}
range triangular_stages::halves(const expr& row, std::int64_t) const {
  return {num(0), floordiv(row, num(2)) + num(1)};
}
range triangular_stages::band(const expr& row, std::int64_t) const {
  return {ir::max(row - num(1), num(0)), ir::min(row, num(1)) + num(1)};
}

const triangular_stages::part& triangular_stages::any_part() {
  static const std::vector<part> all{{&triangular_stages::lower, true, false, false},
                                     {&triangular_stages::lower, true, false, false},
                                     {&triangular_stages::strictly_lower, true, true, false},
                                     {&triangular_stages::upper, false, false, true},
                                     {&triangular_stages::shrinking, true, false, true},
                                     {&triangular_stages::halves, true, false, false},
                                     {&triangular_stages::band, false, false, false}};
  return any(draw_, all);
}

triangular_stages::nest triangular_stages::rows_of(const part& p, std::int64_t rows,
                                                   std::int64_t width) {
  nest n = loops_over({rows, width}, 0);
  const range columns = (this->*p.columns)(n.loops[0], width);
  n.bounds = {n.block.iters[0].dom, columns};
  if (chance(draw_, 60)) n.block.iters[1].dom = columns;
  return n;
}

void triangular_stages::triangle(bool last) {
  const buffer* found = source_of_rank(2);
  const buffer from = found ? *found : own_input({4, 5});
  const shape s = shape_of(from);
  const buffer to = filled(from, s, last);
  nest n = rows_of(any_part(), std::min(s[0], s[1]), s[1]);
  const indices at = n.v;
  const bool turned = s[0] == s[1] && chance(draw_, 30);
  const expr x = load(from, turned ? indices{at[1], at[0]} : at);
  finish(std::move(n), to, at, clamp(x * value(2) - value(1)), false);
}

void triangular_stages::sum_rows(const part& p, const buffer& from, std::int64_t rows, bool last) {
  const std::int64_t width = shape_of(from).back();
  nest n = rows_of(p, rows, width);
  n.block.iters[1].kind = iter_kind::reduce;
  const bool follows = !is_int(n.block.iters[1].dom.extent);
  const bool starts = !p.may_be_empty && (p.from_start || follows) && chance(draw_, 75);
  const buffer to = starts ? result({rows}, last) : filled(from, {rows}, last);
  const indices at{n.v[0]};
  const expr x = load(from, from->shape.size() == 1 ? indices{n.v[1]} : n.v);
  if (starts)
    finish(std::move(n), to, at, x, true, chance(draw_, 30));
  else
    finish(std::move(n), to, at, clamp(load(to, at) + x), false);
}

void triangular_stages::sum_columns(const part& p, const buffer& from, std::int64_t rows,
                                    bool last) {
  const std::int64_t width = shape_of(from).back();
  nest n = rows_of(p, rows, width);
  n.block.iters[0].kind = iter_kind::reduce;
  const bool starts = p.all_of_first && chance(draw_, 75);
  const buffer to = starts ? result({width}, last) : filled(from, {width}, last);
  const indices at{n.v[1]};
  const expr x = load(from, from->shape.size() == 1 ? indices{n.v[0]} : n.v);
  if (starts)
    finish(std::move(n), to, at, x, true, chance(draw_, 30));
  else
    finish(std::move(n), to, at, clamp(load(to, at) + x), false);
}

void triangular_stages::prefix(bool last) {
  const buffer* found = source_of_rank(1 + static_cast<std::size_t>(pick(draw_, 2)));
  const buffer from = found ? *found : own_input({1 + pick(draw_, 6)});
  const shape s = shape_of(from);
  const std::int64_t rows = std::min(s.front(), s.back());
  if (chance(draw_, 65))
    sum_rows(any_part(), from, rows, last);
  else
    sum_columns(any_part(), from, rows, last);
}

void triangular_stages::square(const buffer& from, const buffer& to, const part& p) {
  const shape s = shape_of(from);
  const std::int64_t rows = shape_of(to)[0];
  nest n = loops_over({rows, rows, s[1]}, 1);
  const range columns = (this->*p.columns)(n.loops[0], rows);
  n.bounds = {n.block.iters[0].dom, columns, n.block.iters[2].dom};
  if (chance(draw_, 60)) n.block.iters[1].dom = columns;
  if (chance(draw_, 50)) {
    n.bounds[2].extent = ir::min(n.loops[1] + num(1), num(s[1]));
    if (chance(draw_, 60)) n.block.iters[2].dom = n.bounds[2];
  }
  const indices at{n.v[0], n.v[1]};
  const expr x = load(from, {at[0], n.v[2]}), y = load(from, {at[1], n.v[2]});
  finish(std::move(n), to, at, clamp(x * clamp(y)), true);
}

void triangular_stages::triangles(bool last) {
  const buffer* found = source_of_rank(2);
  const buffer from = found ? *found : own_input({4, 5});
  const shape s = shape_of(from);
  const std::int64_t rows = std::min(s[0], s[1]);
  const part& p = any_part();
  const bool squares = chance(draw_, 30);
  const buffer between = result({rows, squares ? rows : s[1]}, false);
  const std::int64_t width = shape_of(between)[1];
  const buffer to = chance(draw_, 50) ? filled(from, shape_of(between), last) : buffer();
  if (squares) {
    square(from, between, p);
  } else {
    nest n = rows_of(p, rows, width);
    const indices at = n.v;
    finish(std::move(n), between, at, clamp(load(from, at) + value(1)), false);
  }
  std::erase(ready_, between);  // others would read what is not written
  const auto first = stages_.size();
  if (to) {
    nest n = rows_of(p, rows, width);
    if (chance(draw_, 30)) n.bounds[1].extent = ir::max(n.bounds[1].extent - num(1), num(0));
    const indices at = n.v;
    finish(std::move(n), to, at, clamp(load(between, at) * value(2) - value(1)), false);
  } else {
    sum_rows(p, between, rows, last);
  }
  if (stages_.size() == first + 1 && chance(draw_, 50)) share_loop();
}

}  // namespace laws
