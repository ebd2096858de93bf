#include "stage_builder.hpp"

#include <algorithm>

#include <tilewright/arith/region.hpp>
#include <tilewright/ir/visit.hpp>

namespace laws::stages {

using namespace tilewright::ir;

stage_builder::stage_builder(support::random& drawn, bool may_be_symbolic) : draw(drawn) {
  type = chance(draw, 50) ? dtype::i32 : dtype::f32;
  index = chance(draw, 85) ? dtype::i32 : dtype::i64;
  exact = type == dtype::i32 || chance(draw, 70);
  symbolic = chance(draw, 12) && may_be_symbolic;
  extent_n = make_var("n", index);
  extent_m = make_var("m", index);
  threads = chance(draw, 20);
}

std::int64_t stage_builder::extent(std::int64_t rank) {
  static const std::vector<std::int64_t> sizes{1, 2, 3, 4, 5, 6, 7, 8, 9, 4, 6, 8};
  if (symbolic && rank <= 2 && chance(draw, 60))
    return chance(draw, 50) ? n_stands_for : m_stands_for;
  return rank > 2 ? 1 + pick(draw, 4) : any(draw, sizes);
}

shape stage_builder::shape_of(const buffer& b) const {
  shape out;
  for (const expr& e : b->shape)
    out.push_back(is_int(e) ? e->integer : e.same(extent_n) ? n_stands_for : m_stands_for);
  return out;
}

expr stage_builder::dim(std::int64_t v) const {
  if (symbolic && v == n_stands_for) return extent_n;
  if (symbolic && v == m_stands_for) return extent_m;
  return num(v);
}

buffer stage_builder::make(const std::string& name, const shape& s, std::optional<dtype> of) const {
  std::vector<expr> dims;
  for (const std::int64_t e : s) dims.push_back(dim(e));
  return make_buffer(name, of.value_or(type), std::move(dims));
}

void stage_builder::add_inputs() {
  const std::int64_t inputs = 1 + pick(draw, 2);
  for (std::int64_t i = 0; i < inputs; ++i) {
    const std::int64_t rank = i == 0 || chance(draw, 60) ? 2 : pick(draw, 5);
    shape s;
    for (std::int64_t d = 0; d < rank; ++d) s.push_back(extent(rank));
    input(make("A" + std::to_string(i), s));
  }
  input(make("V", {symbolic ? n_stands_for : extent(1)}));
  if (symbolic) input(make("W", {m_stands_for}));
}

void stage_builder::input(const buffer& b) {
  params.push_back({b, {}});
  ready.push_back(b);
}

buffer stage_builder::own_input(const shape& s, std::optional<dtype> of) {
  const buffer b = make("A" + std::to_string(made++) + "b", s, of);
  params.push_back({b, {}});
  return b;
}

buffer stage_builder::result(const shape& s, bool last) {
  const buffer b = make("T" + std::to_string(made++), s);
  if (last || chance(draw, 15))
    params.push_back({b, {}});
  else
    temps.push_back(b);
  return b;
}

const buffer& stage_builder::source() {
  // recent results are more interesting than inputs
  if (chance(draw, 60)) return ready.back();
  return any(draw, ready);
}

const buffer* stage_builder::source_of_rank(std::size_t rank) {
  std::vector<const buffer*> fit;
  for (const buffer& b : ready)
    if (b->shape.size() == rank) fit.push_back(&b);
  if (fit.empty()) return nullptr;
  return chance(draw, 60) ? fit.back() : any(draw, fit);
}

std::vector<buffer> stage_builder::overwritable() const {
  std::vector<buffer> out;
  for (const buffer& b : ready)
    if (b->name[0] == 'T') out.push_back(b);
  return out;
}

void stage_builder::now_ready(const buffer& b) {
  std::erase(ready, b);
  ready.push_back(b);
}

nest stage_builder::loops_over(const shape& extents, std::size_t reduced) {
  nest out;
  static const char* names[] = {"i", "j", "k", "l"};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    out.loops.push_back(make_var(names[d], index));
    out.v.push_back(make_var(std::string("v") + names[d], index));
    out.block.iters.push_back(
        {out.v.back(),
         {num(0), dim(extents[d])},
         d + reduced < extents.size() ? iter_kind::spatial : iter_kind::reduce});
  }
  return out;
}

