#include "concurrent_stages.hpp"

#include <algorithm>

namespace laws {

using namespace tilewright::ir;

concurrent_stages::way concurrent_stages::any_way() {
  if (threads_)
    return {loop_kind::thread_binding, chance(draw_, 50) ? "blockIdx.x" : "threadIdx.x"};
  return {chance(draw_, 65) ? loop_kind::parallel : loop_kind::vectorized, {}};
}

stmt concurrent_stages::at_once(const stmt& s, std::size_t depth, const way& how) {
  const loop_node& l = *as_loop(s);
  if (depth > 0) return with_body(l, at_once(l.body, depth - 1, how));
  return make_loop(l.var, l.min, l.extent, l.body, how.kind, {}, how.axis);
}

stmt concurrent_stages::both_at_once(const stmt& s) {
  way outer = any_way(), inner = any_way();
  if (threads_) outer.axis = "blockIdx.x", inner.axis = "threadIdx.x";
  return at_once(at_once(s, 0, outer), 1, inner);
}

stmt concurrent_stages::parts_at_once(const stmt& body) {
  if (threads_) return body;
  const seq_node* all = as_seq(body);
  std::vector<stmt> parts = all ? all->stmts : std::vector<stmt>{body};
  for (stmt& loop : parts)
    if (as_loop(loop) && chance(draw_, 40)) loop = at_once(loop);
  return make_seq(std::move(parts));
}

stmt concurrent_stages::all_at_once(const stmt& s) {
  const loop_node& l = *as_loop(s);
  return at_once(with_body(l, parts_at_once(l.body)));
}

buffer concurrent_stages::own_buffer(const shape& s) {
  const buffer b = make("S" + std::to_string(names_++), s);
  return threads_ ? make_buffer(b->name, b->type, b->shape, "local") : b;
}

concurrent_stages::nest concurrent_stages::plain_loops(const shape& extents, std::size_t reduced) {
  nest n = loops_over(extents, reduced);
  for (const iter_var& i : n.block.iters) n.bounds.push_back(i.dom);
  return n;
}

concurrent_stages::nest concurrent_stages::tile_loops(const shape& extents, std::int64_t tiles,
                                                      std::int64_t size, std::int64_t length,
                                                      std::size_t reduced) {
  nest n = plain_loops(extents, reduced);
  const var tile = make_var("p", index_);
  n.values.assign(n.loops.begin(), n.loops.end());
  n.values[0] = tile * num(size) + n.loops[0];
  if ((tiles - 1) * size + length > extents[0]) n.guard = lt(n.values[0], num(extents[0]));
  n.bounds[0].extent = num(length);
  n.bounds.insert(n.bounds.begin(), range{num(0), num(tiles)});
  n.loops.insert(n.loops.begin(), tile);
  return n;
}

expr concurrent_stages::elsewhere(const expr& column, std::int64_t width) {
  return any(draw_, indices{column, num(width - 1) - column, floormod(column + num(1), num(width)),
                            ir::max(column - num(1), num(0))});
}

stmt concurrent_stages::taken(std::size_t first) {
  const auto from = stages_.begin() + static_cast<std::ptrdiff_t>(first);
  stmt all = make_seq({from, stages_.end()});
  stages_.erase(from, stages_.end());
  return all;
}

void concurrent_stages::concurrent(bool last) {
  std::vector<buffer> mine = overwritable();
  std::erase_if(mine, [](const buffer& b) { return b->shape.empty(); });
  const bool in_place = !mine.empty() && !last && chance(draw_, 20);
  buffer from = in_place ? any(draw_, mine) : source();
  if (from->shape.empty()) from = matrix();
  shape s = shape_of(from);
  nest n = loops_over(s, 0);
  indices at = n.v;
  const expr x = clamp(load(from, at) * value(2) - value(1));
  if (!in_place && chance(draw_, 30)) {
    std::rotate(at.begin(), at.begin() + 1, at.end());
    std::rotate(s.begin(), s.begin() + 1, s.end());
  }
  finish(std::move(n), in_place ? from : result(s, last), at, x, false);
  const auto depth = static_cast<std::size_t>(pick(draw_, std::ssize(s)));
  stages_.back() = s.size() > 1 && chance(draw_, 30) ? both_at_once(stages_.back())
                                                     : at_once(stages_.back(), depth);
}

void concurrent_stages::own_scratch(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const bool row = chance(draw_, 50), keeps = chance(draw_, 40);
  const shape extents = row ? shape{s[1]} : shape{1};
  const buffer own = own_buffer(extents), other = keeps ? own_buffer(extents) : result(s, false);
  const buffer to = result(s, last);
  temps_.push_back(own);
  if (keeps) temps_.push_back(other);
  const std::size_t first = stages_.size();
  // the element of `b` at that column
  const auto at = [&](const buffer& b, const indices& v, const expr& column) {
    return b->shape.size() == 2 ? indices{v[0], column} : indices{row ? column : num(0)};
  };
  const auto add = [&](const buffer& b, const auto& value_at) {
    nest n = plain_loops(s, 0);
    const indices v = n.v;
    const expr x = value_at(v, row ? elsewhere(v[1], s[1]) : v[1]);
    finish(std::move(n), b, at(b, v, v[1]), clamp(x), false);
    if (stages_.size() == first + 1) return;
    share_loop();
    if (!row) share_inner_loop();
  };
  add(own, [&](const indices& v, const expr&) { return load(from, v) + value(1); });
  if (chance(draw_, 30))
    add(own, [&](const indices& v, const expr&) { return load(own, at(own, v, v[1])) * value(2); });
  add(other, [&](const indices& v, const expr& c) { return load(own, at(own, v, c)) - value(1); });
  add(to, [&](const indices& v, const expr& c) {
    return load(own, at(own, v, v[1])) + load(other, at(other, v, c));
  });
  stmt& stage = stages_.back();
  stage = row                 ? all_at_once(stage)
          : chance(draw_, 30) ? both_at_once(stage)
                              : at_once(stage, static_cast<std::size_t>(pick(draw_, 2)));
  std::erase(ready_, own);
  if (keeps) std::erase(ready_, other);
}

void concurrent_stages::halo(bool last) {
  const buffer from = matrix();
  const bool sums = chance(draw_, 40);
  shape s = shape_of(from);
  const std::int64_t taps = std::min<std::int64_t>(s[0], 2 + pick(draw_, 2));
  const std::int64_t rows = s[0] - taps + 1;
  const std::int64_t size = 1 + pick(draw_, std::min<std::int64_t>(rows, 3));
  const std::int64_t tiles = (rows + size - 1) / size;
  nest n = tile_loops(s, tiles, size, size + taps - 1, sums ? 1 : 0);
  const expr x = load(from, n.v);
  indices at = n.v;
  if (sums) at.pop_back(), s.pop_back();
  const buffer own = own_buffer(s);
  temps_.push_back(own);
  finish(std::move(n), own, at, sums ? x : clamp(x + value(1)), sums, chance(draw_, 30));
  s[0] = rows;
  const bool twice = chance(draw_, 30);
  for (const bool second : {false, true}) {
    if (second && !twice) continue;
    n = tile_loops(s, tiles, size, size, 0);
    at = n.v;
    expr sum = load(own, at);
    for (std::int64_t t = 1; t < taps; ++t) {
      indices next = at;
      next[0] = next[0] + num(t);
      sum = second ? ir::max(sum, load(own, next)) : sum + load(own, next);
    }
    finish(std::move(n), result(s, last && second == twice), at, clamp(sum), false);
    share_loop();
  }
  stages_.back() = all_at_once(stages_.back());
  std::erase(ready_, own);
}

void concurrent_stages::own_sum(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from), rows{s[0]};
  const bool one = chance(draw_, 40), wide = chance(draw_, 50);
  const buffer sum = one ? own_buffer({1}) : result(rows, false);
  const buffer to = result(wide ? s : rows, last);
  if (one) temps_.push_back(sum);
  const auto place = [&](const expr& row) { return indices{one ? num(0) : row}; };
  nest n = plain_loops(s, 1);
  indices at = n.v;
  const expr x = load(from, at);
  if (chance(draw_, 70)) {
    finish(std::move(n), sum, place(at[0]), x, true, chance(draw_, 30));
  } else {
    nest start = plain_loops(rows, 0);
    const indices first = place(start.v[0]);
    finish(std::move(start), sum, first, value(2), false);
    finish(std::move(n), sum, place(at[0]), clamp(load(sum, place(at[0])) + x), false);
    share_loop();
  }
  n = plain_loops(wide ? s : rows, 0);
  at = n.v;
  const expr total = load(sum, place(at[0]));
  finish(std::move(n), to, at, clamp(wide ? load(from, at) - total : total * value(2)), false);
  share_loop();
  stages_.back() = at_once(stages_.back());
  if (one) std::erase(ready_, sum);
}

