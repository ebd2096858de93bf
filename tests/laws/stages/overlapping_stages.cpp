#include "overlapping_stages.hpp"

#include "guarded_stages.hpp"

#include <algorithm>

namespace laws::stages {

using namespace tilewright::ir;

buffer matrix(stage_builder& build) {
  const buffer* found = build.source_of_rank(2);
  return found ? *found : build.own_input({1 + pick(build.draw, 5), 1 + pick(build.draw, 5)});
}

void rewritten(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const std::int64_t by = 2 + pick(build.draw, 2);
  nest n = build.loops_over(s, 0);
  const expr i = n.v[0], j = n.v[1],
             x = build.clamp(load(from, n.v) * build.value(2) - build.value(1));
  const std::vector<indices> places{{i + j},
                                    {i * build.num(by) + j},
                                    {i, floordiv(j, build.num(by))},
                                    {i, floormod(j, build.num(by))},
                                    {j * build.num(by) + i},
                                    {i},
                                    {floordiv(i, build.num(by)), floormod(i, build.num(by)), j}};
  const indices at = any(build.draw, places);
  shape extents;
  if (at.size() == 1)
    extents = {s[0] * by + s[1] * by};
  else if (at.size() == 2)
    extents = {s[0], std::max(s[1], by)};
  else
    extents = {s[0], by, s[1]};
  const buffer to = filled(build, from, extents, last);
  if (chance(build.draw, 25)) n.block.iters[0].kind = iter_kind::opaque;
  build.finish(std::move(n), to, at, x, false);
}

void crossing(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const buffer to = filled(build, from, {s[0] + 1, s[1] + 1}, last);
  const bool far = chance(build.draw, 50);
  for (const bool second : {false, true}) {
    nest n = build.loops_over(s, 0);
    const expr i = n.v[0], j = n.v[1];
    const indices at =
        second == far ? indices{i + build.num(1), j} : indices{i, j + build.num(second ? 1 : 0)};
    const expr x = load(from, n.v) * build.value(second ? 2 : 1) + build.value(second ? 0 : 3);
    build.finish(std::move(n), to, at, build.clamp(x), false);
  }
  build.share_loop();
  if (chance(build.draw, 60)) build.share_inner_loop();
}

void running(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const buffer sum = build.result({s[0]}, false), to = build.result(s, last);
  nest n = build.loops_over(s, 1);
  const expr row = n.v[0], x = load(from, n.v);
  build.finish(std::move(n), sum, {row}, x, true, chance(build.draw, 30));
  n = build.loops_over(s, 0);
  const indices at = n.v;
  build.finish(std::move(n), to, at, build.clamp(load(sum, {at[0]})), false);
  build.share_loop();
  build.share_inner_loop();
}

void chain(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const buffer to = filled(build, from, {s[0] + 1, s[1] + 1}, last);
  static const std::vector<std::vector<std::int64_t>> steps{
      {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {1, 0, 0, 1}, {0, 0, 1, 0}, {0, 0, 1, 1}};
  const std::vector<std::int64_t>& by = any(build.draw, steps);
  nest n = build.loops_over(s, 0);
  if (chance(build.draw, 40))
    n.block.iters[static_cast<std::size_t>(pick(build.draw, 2))].kind = iter_kind::opaque;
  const expr i = n.v[0], j = n.v[1];
  const expr x = load(to, {i + build.num(by[2]), j + build.num(by[3])}) + load(from, n.v);
  build.finish(std::move(n), to, {i + build.num(by[0]), j + build.num(by[1])}, build.clamp(x),
               false);
}

void bare(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const buffer to = build.result(s, last);
  nest n = build.loops_over(s, 0);
  const indices at(n.loops.begin(), n.loops.end());
  for (const iter_var& i : n.block.iters) n.bounds.push_back(i.dom);
  n.block.iters.clear();
  build.finish(std::move(n), to, at, build.clamp(load(from, at) + build.value(1)), false);
}

void matched(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from), row{1, s[1]};
  const buffer to = build.result(s, last);
  const bool reads = chance(build.draw, 60);
  nest n = build.loops_over({s[0]}, 0);
  const expr i = n.v[0];
  const buffer view = build.make("W" + std::to_string(build.made++), row);
  const std::vector<range> box{{i, build.num(1)}, {build.num(0), build.num(s[1])}};
  block_node& b = n.block;
  b.name = build.fresh_name(to->name);
  b.reads = {{from, box}};
  b.writes = {{to, box}};
  b.match_buffers = {{view, {reads ? from : to, box}}};
  const var j = make_var("c", build.index);
  const indices whole{i, j}, inside{build.num(0), j};
  const expr x = reads ? load(view, inside) : load(from, whole);
  b.body = make_loop(
      j, build.num(0), build.num(s[1]),
      make_store(reads ? to : view, reads ? whole : inside, build.clamp(x + build.value(2))));
  block_node done = std::move(n.block);
  build.stages.push_back(build.wrap(n, std::move(done)));
  build.now_ready(to);
}

}  // namespace laws::stages
