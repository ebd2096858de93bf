#include "triangular_stages.hpp"

#include "guarded_stages.hpp"

#include <algorithm>

namespace laws::stages {

using namespace tilewright::ir;

namespace {

/// Columns of a row, in terms of its number; there are no fewer columns than rows.
struct part {
  range (*columns)(const stage_builder& build, const expr& row, std::int64_t width);
  bool from_start, may_be_empty, all_of_first;
};

range lower(const stage_builder& build, const expr& row, std::int64_t) {
  return {build.num(0), row + build.num(1)};
}

range strictly_lower(const stage_builder& build, const expr& row, std::int64_t) {
  return {build.num(0), row};
}

range upper(const stage_builder& build, const expr& row, std::int64_t width) {
  return {row, build.num(width) - row};
}

range shrinking(const stage_builder& build, const expr& row, std::int64_t width) {
  return {build.num(0), build.num(width) - row};
}

range halves(const stage_builder& build, const expr& row, std::int64_t) {
  return {build.num(0), floordiv(row, build.num(2)) + build.num(1)};
}

range band(const stage_builder& build, const expr& row, std::int64_t) {
  return {ir::max(row - build.num(1), build.num(0)), ir::min(row, build.num(1)) + build.num(1)};
}

const part& any_part(stage_builder& build) {
  static const std::vector<part> all{
      {&lower, true, false, false},         {&lower, true, false, false},
      {&strictly_lower, true, true, false}, {&upper, false, false, true},
      {&shrinking, true, false, true},      {&halves, true, false, false},
      {&band, false, false, false}};
  return any(build.draw, all);
}

/// A nest over parts of rows; the domain of the columns is that part, or all.
nest rows_of(stage_builder& build, const part& p, std::int64_t rows, std::int64_t width) {
  nest n = build.loops_over({rows, width}, 0);
  const range columns = p.columns(build, n.loops[0], width);
  n.bounds = {n.block.iters[0].dom, columns};
  if (chance(build.draw, 60)) n.block.iters[1].dom = columns;
  return n;
}

/// Over the parts of rows of a matrix, or of the one row that a vector is.
void sum_rows(stage_builder& build, const part& p, const buffer& from, std::int64_t rows,
              bool last) {
  const std::int64_t width = build.shape_of(from).back();
  nest n = rows_of(build, p, rows, width);
  n.block.iters[1].kind = iter_kind::reduce;
  const bool follows = !is_int(n.block.iters[1].dom.extent);
  const bool starts = !p.may_be_empty && (p.from_start || follows) && chance(build.draw, 75);
  const buffer to = starts ? build.result({rows}, last) : filled(build, from, {rows}, last);
  const indices at{n.v[0]};
  const expr x = load(from, from->shape.size() == 1 ? indices{n.v[1]} : n.v);
  if (starts)
    build.finish(std::move(n), to, at, x, true, chance(build.draw, 30));
  else
    build.finish(std::move(n), to, at, build.clamp(load(to, at) + x), false);
}

void sum_columns(stage_builder& build, const part& p, const buffer& from, std::int64_t rows,
                 bool last) {
  const std::int64_t width = build.shape_of(from).back();
  nest n = rows_of(build, p, rows, width);
  n.block.iters[0].kind = iter_kind::reduce;
  const bool starts = p.all_of_first && chance(build.draw, 75);
  const buffer to = starts ? build.result({width}, last) : filled(build, from, {width}, last);
  const indices at{n.v[1]};
  const expr x = load(from, from->shape.size() == 1 ? indices{n.v[0]} : n.v);
  if (starts)
    build.finish(std::move(n), to, at, x, true, chance(build.draw, 30));
  else
    build.finish(std::move(n), to, at, build.clamp(load(to, at) + x), false);
}

/// A part of the product of a matrix with its transpose.
void square(stage_builder& build, const buffer& from, const buffer& to, const part& p) {
  const shape s = build.shape_of(from);
  const std::int64_t rows = build.shape_of(to)[0];
  nest n = build.loops_over({rows, rows, s[1]}, 1);
  const range columns = p.columns(build, n.loops[0], rows);
  n.bounds = {n.block.iters[0].dom, columns, n.block.iters[2].dom};
  if (chance(build.draw, 60)) n.block.iters[1].dom = columns;
  if (chance(build.draw, 50)) {
    n.bounds[2].extent = ir::min(n.loops[1] + build.num(1), build.num(s[1]));
    if (chance(build.draw, 60)) n.block.iters[2].dom = n.bounds[2];
  }
  const indices at{n.v[0], n.v[1]};
  const expr x = load(from, {at[0], n.v[2]}), y = load(from, {at[1], n.v[2]});
  build.finish(std::move(n), to, at, build.clamp(x * build.clamp(y)), true);
}

}  // namespace

void triangle(stage_builder& build, bool last) {
  const buffer* found = build.source_of_rank(2);
  const buffer from = found ? *found : build.own_input({4, 5});
  const shape s = build.shape_of(from);
  const buffer to = filled(build, from, s, last);
  nest n = rows_of(build, any_part(build), std::min(s[0], s[1]), s[1]);
  const indices at = n.v;
  const bool turned = s[0] == s[1] && chance(build.draw, 30);
  const expr x = load(from, turned ? indices{at[1], at[0]} : at);
  build.finish(std::move(n), to, at, build.clamp(x * build.value(2) - build.value(1)), false);
}

void prefix(stage_builder& build, bool last) {
  const buffer* found = build.source_of_rank(1 + static_cast<std::size_t>(pick(build.draw, 2)));
  const buffer from = found ? *found : build.own_input({1 + pick(build.draw, 6)});
  const shape s = build.shape_of(from);
  const std::int64_t rows = std::min(s.front(), s.back());
  if (chance(build.draw, 65))
    sum_rows(build, any_part(build), from, rows, last);
  else
    sum_columns(build, any_part(build), from, rows, last);
}

void triangles(stage_builder& build, bool last) {
  const buffer* found = build.source_of_rank(2);
  const buffer from = found ? *found : build.own_input({4, 5});
  const shape s = build.shape_of(from);
  const std::int64_t rows = std::min(s[0], s[1]);
  const part& p = any_part(build);
  const bool squares = chance(build.draw, 30);
  const buffer between = build.result({rows, squares ? rows : s[1]}, false);
  const std::int64_t width = build.shape_of(between)[1];
  const buffer to =
      chance(build.draw, 50) ? filled(build, from, build.shape_of(between), last) : buffer();
  if (squares) {
    square(build, from, between, p);
  } else {
    nest n = rows_of(build, p, rows, width);
    const indices at = n.v;
    build.finish(std::move(n), between, at, build.clamp(load(from, at) + build.value(1)), false);
  }
  std::erase(build.ready, between);  // others would read what is not written
  const auto first = build.stages.size();
  if (to) {
    nest n = rows_of(build, p, rows, width);
    if (chance(build.draw, 30))
      n.bounds[1].extent = ir::max(n.bounds[1].extent - build.num(1), build.num(0));
    const indices at = n.v;
    build.finish(std::move(n), to, at,
                 build.clamp(load(between, at) * build.value(2) - build.value(1)), false);
  } else {
    sum_rows(build, p, between, rows, last);
  }
  if (build.stages.size() == first + 1 && chance(build.draw, 50)) build.share_loop();
}

}  // namespace laws::stages
