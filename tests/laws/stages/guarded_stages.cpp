#include "guarded_stages.hpp"

#include <algorithm>

namespace laws::stages {

using namespace tilewright::ir;

namespace {

enum class use : std::int64_t { guard, condition, value, bound, reduction };

/// Numbers from 0 to below `limit`.
buffer write_marks(stage_builder& build, const shape& s, std::int64_t limit) {
  const buffer marks = build.make("M" + std::to_string(build.made++), s, build.index);
  if (chance(build.draw, 15))
    build.params.push_back({marks, {}});
  else
    build.temps.push_back(marks);
  const buffer from = build.own_input(s, build.index);
  nest n = build.loops_over(s, 0);
  const indices at = n.v;
  const expr sum = load(from, at) + at.back() * build.num(1 + pick(build.draw, 3));
  build.finish(std::move(n), marks, at, floormod(sum, build.num(limit)), false);
  if (build.type != build.index) std::erase(build.ready, marks);
  return marks;
}

void change_marks(stage_builder& build, const buffer& marks, std::int64_t limit) {
  nest n = build.loops_over(build.shape_of(marks), 0);
  const indices at = n.v;
  const expr next = load(marks, at) * build.num(2) + build.num(1);
  build.finish(std::move(n), marks, at, floormod(next, build.num(limit)), false);
  if (build.type != build.index) std::erase(build.ready, marks);
}

void add_use(stage_builder& build, nest& n, use how, const expr& mark) {
  n.values.assign(n.loops.begin(), n.loops.end());
  for (const iter_var& i : n.block.iters) n.bounds.push_back(i.dom);
  const expr holds = chance(build.draw, 50) ? gt(mark, build.num(0)) : eq(mark, build.num(1));
  switch (how) {
    case use::guard: n.guard = holds; break;
    case use::condition: n.condition = holds; break;
    case use::value:
      n.v.push_back(make_var("vm", build.index));
      n.block.iters.push_back({n.v.back(), n.block.iters[0].dom, iter_kind::spatial});
      n.values.push_back(mark);
      break;
    case use::bound:
    case use::reduction: n.bounds.back().extent = mark; break;
  }
}

}  // namespace

buffer filled(stage_builder& build, const buffer& from, const shape& s, bool last) {
  std::vector<buffer> mine = build.overwritable();
  std::erase_if(mine, [&](const buffer& b) { return b == from || build.shape_of(b) != s; });
  if (!mine.empty() && !last && chance(build.draw, 40)) return any(build.draw, mine);
  const buffer to = build.result(s, last);
  nest n = build.loops_over(s, 0);
  const indices at = n.v;
  const bool alike = build.shape_of(from) == s;
  build.finish(std::move(n), to, at, alike ? load(from, at) + build.value(1) : build.value(2),
               false);
  return to;
}

void guarded(stage_builder& build, bool last) {
  const use how = any(build.draw, std::vector<use>{use::guard, use::condition, use::value,
                                                   use::bound, use::reduction});
  const bool sums = how == use::reduction, inner = sums || how == use::bound;
  const buffer* found = build.source_of_rank(inner || chance(build.draw, 50) ? 2 : 1);
  const buffer from =
      found ? *found : build.own_input({1 + pick(build.draw, 6), 1 + pick(build.draw, 6)});
  const shape s = build.shape_of(from), rows{s[0]};
  // a sum that starts with its first element has one
  const bool starts = sums && chance(build.draw, 50);
  const buffer to = how == use::value || starts ? build.result(sums ? rows : s, last)
                                                : filled(build, from, sums ? rows : s, last);

  const bool flat = inner || chance(build.draw, 60), shared = chance(build.draw, 60);
  const bool changes = chance(build.draw, 40);
  const std::int64_t limit = how == use::value ? s[0] : inner ? s[1] + (starts ? 0 : 1) : 3;
  const buffer marks = write_marks(build, flat ? rows : s, limit);

  nest n = build.loops_over(s, sums ? 1 : 0);
  indices at(n.loops.begin(), n.loops.end());
  at.resize(marks->shape.size());
  if (chance(build.draw, 40))
    at[0] = changes ? ir::min(at[0] + build.num(1), build.num(s[0] - 1))
                    : ir::max(at[0] - build.num(1), build.num(0));
  const expr mark = load(marks, at);
  add_use(build, n, how, starts ? mark + build.num(1) : mark);
  indices source = n.v, place = n.v;
  if (how == use::value) {
    source[0] = n.v.back();
    source.pop_back(), place.pop_back();
  }
  if (sums) place.pop_back();
  const expr x = load(from, source);
  if (starts)
    build.finish(std::move(n), to, place, x, true, chance(build.draw, 30));
  else
    build.finish(std::move(n), to, place,
                 build.clamp(sums ? load(to, place) + x : x * build.value(2) - build.value(1)),
                 false);
  if (shared && !changes) build.share_loop();
  if (!changes) return;
  change_marks(build, marks, limit);
  if (shared) build.share_loop();
}

}  // namespace laws::stages
