#include "crowded_stages.hpp"

#include "guarded_stages.hpp"
#include "overlapping_stages.hpp"

namespace laws::stages {

using namespace tilewright::ir;

void scratch(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const bool sums = chance(build.draw, 50), row = !sums && chance(build.draw, 50);
  const buffer own = build.result(row ? shape{s[1]} : shape{1}, false);
  const buffer to = build.result(sums ? shape{s[0]} : s, last);
  nest n = build.loops_over(s, sums ? 1 : 0);
  const expr x = load(from, n.v);
  const indices place{row ? n.v[1] : build.num(0)};
  build.finish(std::move(n), own, place, sums ? x : build.clamp(x + build.value(1)), sums,
               chance(build.draw, 30));
  n = build.loops_over(sums ? shape{s[0]} : s, 0);
  const indices at = n.v;
  build.finish(std::move(n), to, at,
               build.clamp(load(own, {row ? at[1] : build.num(0)}) * build.value(2)), false);
  build.share_loop();
  if (!sums && !row) build.share_inner_loop();
  if (chance(build.draw, 50)) std::erase(build.ready, own);
}

void skipping(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const buffer to = filled(build, from, s, last);
  nest n = build.loops_over(s, 0);
  const indices at = n.v;
  const expr x = load(from, at);
  const std::vector<expr> conditions{
      lt(at[1], build.num(1 + pick(build.draw, s[1]))), gt(x, build.value(0)),
      eq(floormod(at[0] + at[1], build.num(2)), build.num(0)), lt(at[1], at[0] + build.num(1))};
  const stmt yes = make_store(to, at, build.clamp(x + build.value(3)));
  const stmt no =
      chance(build.draw, 35) ? make_store(to, at, build.clamp(x * build.value(2))) : stmt();
  block_node& b = n.block;
  b.name = build.fresh_name(to->name);
  b.writes = {{to, point_box(at)}};
  b.body = make_if(any(build.draw, conditions), yes, no);
  build.declare_reads(b);
  block_node done = std::move(n.block);
  build.stages.push_back(build.wrap(n, std::move(done)));
  build.now_ready(to);
}

void nested(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const buffer to = filled(build, from, s, last);
  nest n = build.loops_over({s[0]}, 0);
  nest inner = build.loops_over({s[1]}, 0);
  const expr i = n.v[0];
  const var j = make_var("vc", build.index), c = make_var("c", build.index);
  inner.block.iters[0].var = j;
  const std::vector<range> row{{i, build.num(1)}, {build.num(0), build.num(s[1])}};
  block_node b = inner.block;
  b.name = build.fresh_name(to->name + "_in");
  b.reads = {{from, point_box({i, j})}};
  b.writes = {{to, point_box({i, j})}};
  b.body =
      make_store(to, {i, j}, build.clamp(load(from, {i, j}) * build.value(2) - build.value(1)));
  const expr guard = chance(build.draw, 30)   ? lt(c, build.num(1 + pick(build.draw, s[1])))
                     : chance(build.draw, 30) ? lt(c, i + build.num(1))
                                              : boolean(true);
  block_node& outer = n.block;
  outer.name = build.fresh_name(to->name);
  outer.reads = {{from, row}};
  outer.writes = {{to, row}};
  outer.body = make_loop(c, build.num(0), build.num(s[1]),
                         make_realize({c}, guard, make_block(std::move(b))));
  block_node done = std::move(n.block);
  build.stages.push_back(build.wrap(n, std::move(done)));
  build.now_ready(to);
}

void given(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const buffer to = build.result(s, last);
  nest n = build.loops_over(s, 0);
  const indices at = n.v;
  build.finish(std::move(n), to, at, build.clamp(load(from, at) + build.value(1)), false);
  const loop_node& outer = *as_loop(build.stages.back());
  const var let = make_var("given", build.index);
  const expr shift = floormod(outer.var + build.num(1), build.num(2));
  const bool bounds = chance(build.draw, 50) && as_loop(outer.body);
  if (!bounds) {
    build.stages.back() = with_body(outer, make_let(let, shift, outer.body));
    return;
  }
  const loop_node& l = *as_loop(outer.body);  // loops twice, or once
  const stmt twice = make_loop(make_var("again", build.index), build.num(0), let + build.num(1),
                               make_loop(l.var, l.min, l.extent, l.body));
  build.stages.back() = with_body(outer, make_let(let, shift, twice));
}

}  // namespace laws::stages
