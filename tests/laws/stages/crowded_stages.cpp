#include "crowded_stages.hpp"

namespace laws {

using namespace tilewright::ir;

void crowded_stages::scratch(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const bool sums = chance(draw_, 50), row = !sums && chance(draw_, 50);
  const buffer own = result(row ? shape{s[1]} : shape{1}, false);
  const buffer to = result(sums ? shape{s[0]} : s, last);
  nest n = loops_over(s, sums ? 1 : 0);
  const expr x = load(from, n.v);
  const indices place{row ? n.v[1] : num(0)};
  finish(std::move(n), own, place, sums ? x : clamp(x + value(1)), sums, chance(draw_, 30));
  n = loops_over(sums ? shape{s[0]} : s, 0);
  const indices at = n.v;
  finish(std::move(n), to, at, clamp(load(own, {row ? at[1] : num(0)}) * value(2)), false);
  share_loop();
  if (!sums && !row) share_inner_loop();
  if (chance(draw_, 50)) std::erase(ready_, own);
}

void crowded_stages::skipping(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const buffer to = filled(from, s, last);
  nest n = loops_over(s, 0);
  const indices at = n.v;
  const expr x = load(from, at);
  const std::vector<expr> conditions{lt(at[1], num(1 + pick(draw_, s[1]))), gt(x, value(0)),
                                     eq(floormod(at[0] + at[1], num(2)), num(0)),
                                     lt(at[1], at[0] + num(1))};
  const stmt yes = make_store(to, at, clamp(x + value(3)));
  const stmt no = chance(draw_, 35) ? make_store(to, at, clamp(x * value(2))) : stmt();
  block_node& b = n.block;
  b.name = fresh_name(to->name);
  b.writes = {{to, point_box(at)}};
  b.body = make_if(any(draw_, conditions), yes, no);
  declare_reads(b);
  block_node done = std::move(n.block);
  stages_.push_back(wrap(n, std::move(done)));
  now_ready(to);
}

void crowded_stages::nested(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const buffer to = filled(from, s, last);
  nest n = loops_over({s[0]}, 0);
  nest inner = loops_over({s[1]}, 0);
  const expr i = n.v[0];
  const var j = make_var("vc", index_), c = make_var("c", index_);
  inner.block.iters[0].var = j;
  const std::vector<range> row{{i, num(1)}, {num(0), num(s[1])}};
  block_node b = inner.block;
  b.name = fresh_name(to->name + "_in");
  b.reads = {{from, point_box({i, j})}};
  b.writes = {{to, point_box({i, j})}};
  b.body = make_store(to, {i, j}, clamp(load(from, {i, j}) * value(2) - value(1)));
  const expr guard = chance(draw_, 30)   ? lt(c, num(1 + pick(draw_, s[1])))
                     : chance(draw_, 30) ? lt(c, i + num(1))
                                         : boolean(true);
  block_node& outer = n.block;
  outer.name = fresh_name(to->name);
  outer.reads = {{from, row}};
  outer.writes = {{to, row}};
  outer.body = make_loop(c, num(0), num(s[1]), make_realize({c}, guard, make_block(std::move(b))));
  block_node done = std::move(n.block);
  stages_.push_back(wrap(n, std::move(done)));
  now_ready(to);
}

void crowded_stages::given(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const buffer to = result(s, last);
  nest n = loops_over(s, 0);
  const indices at = n.v;
  finish(std::move(n), to, at, clamp(load(from, at) + value(1)), false);
  const loop_node& outer = *as_loop(stages_.back());
  const var let = make_var("given", index_);
  const expr shift = floormod(outer.var + num(1), num(2));
  const bool bounds = chance(draw_, 50) && as_loop(outer.body);
  if (!bounds) {
    stages_.back() = with_body(outer, make_let(let, shift, outer.body));
    return;
  }
  const loop_node& l = *as_loop(outer.body);  // loops twice, or once
  const stmt twice = make_loop(make_var("again", index_), num(0), let + num(1),
                               make_loop(l.var, l.min, l.extent, l.body));
  stages_.back() = with_body(outer, make_let(let, shift, twice));
}

}  // namespace laws