void concurrent_stages::enclosing(bool last) {
  const buffer from = matrix();
  const shape s = shape_of(from);
  const bool around = chance(draw_, 40);  // the block holds all of the loops
  const bool sums = chance(draw_, 30), direct = !sums && chance(draw_, 30);
  const bool followed = !around && chance(draw_, 40);
  const buffer own = own_buffer({sums ? 1 : s[1]}), to = result(s, last && !followed);
  nest outer = around ? nest() : plain_loops({s[0]}, 0);
  const std::size_t first = stages_.size();
  const auto columns = [&](std::size_t reduced) {
    nest n = plain_loops(around ? s : shape{s[1]}, reduced);
    if (!around) n.v.insert(n.v.begin(), outer.v[0]);
    return n;
  };
  nest n = columns(sums ? 1 : 0);
  indices v = n.v;
  expr x = clamp(load(from, v) * value(2));
  if (!direct) {
    finish(std::move(n), own, {sums ? num(0) : v[1]}, x, sums);
    n = columns(0);
    v = n.v;
    x = load(own, {sums ? num(0) : elsewhere(v[1], s[1])}) - load(from, v);
  }
  finish(std::move(n), to, v, clamp(x), false);
  if (around && !direct) share_loop();
  stmt body = taken(first);
  if (around)
    body = sums ? at_once(body) : all_at_once(body);
  else if (!sums)
    body = parts_at_once(body);

  block_node b = outer.block;
  const expr row = around ? num(0) : outer.v[0];
  const std::vector<range> box{{row, num(around ? s[0] : 1)}, {num(0), num(s[1])}};
  b.name = fresh_name(to->name + "_all");
  b.reads = {{from, box}};
  b.writes = {{to, box}};
  b.body = body;
  const bool inside = chance(draw_, 60);
  if (!direct) (inside ? b.alloc_buffers : temps_).push_back(own);
  if (!direct && !inside) {
    const std::vector<range> all{{num(0), own->shape[0]}};
    b.reads.push_back({own, all});
    b.writes.push_back({own, all});
  }
  stages_.push_back(wrap_as_told(outer, std::move(b)));
  std::erase(ready_, own);
  if (followed) {
    n = plain_loops(s, 0);
    v = n.v;
    x = clamp(load(to, v) + value(1));
    finish(std::move(n), result(s, last), v, x, false);
    share_loop();
  }
  if (!around && chance(draw_, 75)) stages_.back() = at_once(stages_.back());
}

}  // namespace laws
