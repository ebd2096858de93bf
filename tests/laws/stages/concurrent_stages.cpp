#include "concurrent_stages.hpp"

#include "overlapping_stages.hpp"

#include <algorithm>

namespace laws::stages {

using namespace tilewright::ir;

namespace {

/// How loops run at once.
struct way {
  loop_kind kind;
  std::string axis;
};

way any_way(stage_builder& build) {
  if (build.threads)
    return {loop_kind::thread_binding, chance(build.draw, 50) ? "blockIdx.x" : "threadIdx.x"};
  return {chance(build.draw, 65) ? loop_kind::parallel : loop_kind::vectorized, {}};
}

stmt with_kind(const stmt& s, std::size_t depth, const way& how) {
  const loop_node& l = *as_loop(s);
  if (depth > 0) return with_body(l, with_kind(l.body, depth - 1, how));
  return make_loop(l.var, l.min, l.extent, l.body, how.kind, {}, how.axis);
}

stmt at_once(stage_builder& build, const stmt& s, std::size_t depth = 0) {
  return with_kind(s, depth, any_way(build));
}

/// Both outer loops of a nest.
stmt both_at_once(stage_builder& build, const stmt& s) {
  way outer = any_way(build), inner = any_way(build);
  if (build.threads) outer.axis = "blockIdx.x", inner.axis = "threadIdx.x";
  return with_kind(with_kind(s, 0, outer), 1, inner);
}

/// Some of the loops that stand one behind the other in this body.
stmt parts_at_once(stage_builder& build, const stmt& body) {
  if (build.threads) return body;
  const seq_node* all = as_seq(body);
  std::vector<stmt> parts = all ? all->stmts : std::vector<stmt>{body};
  for (stmt& loop : parts)
    if (as_loop(loop) && chance(build.draw, 40)) loop = at_once(build, loop);
  return make_seq(std::move(parts));
}

/// The loop, and some of those in its body.
stmt all_at_once(stage_builder& build, const stmt& s) {
  const loop_node& l = *as_loop(s);
  return at_once(build, with_body(l, parts_at_once(build, l.body)));
}

/// A buffer that each iteration has for itself; nobody has allocated it.
buffer own_buffer(stage_builder& build, const shape& s) {
  const buffer b = build.make("S" + std::to_string(build.made++), s);
  return build.threads ? make_buffer(b->name, b->type, b->shape, "local") : b;
}

/// Loops over these extents, none of them split.
nest plain_loops(stage_builder& build, const shape& extents, std::size_t reduced) {
  nest n = build.loops_over(extents, reduced);
  for (const iter_var& i : n.block.iters) n.bounds.push_back(i.dom);
  return n;
}

/// Loops over tiles, over `length` rows from the first of a tile on, and over columns; tiles begin `size` rows
/// apart, and the block's variables are row and column.
nest tile_loops(stage_builder& build, const shape& extents, std::int64_t tiles, std::int64_t size,
                std::int64_t length, std::size_t reduced) {
  nest n = plain_loops(build, extents, reduced);
  const var tile = make_var("p", build.index);
  n.values.assign(n.loops.begin(), n.loops.end());
  n.values[0] = tile * build.num(size) + n.loops[0];
  if ((tiles - 1) * size + length > extents[0]) n.guard = lt(n.values[0], build.num(extents[0]));
  n.bounds[0].extent = build.num(length);
  n.bounds.insert(n.bounds.begin(), range{build.num(0), build.num(tiles)});
  n.loops.insert(n.loops.begin(), tile);
  return n;
}

/// The column, or another one of the row.
expr elsewhere(stage_builder& build, const expr& column, std::int64_t width) {
  return any(build.draw, indices{column, build.num(width - 1) - column,
                                 floormod(column + build.num(1), build.num(width)),
                                 ir::max(column - build.num(1), build.num(0))});
}

/// The stages from `first` on, which are none then.
stmt taken(stage_builder& build, std::size_t first) {
  const auto from = build.stages.begin() + static_cast<std::ptrdiff_t>(first);
  stmt all = make_seq({from, build.stages.end()});
  build.stages.erase(from, build.stages.end());
  return all;
}

}  // namespace

void concurrent(stage_builder& build, bool last) {
  std::vector<buffer> mine = build.overwritable();
  std::erase_if(mine, [](const buffer& b) { return b->shape.empty(); });
  const bool in_place = !mine.empty() && !last && chance(build.draw, 20);
  buffer from = in_place ? any(build.draw, mine) : build.source();
  if (from->shape.empty()) from = matrix(build);
  shape s = build.shape_of(from);
  nest n = build.loops_over(s, 0);
  indices at = n.v;
  const expr x = build.clamp(load(from, at) * build.value(2) - build.value(1));
  if (!in_place && chance(build.draw, 30)) {
    std::rotate(at.begin(), at.begin() + 1, at.end());
    std::rotate(s.begin(), s.begin() + 1, s.end());
  }
  build.finish(std::move(n), in_place ? from : build.result(s, last), at, x, false);
  const auto depth = static_cast<std::size_t>(pick(build.draw, std::ssize(s)));
  build.stages.back() = s.size() > 1 && chance(build.draw, 30)
                            ? both_at_once(build, build.stages.back())
                            : at_once(build, build.stages.back(), depth);
}

void own_scratch(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const bool row = chance(build.draw, 50), keeps = chance(build.draw, 40);
  const shape extents = row ? shape{s[1]} : shape{1};
  const buffer own = own_buffer(build, extents),
               other = keeps ? own_buffer(build, extents) : build.result(s, false);
  const buffer to = build.result(s, last);
  build.temps.push_back(own);
  if (keeps) build.temps.push_back(other);
  const std::size_t first = build.stages.size();
  // the element of `b` at that column
  const auto at = [&](const buffer& b, const indices& v, const expr& column) {
    return b->shape.size() == 2 ? indices{v[0], column} : indices{row ? column : build.num(0)};
  };
  const auto add = [&](const buffer& b, const auto& value_at) {
    nest n = plain_loops(build, s, 0);
    const indices v = n.v;
    const expr x = value_at(v, row ? elsewhere(build, v[1], s[1]) : v[1]);
    build.finish(std::move(n), b, at(b, v, v[1]), build.clamp(x), false);
    if (build.stages.size() == first + 1) return;
    build.share_loop();
    if (!row) build.share_inner_loop();
  };
  add(own, [&](const indices& v, const expr&) { return load(from, v) + build.value(1); });
  if (chance(build.draw, 30))
    add(own, [&](const indices& v, const expr&) {
      return load(own, at(own, v, v[1])) * build.value(2);
    });
  add(other,
      [&](const indices& v, const expr& c) { return load(own, at(own, v, c)) - build.value(1); });
  add(to, [&](const indices& v, const expr& c) {
    return load(own, at(own, v, v[1])) + load(other, at(other, v, c));
  });
  stmt& stage = build.stages.back();
  stage = row ? all_at_once(build, stage)
          : chance(build.draw, 30)
              ? both_at_once(build, stage)
              : at_once(build, stage, static_cast<std::size_t>(pick(build.draw, 2)));
  std::erase(build.ready, own);
  if (keeps) std::erase(build.ready, other);
}

void halo(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const bool sums = chance(build.draw, 40);
  shape s = build.shape_of(from);
  const std::int64_t taps = std::min<std::int64_t>(s[0], 2 + pick(build.draw, 2));
  const std::int64_t rows = s[0] - taps + 1;
  const std::int64_t size = 1 + pick(build.draw, std::min<std::int64_t>(rows, 3));
  const std::int64_t tiles = (rows + size - 1) / size;
  nest n = tile_loops(build, s, tiles, size, size + taps - 1, sums ? 1 : 0);
  const expr x = load(from, n.v);
  indices at = n.v;
  if (sums) at.pop_back(), s.pop_back();
  const buffer own = own_buffer(build, s);
  build.temps.push_back(own);
  build.finish(std::move(n), own, at, sums ? x : build.clamp(x + build.value(1)), sums,
               chance(build.draw, 30));
  s[0] = rows;
  const bool twice = chance(build.draw, 30);
  for (const bool second : {false, true}) {
    if (second && !twice) continue;
    n = tile_loops(build, s, tiles, size, size, 0);
    at = n.v;
    expr sum = load(own, at);
    for (std::int64_t t = 1; t < taps; ++t) {
      indices next = at;
      next[0] = next[0] + build.num(t);
      sum = second ? ir::max(sum, load(own, next)) : sum + load(own, next);
    }
    build.finish(std::move(n), build.result(s, last && second == twice), at, build.clamp(sum),
                 false);
    build.share_loop();
  }
  build.stages.back() = all_at_once(build, build.stages.back());
  std::erase(build.ready, own);
}

void own_sum(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from), rows{s[0]};
  const bool one = chance(build.draw, 40), wide = chance(build.draw, 50);
  const buffer sum = one ? own_buffer(build, {1}) : build.result(rows, false);
  const buffer to = build.result(wide ? s : rows, last);
  if (one) build.temps.push_back(sum);
  const auto place = [&](const expr& row) { return indices{one ? build.num(0) : row}; };
  nest n = plain_loops(build, s, 1);
  indices at = n.v;
  const expr x = load(from, at);
  if (chance(build.draw, 70)) {
    build.finish(std::move(n), sum, place(at[0]), x, true, chance(build.draw, 30));
  } else {
    nest start = plain_loops(build, rows, 0);
    const indices first = place(start.v[0]);
    build.finish(std::move(start), sum, first, build.value(2), false);
    build.finish(std::move(n), sum, place(at[0]), build.clamp(load(sum, place(at[0])) + x), false);
    build.share_loop();
  }
  n = plain_loops(build, wide ? s : rows, 0);
  at = n.v;
  const expr total = load(sum, place(at[0]));
  build.finish(std::move(n), to, at,
               build.clamp(wide ? load(from, at) - total : total * build.value(2)), false);
  build.share_loop();
  build.stages.back() = at_once(build, build.stages.back());
  if (one) std::erase(build.ready, sum);
}

