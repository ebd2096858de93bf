#include "overlapping_stages.hpp"

#include <algorithm>

namespace laws {

using namespace tilewright::ir;

buffer overlapping_stages::matrix() {
  const buffer* found = source_of_rank(2);
  return found ? *found : own_input({1 + pick(draw_, 5), 1 + pick(draw_, 5)});
}

void overlapping_stages::rewritten(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const std::int64_t by = 2 + pick(draw_, 2);
  nest n = loops_over(s, 0);
  const expr i = n.v[0], j = n.v[1], x = clamp(load(from, n.v) * value(2) - value(1));
  const std::vector<indices> places{{i + j},
                                    {i * num(by) + j},
                                    {i, floordiv(j, num(by))},
                                    {i, floormod(j, num(by))},
                                    {j * num(by) + i},
                                    {i},
                                    {floordiv(i, num(by)), floormod(i, num(by)), j}};
  const indices at = any(draw_, places);
  shape extents;
  if (at.size() == 1)
    extents = {s[0] * by + s[1] * by};
  else if (at.size() == 2)
    extents = {s[0], std::max(s[1], by)};
  else
    extents = {s[0], by, s[1]};
  const buffer to = filled(from, extents, last);
  if (chance(draw_, 25)) n.block.iters[0].kind = iter_kind::opaque;
  finish(std::move(n), to, at, x, false);
}

void overlapping_stages::crossing(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const buffer to = filled(from, {s[0] + 1, s[1] + 1}, last);
  const bool far = chance(draw_, 50);
  for (const bool second : {false, true}) {
    nest n = loops_over(s, 0);
    const expr i = n.v[0], j = n.v[1];
    const indices at = second == far ? indices{i + num(1), j} : indices{i, j + num(second ? 1 : 0)};
    const expr x = load(from, n.v) * value(second ? 2 : 1) + value(second ? 0 : 3);
    finish(std::move(n), to, at, clamp(x), false);
  }
  share_loop();
  if (chance(draw_, 60)) share_inner_loop();
}

void overlapping_stages::running(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const buffer sum = result({s[0]}, false), to = result(s, last);
  nest n = loops_over(s, 1);
  const expr row = n.v[0], x = load(from, n.v);
  finish(std::move(n), sum, {row}, x, true, chance(draw_, 30));
  n = loops_over(s, 0);
  const indices at = n.v;
  finish(std::move(n), to, at, clamp(load(sum, {at[0]})), false);
  share_loop();
  share_inner_loop();
}

void overlapping_stages::chain(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const buffer to = filled(from, {s[0] + 1, s[1] + 1}, last);
  static const std::vector<std::vector<std::int64_t>> steps{
      {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {1, 0, 0, 1}, {0, 0, 1, 0}, {0, 0, 1, 1}};
  const std::vector<std::int64_t>& by = any(draw_, steps);
  nest n = loops_over(s, 0);
  if (chance(draw_, 40))
    n.block.iters[static_cast<std::size_t>(pick(draw_, 2))].kind = iter_kind::opaque;
  const expr i = n.v[0], j = n.v[1];
  const expr x = load(to, {i + num(by[2]), j + num(by[3])}) + load(from, n.v);
  finish(std::move(n), to, {i + num(by[0]), j + num(by[1])}, clamp(x), false);
}

void overlapping_stages::bare(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const buffer to = result(s, last);
  nest n = loops_over(s, 0);
  const indices at(n.loops.begin(), n.loops.end());
  for (const iter_var& i : n.block.iters) n.bounds.push_back(i.dom);
  n.block.iters.clear();
  finish(std::move(n), to, at, clamp(load(from, at) + value(1)), false);
}

void overlapping_stages::matched(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from), row{1, s[1]};
  const buffer to = result(s, last);
  const bool reads = chance(draw_, 60);
  nest n = loops_over({s[0]}, 0);
  const expr i = n.v[0];
  const buffer view = make("W" + std::to_string(names_++), row);
  const std::vector<range> box{{i, num(1)}, {num(0), num(s[1])}};
  block_node& b = n.block;
  b.name = fresh_name(to->name);
  b.reads = {{from, box}};
  b.writes = {{to, box}};
  b.match_buffers = {{view, {reads ? from : to, box}}};
  const var j = make_var("c", index_);
  const indices whole{i, j}, inside{num(0), j};
  const expr x = reads ? load(view, inside) : load(from, whole);
  b.body = make_loop(j, num(0), num(s[1]),
                     make_store(reads ? to : view, reads ? whole : inside, clamp(x + value(2))));
  block_node done = std::move(n.block);
  stages_.push_back(wrap(n, std::move(done)));
  now_ready(to);
}

}  // namespace laws
