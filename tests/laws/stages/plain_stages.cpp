#include "plain_stages.hpp"

#include <algorithm>

#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/visit.hpp>

namespace laws::stages {

using namespace tilewright::ir;

void elementwise(stage_builder& build, bool last) {
  const buffer s = build.source();
  nest n = build.loops_over(build.shape_of(s), 0);
  expr e = load(s, n.v);
  for (const buffer& other : build.ready)
    if (other != s && build.shape_of(other) == build.shape_of(s) && chance(build.draw, 50))
      e = e + load(other, n.v);
  if (chance(build.draw, 50)) e = e * build.value(2) + build.value(1);
  const indices at = n.v;
  build.finish(std::move(n), build.result(build.shape_of(s), last), at, build.clamp(e), false);
}

void stencil(stage_builder& build, bool last) {
  const buffer s = build.source();
  if (s->shape.empty()) return elementwise(build, last);
  const shape e = build.shape_of(s);
  const auto d = static_cast<std::size_t>(pick(build.draw, static_cast<std::int64_t>(e.size())));
  nest n = build.loops_over(e, 0);
  indices left = n.v;
  const std::int64_t by = 1 + pick(build.draw, 2);
  left[d] = left[d] - build.num(by);
  const expr near = if_then_else(ge(left[d], build.num(0)), load(s, left), build.value(0));
  const indices at = n.v;
  expr sum = load(s, at) + near;
  if (chance(build.draw, 50)) {
    indices right = n.v;
    right[d] = right[d] + build.num(by);
    sum = sum - if_then_else(lt(right[d], build.dim(e[d])), load(s, right), build.value(1));
  }
  build.finish(std::move(n), build.result(e, last), at, build.clamp(sum), false);
}

void padding(stage_builder& build, bool last) {
  const buffer s = build.source();
  const shape inner = build.shape_of(s);
  if (inner.size() > 3) return elementwise(build, last);
  shape e = inner;
  for (std::int64_t& x : e) x += 2;
  nest n = build.loops_over(e, 0);
  indices from;
  expr inside = boolean(true);
  for (std::size_t d = 0; d < e.size(); ++d) {
    from.push_back(n.v[d] - build.num(1));
    inside = logical_and(inside,
                         logical_and(ge(from[d], build.num(0)), lt(from[d], build.num(inner[d]))));
  }
  const indices at = n.v;
  build.finish(std::move(n), build.result(e, last), at,
               if_then_else(inside, load(s, from), build.value(0)), false);
}

void row_reduction(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(2);
  if (!s) return elementwise(build, last);
  const buffer from = *s;
  const shape e = build.shape_of(from);
  const bool columns = chance(build.draw, 40);
  nest n = build.loops_over(columns ? shape{e[1], e[0]} : e, 1);
  const expr x = load(from, columns ? indices{n.v[1], n.v[0]} : n.v);
  const indices at{n.v[0]};
  build.finish(std::move(n), build.result({columns ? e[1] : e[0]}, last), at, x, true,
               chance(build.draw, 30));
}

void product(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(2);
  if (!s) return elementwise(build, last);
  const buffer x = *s;
  const std::int64_t depth = build.shape_of(x)[1];
  buffer y;
  bool turned = false;
  for (const buffer& b : build.ready) {
    if (b->shape.size() != 2) continue;
    if (build.shape_of(b)[0] == depth)
      y = b, turned = false;
    else if (build.shape_of(b)[1] == depth)
      y = b, turned = true;
  }
  if (!y) return row_reduction(build, last);
  const std::int64_t width = build.shape_of(y)[turned ? 0 : 1];
  nest n = build.loops_over({build.shape_of(x)[0], width, depth}, 1);
  const expr left = load(x, {n.v[0], n.v[2]}),
             right = load(y, turned ? indices{n.v[1], n.v[2]} : indices{n.v[2], n.v[1]});
  // products of results would leave the integers that a float holds
  const bool plain = build.type == dtype::i32 || (build.is_input(x) && build.is_input(y));
  const expr e = plain ? left * right : build.clamp(left * build.clamp(right));
  const indices at{n.v[0], n.v[1]};
  build.finish(std::move(n), build.result({build.shape_of(x)[0], width}, last), at, e, true);
}

void bias(stage_builder& build, bool last) {
  const buffer s = build.ready.back();
  const buffer by = build.own_input(build.shape_of(s));
  nest n = build.loops_over(build.shape_of(s), 0);
  const indices at = n.v;
  const expr sum = chance(build.draw, 50) ? load(s, at) + load(by, at) : load(by, at) + load(s, at);
  build.finish(std::move(n), build.result(build.shape_of(s), last), at, sum, false);
}

void transpose(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(2);
  if (!s) return reverse(build, last);
  const buffer from = *s;
  const shape e = build.shape_of(from);
  nest n = build.loops_over({e[1], e[0]}, 0);
  const indices at = n.v;
  const expr x = load(from, {at[1], at[0]});
  build.finish(std::move(n), build.result({e[1], e[0]}, last), at, x + build.value(1), false);
}

void reverse(stage_builder& build, bool last) {
  const buffer s = build.source();
  if (s->shape.empty()) return elementwise(build, last);
  const shape e = build.shape_of(s);
  nest n = build.loops_over(e, 0);
  indices from = n.v;
  from[0] = build.dim(e[0]) - build.num(1) - from[0];
  const indices at = n.v;
  build.finish(std::move(n), build.result(e, last), at, load(s, from), false);
}

void flatten(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(2);
  if (!s) return reverse(build, last);
  const buffer from = *s;
  const shape e = build.shape_of(from);
  nest n = build.loops_over({e[0] * e[1]}, 0);
  const indices at = n.v;
  const expr x = load(from, {floordiv(at[0], build.num(e[1])), floormod(at[0], build.num(e[1]))});
  build.finish(std::move(n), build.result({e[0] * e[1]}, last), at, x, false);
}

void unflatten(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(1);
  if (!s) return elementwise(build, last);
  const buffer from = *s;
  const std::int64_t total = build.shape_of(from)[0];
  std::int64_t width = 1 + pick(build.draw, 4);
  while (total % width != 0) --width;
  nest n = build.loops_over({total / width, width}, 0);
  const indices at = n.v;
  const expr x = load(from, {at[0] * build.num(width) + at[1]});
  build.finish(std::move(n), build.result({total / width, width}, last), at, x, false);
}

void concat(stage_builder& build, bool last) {
  const buffer* a = build.source_of_rank(1);
  if (!a) return elementwise(build, last);
  const buffer first = *a, second = any(build.draw, build.ready)->shape.size() == 1
                                        ? *build.source_of_rank(1)
                                        : first;
  const std::int64_t n1 = build.shape_of(first)[0], n2 = build.shape_of(second)[0];
  const buffer to = build.result({n1 + n2}, last);
  nest n = build.loops_over({n1}, 0);
  indices at = n.v;
  expr x = load(first, at) + build.value(1);
  build.finish(std::move(n), to, at, x, false);
  n = build.loops_over({n2}, 0);
  x = load(second, n.v);
  at = {n.v[0] + build.num(n1)};
  build.finish(std::move(n), to, at, x, false);
}

void in_place(stage_builder& build, bool last) {
  const std::vector<buffer> mine = build.overwritable();
  if (mine.empty() || last) return elementwise(build, last);
  const buffer b = any(build.draw, mine);
  nest n = build.loops_over(build.shape_of(b), 0);
  const indices at = n.v;
  build.finish(std::move(n), b, at, build.clamp(load(b, at) * build.value(2) - build.value(1)),
               false);
}

void window(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(1);
  if (!s) return row_reduction(build, last);
  const buffer from = *s;
  const std::int64_t e = build.shape_of(from)[0], stride = 1 + pick(build.draw, 2);
  const std::int64_t size = std::min<std::int64_t>(e, 1 + pick(build.draw, 3));
  const std::int64_t count = (e - size) / stride + 1;
  nest n = build.loops_over({count, size}, 1);
  const expr x = load(from, {n.v[0] * build.num(stride) + n.v[1]});
  const indices at{n.v[0]};
  build.finish(std::move(n), build.result({count}, last), at, x, true, chance(build.draw, 50));
}

void arg_peak(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(2);
  if (!s || !build.exact) return row_reduction(build, last);
  const shape e = build.shape_of(*s);
  const buffer at = build.make("I" + std::to_string(build.made++), {e[0]}, dtype::i32);
  build.params.push_back({at, {}});
  const buffer top = build.result({e[0]}, last);
  nest n = build.loops_over(e, 1);
  const expr x = load(*s, n.v) * build.value(16) - cast(build.type, n.v[1]), row = n.v[0];
  const expr keep = ge(load(top, {row}), x);
  const var index = make_var("index", dtype::i32), peak = make_var("peak", build.type);
  block_node& b = n.block;
  b.name = build.fresh_name(top->name);
  b.writes = {{at, point_box({row})}, {top, point_box({row})}};
  b.init = make_seq({make_store(at, {row}, integer(dtype::i32, -1)),
                     make_store(top, {row}, lowest_value(build.type))});
  b.body =
      make_let(index, select(keep, load(at, {row}), cast(dtype::i32, n.v[1])),
               make_let(peak, select(keep, load(top, {row}), x),
                        make_seq({make_store(at, {row}, index), make_store(top, {row}, peak)})));
  build.declare_reads(b);
  block_node done = std::move(n.block);
  build.stages.push_back(build.wrap(n, std::move(done)));
  build.now_ready(top);
}

void fold(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(2);
  if (!s) return row_reduction(build, last);
  const shape e = build.shape_of(*s);
  const buffer often = build.make("F" + std::to_string(build.made++), {e[0]}, build.type);
  build.params.push_back({often, {}});
  const buffer top = build.result({e[0]}, last);
  nest n = build.loops_over(e, 1);
  const expr x = load(*s, n.v), row = n.v[0];
  const auto combined = [](const std::vector<expr>& a, const std::vector<expr>& b) {
    const expr less = select(lt(a[0], b[0]), b[1], a[1] + b[1]);
    return std::vector<expr>{ir::max(a[0], b[0]), select(gt(a[0], b[0]), a[1], less)};
  };
  const auto operand = [&](std::size_t k) { return reducer_operand(build.type, k); };
  const comm_reducer reducer{{lowest_value(build.type), build.value(0)},
                             combined({operand(0), operand(1)}, {operand(2), operand(3)})};
  const std::vector<expr> next =
      combined({load(top, {row}), load(often, {row})}, {x, build.value(1)});
  const var peak = make_var("peak", build.type), count = make_var("count", build.type);
  block_node& b = n.block;
  b.name = build.fresh_name(top->name);
  b.annotations[reducer_note] = print(reducer);
  b.writes = {{top, point_box({row})}, {often, point_box({row})}};
  b.init = make_seq(
      {make_store(top, {row}, reducer.identity[0]), make_store(often, {row}, build.value(0))});
  b.body =
      make_let(peak, next[0],
               make_let(count, next[1],
                        make_seq({make_store(top, {row}, peak), make_store(often, {row}, count)})));
  build.declare_reads(b);
  block_node done = std::move(n.block);
  build.stages.push_back(build.wrap(n, std::move(done)));
  build.now_ready(top);
}

void total(stage_builder& build, bool last) {
  const buffer s = build.source();
  const shape e = build.shape_of(s);
  const auto kept =
      e.empty() || chance(build.draw, 60)
          ? std::size_t{0}
          : static_cast<std::size_t>(pick(build.draw, static_cast<std::int64_t>(e.size())));
  nest n = build.loops_over(e, e.size() - kept);
  const expr x = load(s, n.v);
  const indices at(n.v.begin(), n.v.begin() + static_cast<std::ptrdiff_t>(kept));
  const shape to(e.begin(), e.begin() + static_cast<std::ptrdiff_t>(kept));
  if (e.empty()) return build.finish(std::move(n), build.result(to, last), at, x, false);
  build.finish(std::move(n), build.result(to, last), at, x, true, chance(build.draw, 20));
}

void batched_product(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(3);
  if (!s) return product(build, last);
  const buffer x = *s;
  const shape e = build.shape_of(x);
  nest n = build.loops_over({e[0], e[1], e[1], e[2]}, 1);
  const expr a = load(x, {n.v[0], n.v[1], n.v[3]}), b = load(x, {n.v[0], n.v[2], n.v[3]});
  const indices at(n.v.begin(), n.v.begin() + 3);
  build.finish(std::move(n), build.result({e[0], e[1], e[1]}, last), at, build.clamp(a * b), true);
}

void broadcast(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(1);
  if (!s) return elementwise(build, last);
  const buffer row = *s, column = any(build.draw, build.ready)->shape.size() == 1
                                      ? *build.source_of_rank(1)
                                      : row;
  nest n = build.loops_over({build.shape_of(row)[0], build.shape_of(column)[0]}, 0);
  const indices at = n.v;
  const expr x = load(row, {at[0]}) + load(column, {at[1]});
  build.finish(std::move(n),
               build.result({build.shape_of(row)[0], build.shape_of(column)[0]}, last), at,
               build.clamp(x), false);
}

void gather(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(1);
  if (!s || build.type != dtype::i32 || build.index != dtype::i32) return elementwise(build, last);
  const buffer from = *s, by = build.params[0].buffer;
  const shape e = build.shape_of(by);
  nest n = build.loops_over(e, 0);
  const indices at = n.v;
  const expr x = load(from, {floormod(load(by, at), build.num(build.shape_of(from)[0]))});
  build.finish(std::move(n), build.result(e, last), at, x, false);
}

void epilogue(stage_builder& build, bool last) {
  switch (pick(build.draw, 4)) {
    case 0: product(build, false); break;
    case 1: total(build, false); break;
    default: row_reduction(build, false); break;
  }
  const buffer s = build.ready.back(), by = build.own_input(build.shape_of(s));
  nest n = build.loops_over(build.shape_of(s), 0);
  const indices at = n.v;
  const expr x = load(s, at), y = load(by, at);
  const std::vector<expr> forms{x + y, y + x, x - y, ir::max(x, y), x, x + y * build.value(2)};
  build.finish(std::move(n), build.result(build.shape_of(s), last), at, any(build.draw, forms),
               false);
}

void blur(stage_builder& build, bool last) {
  if (build.is_input(build.ready.back())) elementwise(build, false);
  const buffer from = build.ready.back();
  shape e = build.shape_of(from);
  if (e.empty()) return elementwise(build, last);
  const auto d = static_cast<std::size_t>(pick(build.draw, static_cast<std::int64_t>(e.size())));
  const std::int64_t taps = std::min<std::int64_t>(e[d], 2 + pick(build.draw, 2));
  e[d] -= taps - 1;
  nest n = build.loops_over(e, 0);
  const indices at = n.v;
  expr sum = load(from, at);
  for (std::int64_t t = 1; t < taps; ++t) {
    indices next = at;
    next[d] = next[d] + build.num(t);
    sum = sum + load(from, next);
  }
  build.finish(std::move(n), build.result(e, last), at, build.clamp(sum), false);
}

void twins(stage_builder& build, bool last) {
  const buffer s = build.source();
  for (const bool second : {false, true}) {
    nest n = build.loops_over(build.shape_of(s), 0);
    const indices at = n.v;
    const expr x = load(s, at);
    build.finish(std::move(n), build.result(build.shape_of(s), last && second), at,
                 second ? build.clamp(x * build.value(3)) : x + build.value(1), false);
  }
}

void dot(stage_builder& build, bool last) {
  static const std::vector<std::int64_t> depths{4, 8, 4, 8, 12, 6, 7};
  const std::int64_t rows = build.extent(1), columns = 2 * (1 + pick(build.draw, 3)),
                     depth = any(build.draw, depths);
  const bool turned = chance(build.draw, 50), matrix = chance(build.draw, 75);
  const buffer x = build.own_input({rows, depth});
  const buffer y = build.own_input(!matrix  ? shape{depth}
                                   : turned ? shape{columns, depth}
                                            : shape{depth, columns});
  nest n = build.loops_over(matrix ? shape{rows, columns, depth} : shape{rows, depth}, 1);
  const expr k = n.v.back();
  const expr e = load(x, {n.v[0], k}) * load(y, !matrix  ? indices{k}
                                                : turned ? indices{n.v[1], k}
                                                         : indices{k, n.v[1]});
  const indices at(n.v.begin(), n.v.end() - 1);
  build.finish(std::move(n), build.result(matrix ? shape{rows, columns} : shape{rows}, last), at, e,
               true);
}

void strided(stage_builder& build, bool last) {
  const buffer* s = build.source_of_rank(1);
  if (!s) return transpose(build, last);
  const buffer from = *s, by = build.own_input(build.shape_of(from));
  const std::int64_t size = build.shape_of(from)[0];
  nest n = build.loops_over({build.extent(1), 1 + pick(build.draw, 4)}, 0);
  const expr place = floormod(
      n.v[0] * build.num(1 + pick(build.draw, 3)) + floordiv(n.v[1] + build.num(1), build.num(2)),
      build.num(size));
  expr e = load(from, {place}) + load(by, {place});
  if (chance(build.draw, 40)) e = e + load(by, {build.num(size - 1) - place});
  const indices at = n.v;
  const shape to{n.block.iters[0].dom.extent->integer, n.block.iters[1].dom.extent->integer};
  build.finish(std::move(n), build.result(to, last), at, build.clamp(e), false);
}

void shared_loop(stage_builder& build, bool last) {
  std::vector<buffer> mine;
  for (const buffer& b : build.ready)
    if (b->name[0] == 'T' && !b->shape.empty()) mine.push_back(b);
  const buffer from =
      mine.empty() || chance(build.draw, 50) ? build.source() : any(build.draw, mine);
  if (from->shape.empty()) return elementwise(build, last);
  const shape e = build.shape_of(from);
  const bool overwrites = from->name[0] == 'T' && chance(build.draw, 30);
  const buffer x = build.result(e, last && overwrites);
  nest n = build.loops_over(e, 0);
  indices at = n.v, there = n.v;
  if (overwrites && chance(build.draw, 70))
    there[0] = ir::min(there[0] + build.num(1), build.num(e[0] - 1));
  build.finish(std::move(n), x, at, build.clamp(load(from, there) + build.value(1)), false);
  n = build.loops_over(e, 0);
  at = there = n.v;
  if (!overwrites && chance(build.draw, 50))
    there[0] = ir::max(there[0] - build.num(1), build.num(0));
  const expr read = load(overwrites ? from : x, there);
  const buffer to = overwrites ? from : build.result(e, last);
  build.finish(std::move(n), to, at, build.clamp(read * build.value(2) - build.value(1)), false);
  build.share_loop();
}

}  // namespace laws::stages