void enclosing(stage_builder& build, bool last) {
  const buffer from = matrix(build);
  const shape s = build.shape_of(from);
  const bool around = chance(build.draw, 40);  // the block holds all of the loops
  const bool sums = chance(build.draw, 30), direct = !sums && chance(build.draw, 30);
  const bool followed = !around && chance(build.draw, 40);
  const buffer own = own_buffer(build, {sums ? 1 : s[1]}), to = build.result(s, last && !followed);
  nest outer = around ? nest() : plain_loops(build, {s[0]}, 0);
  const std::size_t first = build.stages.size();
  const auto columns = [&](std::size_t reduced) {
    nest n = plain_loops(build, around ? s : shape{s[1]}, reduced);
    if (!around) n.v.insert(n.v.begin(), outer.v[0]);
    return n;
  };
  nest n = columns(sums ? 1 : 0);
  indices v = n.v;
  expr x = build.clamp(load(from, v) * build.value(2));
  if (!direct) {
    build.finish(std::move(n), own, {sums ? build.num(0) : v[1]}, x, sums);
    n = columns(0);
    v = n.v;
    x = load(own, {sums ? build.num(0) : elsewhere(build, v[1], s[1])}) - load(from, v);
  }
  build.finish(std::move(n), to, v, build.clamp(x), false);
  if (around && !direct) build.share_loop();
  stmt body = taken(build, first);
  if (around)
    body = sums ? at_once(build, body) : all_at_once(build, body);
  else if (!sums)
    body = parts_at_once(build, body);

  block_node b = outer.block;
  const expr row = around ? build.num(0) : outer.v[0];
  const std::vector<range> box{{row, build.num(around ? s[0] : 1)},
                               {build.num(0), build.num(s[1])}};
  b.name = build.fresh_name(to->name + "_all");
  b.reads = {{from, box}};
  b.writes = {{to, box}};
  b.body = body;
  const bool inside = chance(build.draw, 60);
  if (!direct) (inside ? b.alloc_buffers : build.temps).push_back(own);
  if (!direct && !inside) {
    const std::vector<range> all{{build.num(0), own->shape[0]}};
    b.reads.push_back({own, all});
    b.writes.push_back({own, all});
  }
  build.stages.push_back(build.wrap_as_told(outer, std::move(b)));
  std::erase(build.ready, own);
  if (followed) {
    n = plain_loops(build, s, 0);
    v = n.v;
    x = build.clamp(load(to, v) + build.value(1));
    build.finish(std::move(n), build.result(s, last), v, x, false);
    build.share_loop();
  }
  if (!around && chance(build.draw, 75)) build.stages.back() = at_once(build, build.stages.back());
}

}  // namespace laws::stages
