#include "guarded_stages.hpp"

#include <algorithm>

namespace laws {

using namespace tilewright::ir;

buffer guarded_stages::write_marks(const shape& s, std::int64_t limit) {
  const buffer marks = make("M" + std::to_string(names_++), s, index_);
  if (chance(draw_, 15))
    params_.push_back({marks, {}});
  else
    temps_.push_back(marks);
  const buffer from = own_input(s, index_);
  nest n = loops_over(s, 0);
  const indices at = n.v;
  const expr sum = load(from, at) + at.back() * num(1 + pick(draw_, 3));
  finish(std::move(n), marks, at, floormod(sum, num(limit)), false);
  if (type_ != index_) std::erase(ready_, marks);
  return marks;
}

void guarded_stages::change_marks(const buffer& marks, std::int64_t limit) {
  nest n = loops_over(shape_of(marks), 0);
  const indices at = n.v;
  const expr next = load(marks, at) * num(2) + num(1);
  finish(std::move(n), marks, at, floormod(next, num(limit)), false);
  if (type_ != index_) std::erase(ready_, marks);
}

buffer guarded_stages::filled(const buffer& from, const shape& s, bool last) {
  std::vector<buffer> mine = overwritable();
  std::erase_if(mine, [&](const buffer& b) { return b == from || shape_of(b) != s; });
  if (!mine.empty() && !last && chance(draw_, 40)) return any(draw_, mine);
  const buffer to = result(s, last);
  nest n = loops_over(s, 0);
  const indices at = n.v;
  const bool alike = shape_of(from) == s;
  finish(std::move(n), to, at, alike ? load(from, at) + value(1) : value(2), false);
  return to;
}

void guarded_stages::add_use(nest& n, use how, const expr& mark) {
  n.values.assign(n.loops.begin(), n.loops.end());
  for (const iter_var& i : n.block.iters) n.bounds.push_back(i.dom);
  const expr holds = chance(draw_, 50) ? gt(mark, num(0)) : eq(mark, num(1));
  switch (how) {
    case use::guard: n.guard = holds; break;
    case use::condition: n.condition = holds; break;
    case use::value:
      n.v.push_back(make_var("vm", index_));
      n.block.iters.push_back({n.v.back(), n.block.iters[0].dom, iter_kind::spatial});
      n.values.push_back(mark);
      break;
    case use::bound:
    case use::reduction: n.bounds.back().extent = mark; break;
  }
}

void guarded_stages::guarded(bool last) {
  const use how = any(
      draw_, std::vector<use>{use::guard, use::condition, use::value, use::bound, use::reduction});
  const bool sums = how == use::reduction, inner = sums || how == use::bound;
  const buffer* found = source_of_rank(inner || chance(draw_, 50) ? 2 : 1);
  const buffer from = found ? *found : own_input({1 + pick(draw_, 6), 1 + pick(draw_, 6)});
  const shape s = shape_of(from), rows{s[0]};
  // a sum that starts with its first element has one
  const bool starts = sums && chance(draw_, 50);
  const buffer to = how == use::value || starts ? result(sums ? rows : s, last)
                                                : filled(from, sums ? rows : s, last);

  const bool flat = inner || chance(draw_, 60), shared = chance(draw_, 60);
  const bool changes = chance(draw_, 40);
  const std::int64_t limit = how == use::value ? s[0] : inner ? s[1] + (starts ? 0 : 1) : 3;
  const buffer marks = write_marks(flat ? rows : s, limit);

  nest n = loops_over(s, sums ? 1 : 0);
  indices at(n.loops.begin(), n.loops.end());
  at.resize(marks->shape.size());
  if (chance(draw_, 40))
    at[0] = changes ? ir::min(at[0] + num(1), num(s[0] - 1)) : ir::max(at[0] - num(1), num(0));
  const expr mark = load(marks, at);
  add_use(n, how, starts ? mark + num(1) : mark);
  indices source = n.v, place = n.v;
  if (how == use::value) {
    source[0] = n.v.back();
    source.pop_back(), place.pop_back();
  }
  if (sums) place.pop_back();
  const expr x = load(from, source);
  if (starts)
    finish(std::move(n), to, place, x, true, chance(draw_, 30));
  else
    finish(std::move(n), to, place, clamp(sums ? load(to, place) + x : x * value(2) - value(1)),
           false);
  if (shared && !changes) share_loop();
  if (!changes) return;
  change_marks(marks, limit);
  if (shared) share_loop();
}

}  // namespace laws