stmt stage_builder::wrap(const nest& n, block_node b) {
  if (!n.bounds.empty()) return wrap_as_told(n, std::move(b));
  std::vector<expr> extents, values(n.loops.begin(), n.loops.end());
  std::vector<var> loops = n.loops;
  for (const iter_var& i : b.iters) extents.push_back(i.dom.extent);
  expr guard = boolean(true);
  if (!loops.empty() && chance(draw, 10)) {
    const auto d = static_cast<std::size_t>(pick(draw, static_cast<std::int64_t>(loops.size())));
    if (is_int(extents[d])) {
      const std::int64_t total = extents[d]->integer, by = 2 + pick(draw, 3);
      const var outer = make_var("outer", index), inner = make_var("inner", index);
      values[d] = outer * num(by) + inner;
      if (total % by != 0) guard = lt(values[d], num(total));
      loops[d] = outer;
      extents[d] = num((total + by - 1) / by);
      loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(d) + 1, inner);
      extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(d) + 1, num(by));
    }
  }
  stmt s = make_realize(std::move(values), guard, make_block(std::move(b)));
  for (std::size_t d = loops.size(); d-- > 0;)
    s = make_loop(loops[d], num(0), extents[d], std::move(s));
  return s;
}

stmt stage_builder::wrap_as_told(const nest& n, block_node b) {
  std::vector<expr> values = n.values;
  if (values.empty() && !b.iters.empty()) values.assign(n.loops.begin(), n.loops.end());
  stmt s =
      make_realize(std::move(values), n.guard ? n.guard : boolean(true), make_block(std::move(b)));
  if (n.condition) s = make_if(n.condition, std::move(s));
  for (std::size_t d = n.loops.size(); d-- > 0;)
    s = make_loop(n.loops[d], n.bounds[d].min, n.bounds[d].extent, std::move(s));
  return s;
}

std::string stage_builder::fresh_name(const std::string& like) {
  std::string name = like;
  for (int k = 1; std::count(block_names.begin(), block_names.end(), name); ++k)
    name = like + "_" + std::to_string(k);
  block_names.push_back(name);
  return name;
}

void stage_builder::declare_reads(block_node& b) {
  std::vector<buffer_region> reads, unused;
  arith::access_options options;
  options.use_conditions = false;
  arith::access_regions(b.body, reads, unused, {}, options);
  for (buffer_region& r : reads) {
    const bool updated = std::any_of(b.writes.begin(), b.writes.end(),
                                     [&](const auto& w) { return w.buffer == r.buffer; });
    if (!b.init || !updated) b.reads.push_back(std::move(r));
  }
}

void stage_builder::finish(nest n, const buffer& to, const indices& at, const expr& e, bool reduces,
                           bool peak) {
  block_node& b = n.block;
  b.name = fresh_name(to->name);
  b.writes = {{to, point_box(at)}};
  const expr old = load(to, at);
  b.body = make_store(to, at, reduces ? (peak ? ir::max(old, e) : old + e) : e);
  if (reduces) b.init = make_store(to, at, peak ? lowest_value(type) : value(0));
  declare_reads(b);
  stages.push_back(wrap(n, std::move(b)));
  now_ready(to);
}

/// One loop around what is below two loops that are alike; null where they are not.
stmt stage_builder::joined(const stmt& first, const stmt& second) {
  const loop_node *a = as_loop(first), *b = as_loop(second);
  const auto is_plain = [](const loop_node* l) {
    return l && l->var->name != "outer" && is_int(l->min, 0) && is_int(l->extent);
  };
  if (!is_plain(a) || !is_plain(b) || as_int(a->extent) != as_int(b->extent)) return {};
  return make_loop(a->var, a->min, a->extent,
                   make_seq({a->body, ir::substitute(b->body, ir::var_map{{b->var, a->var}})}));
}

void stage_builder::share_loop() {
  const stmt shared = joined(stages[stages.size() - 2], stages.back());
  if (!shared) return;
  stages.pop_back();
  stages.back() = shared;
}

void stage_builder::share_inner_loop() {
  const loop_node* outer = as_loop(stages.back());
  const seq_node* both = outer ? as_seq(outer->body) : nullptr;
  if (!both || both->stmts.size() != 2) return;
  if (const stmt shared = joined(both->stmts[0], both->stmts[1]))
    stages.back() = with_body(*outer, shared);
}

program stage_builder::finished() const {
  program out;
  out.function.params = params;
  out.function.body = make_root(make_seq(stages), temps);
  out.exact = exact;
  if (symbolic) out.dims = {{"n", 1 + pick(draw, 9)}, {"m", 1 + pick(draw, 9)}};
  return out;
}

}  // namespace laws::stages
