#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_layout.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_product.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_rows.hpp>
#include <tilewright/impl/pass/gpu/fragments/operand_layouts.hpp>
#include <tilewright/impl/pass/gpu/groups/group_operands.hpp>
#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/impl/pass/gpu/pieces.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/spread_fragments.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::fragments {

class spreader : public operand_layouts {
 public:
  using mutator::mutate;

  /// Finds out how the fragments of the function are laid out.
  explicit spreader(const stmt& s) { find_layouts(s); }

  /// All of the function's statements.
  stmt run(const stmt& s) {
    const stmt out = mutate(s);
    return in_columns_.empty() ? out : replace_buffers(out, in_columns_);
  }

  stmt mutate(const stmt& s) override {
    switch (s->kind) {
      case stmt_kind::loop: return mutate_loop(s);
      case stmt_kind::allocate: return mutate_allocate(*as_allocate(s));
      case stmt_kind::if_else: {
        const if_node& n = *as_if(s);
        if (touches_fragments(make_evaluate(n.condition)))
          throw build_error("a condition reads fragments, which lie spread over a warp");
        return branch(n);
      }
      case stmt_kind::store: return touches_fragments(s) ? spread(*as_store(s)) : s;
      default:
        if (s->kind != stmt_kind::seq && s->kind != stmt_kind::attribute &&
            s->kind != stmt_kind::let && touches_fragments(s))
          throw build_error(
              "a statement touches fragments and is neither a store nor a loop of such");
        return mutator::mutate(s);
    }
  }

 private:
  /// What is asked of single elements is asked where they are touched.
  stmt branch(const if_node& n) {
    guards_.push_back(n.condition);
    stmt yes = mutate(n.then_body);
    guards_.back() = logical_not(n.condition);
    stmt no = n.else_body ? mutate(n.else_body) : stmt{};
    guards_.pop_back();
    std::vector<expr> outside;
    for (const expr& term : conjuncts(n.condition))
      if (!support::any(loops_.around(), [&](const loop_node* l) {
            return loops_.found(l->var) && uses_var(term, l->var);
          }))
        outside.push_back(term);
    if (outside.empty()) return no ? make_seq({std::move(yes), std::move(no)}) : yes;
    return make_if(conjunction(outside), std::move(yes), std::move(no));
  }

  // ---- statements ---------------------------------------------------------------------------------

  stmt mutate_loop(const stmt& s) {
    const loop_node& loop = *as_loop(s);
    if (const auto reduction = row_reduction_of(loop)) return reduce_rows(*reduction);
    loops_.enter(loop);
    stmt body = mutate(loop.body);
    loops_.leave();
    const tile_loops::tiles* const found = loops_.found(loop.var);
    if (!found) return body == loop.body ? s : with_body(loop, std::move(body));
    bool used = false;
    for_each_expr(body, [&](const expr& e) { used = used || e.same(loop.var); });
    if (used)
      throw build_error(
          "loop " + loop.var->name +
          " runs over the tiles of fragments and over something else; give each a loop");
    const std::int64_t count =
        constant_extent(loop) / found->size / (paired_.count(loop.var) ? 2 : 1);
    if (count == 1) return substitute(body, {{found->number, integer(loop.var.type(), 0)}});
    const loop_kind kind = loop.loop == loop_kind::vectorized ? loop_kind::serial : loop.loop;
    return make_loop(found->number, loop.min, integer(loop.extent.type(), count), std::move(body),
                     kind, loop.annotations);
  }

  stmt mutate_allocate(const allocate_node& n) {
    stmt body = mutate(n.body);
    return make_allocate(is_fragment(n.buffer) ? spread_buffer(n.buffer) : n.buffer,
                         std::move(body));
  }

  static stmt on_lanes(const var& lane, stmt body, std::int64_t threads = lanes) {
    return make_loop(lane, integer(dtype::i32, 0), integer(dtype::i32, threads), std::move(body),
                     loop_kind::thread_binding, {}, "threadIdx.x");
  }

  stmt spread(const store_node& s) {
    if (const auto p = product_of(s)) return multiply(s, *p);
    // one of the fragments, and the layout that all have to agree with
    if (is_rows(s.buffer)) return each_row(s);
    std::vector<std::pair<buffer, std::vector<expr>>> all;
    if (is_fragment(s.buffer)) all.emplace_back(s.buffer, s.indices);
    for_each_expr(s.value, [&](const expr& e) {
      if (e->op == op::load && is_fragment(e->buffer) && !is_rows(e->buffer))
        all.emplace_back(e->buffer, e->args);
    });
    if (all.empty())
      refuse(s.buffer,
             "is stored numbers of rows, which lie in fragments; copy them to fragments first");
    const layout how = layout_of(all[0].first);
    const auto [row, column] = loops_.loops_of(all[0].first, all[0].second);
    if (row == column) refuse(all[0].first, "is touched along a diagonal");
    for (const auto& [b, at] : all)
      if (loops_.loops_of(b, at) != std::pair{row, column} || layout_of(b) != how)
        refuse(b, "is laid out in a warp in another way than " + all[0].first->name +
                      ", which stands in the same statement; copy one through shared memory");
    if (stmt fast = load_matrix(s, how, *row, *column)) return fast;
    return each_element(s, how, *row, *column);
  }

  stmt each_element(const store_node& s, const layout& how, const loop_node& row,
                    const loop_node& column) {
    const var lane = make_var("lane"), group = make_var("group"), i = make_var("element");
    const expr element = how.element(group, i);
    const auto [r, c] = how.place(lane, group, i);
    const var_map here = {{row.var, loops_.in_tile(row, r, how.rows())},
                          {column.var, loops_.in_tile(column, c, tile)}};
    const expr value = of_lane(s.value, how, group, element, &row);
    stmt out;
    if (is_fragment(s.buffer)) {
      out = make_store(spread_buffer(s.buffer), spread_indices(s.buffer, s.indices, element),
                       substitute(value, here));
    } else {
      std::vector<expr> at;
      for (const expr& e : s.indices) at.push_back(substitute(e, here));
      out = make_store(s.buffer, std::move(at), substitute(value, here));
    }
    out = guarded(std::move(out), row, column, here);
    const bool vectors = !is_fragment(s.buffer) || loads_memory(value);
    out = make_loop(i, integer(dtype::i32, 0), integer(dtype::i32, how.part), std::move(out),
                    vectors ? loop_kind::vectorized : loop_kind::unrolled);
    out = make_loop(group, integer(dtype::i32, 0), integer(dtype::i32, how.groups()),
                    std::move(out), loop_kind::unrolled);
    return on_lanes(lane, std::move(out), how.threads());
  }

  /// What a lane has of the fragments that an expression loads, for one of its elements.
  expr of_lane(const expr& value, const layout& how, const expr& group, const expr& element,
               const loop_node* row) {
    return rewrite(value, [&](const expr& e) {
      if (e->op != op::load || !is_fragment(e->buffer)) return e;
      if (!is_rows(e->buffer))
        return load(spread_buffer(e->buffer), spread_indices(e->buffer, e->args, element));
      if (!has_rows(how) || row_index_of(e->buffer, e->args).loop != row)
        refuse(e->buffer, "is no number of the rows of the fragments that it stands beside");
      return load(spread_buffer(e->buffer),
                  row_indices(e->buffer, e->args, floormod(group, rows_of_lane)));
    });
  }

  /// A statement for each row: each lane does it for the two rows that it has.
  stmt each_row(const store_node& s) {
    const loop_node* const row = row_index_of(s.buffer, s.indices).loop;
    const var lane = make_var("lane"), half = make_var("half");
    const expr place = floordiv(lane, lanes_of_row) + half * 8;
    const var_map here = {{row->var, loops_.in_tile(*row, place, tile)}};
    const expr value = rewrite(s.value, [&](const expr& e) {
      if (e->op != op::load || !is_fragment(e->buffer)) return e;
      if (!is_rows(e->buffer) || row_index_of(e->buffer, e->args).loop != row)
        refuse(e->buffer, "lies otherwise than " + s.buffer->name + ", which is stored to");
      return load(spread_buffer(e->buffer), row_indices(e->buffer, e->args, half));
    });
    stmt out = make_store(spread_buffer(s.buffer), row_indices(s.buffer, s.indices, half),
                          substitute(value, here));
    out = guarded(std::move(out), *row, *row, here);
    return on_lanes(lane, unrolled(half, rows_of_lane, std::move(out)));
  }
  static stmt unrolled(const var& v, std::int64_t count, stmt body) {
    return make_loop(v, integer(dtype::i32, 0), integer(dtype::i32, count), std::move(body),
                     loop_kind::unrolled);
  }

  /// Each lane combines what it has of a row, then the four lanes of the row what they have.
  stmt reduce_rows(const row_reduction& r) {
    const store_node& s = *r.store;
    for (const loop_node* l : r.loops) loops_.enter(*l);
    const expr_node& first = *tile_load(s.value);
    const layout how = layout_of(first.buffer);
    const auto [row, column] = loops_.loops_of(first.buffer, first.args);
    const bool both =
        (row == r.loops[0] && column == r.loops[1]) || (row == r.loops[1] && column == r.loops[0]);
    if (!both || !has_rows(how) || row_index_of(s.buffer, s.indices).loop != row)
      refuse(s.buffer, "is reduced over something else than the columns of fragments");
    if (is_guarded({row, column}))
      refuse(s.buffer, "is reduced under a condition on single elements; select them instead");
    const var lane = make_var("lane"), group = make_var("group"), i = make_var("element"),
              half = make_var("half");
    const auto [at_row, at_column] = how.place(lane, group, i);
    const var_map here = {{row->var, loops_.in_tile(*row, at_row, tile)},
                          {column->var, loops_.in_tile(*column, at_column, tile)}};
    const expr value =
        substitute(of_lane(r.step.value[0], how, group, how.element(group, i), row), here);
    const buffer part = make_buffer(s.buffer->name + "_of_lane", s.buffer->type,
                                    {integer(dtype::i32, rows_of_lane)}, "local");
    const std::vector<expr> mine{floormod(group, rows_of_lane)}, of_half{half};
    stmt sums = unrolled(
        group, how.groups(),
        unrolled(i, how.part,
                 make_store(part, mine, combined_in_row(r.step, load(part, mine), value))));
    sums = over_tiles(*column, std::move(sums));
    const std::vector<expr> place = row_indices(s.buffer, s.indices, half);
    const buffer& to = spread_buffer(s.buffer);
    stmt all = make_seq(
        {unrolled(half, rows_of_lane, make_store(part, of_half, r.step.identity()[0])),
         std::move(sums),
         rename_loops(unrolled(half, rows_of_lane,
                               make_seq({combine_lanes(r.step, part, of_half),
                                         make_store(to, place,
                                                    combined_in_row(r.step, load(to, place),
                                                                    load(part, of_half)))})))});
    all = over_tiles(*row, make_allocate(part, std::move(all)));
    for (std::size_t l = 0; l < r.loops.size(); ++l) loops_.leave();
    return on_lanes(lane, std::move(all));
  }
  /// The loop over the tiles of a loop, as it stands around one of them.
  stmt over_tiles(const loop_node& loop, stmt body) {
    const var number = loops_.tiles_of(loop, tile);
    const std::int64_t count = constant_extent(loop) / tile;
    if (count == 1) return substitute(body, {{number, integer(number.type(), 0)}});
    return make_loop(number, loop.min, integer(loop.extent.type(), count), std::move(body));
  }

  static bool loads_memory(const expr& e) {
    bool out = false;
    for_each_expr(e, [&](const expr& x) {
      out = out || (x->op == op::load && storage_rank(x->buffer->scope) < 2);
    });
    return out;
  }

  /// Conditions inside of the loops over a tile are asked for each element.
  stmt guarded(stmt s, const loop_node& row, const loop_node& column, const var_map& here) {
    std::vector<expr> terms;
    for (expr& g : guards_)
      if (uses_var(g, row.var) || uses_var(g, column.var)) terms.push_back(substitute(g, here));
    return terms.empty() ? s : make_if(conjunction(terms), std::move(s));
  }
  bool is_guarded(std::initializer_list<const loop_node*> by) const {
    return support::any(guards_, [&](const expr& g) {
      return support::any(by, [&](const loop_node* l) { return uses_var(g, l->var); });
    });
  }

  /// The first of the elements of a tile that a lane has, or of some of them.
  expr first_element(const buffer& b, const std::vector<expr>& indices,
                     const expr& first = layout::integer32(0)) {
    return load(spread_buffer(b), spread_indices(b, indices, first));
  }

  stmt multiply(const store_node& s, const product& p) {
    if (is_group_sum(s.buffer)) return multiply_in_group(s, p);
    const auto [i, j] = loops_.loops_of(s.buffer, s.indices);
    const auto [x, y] = loops_.loops_of(p.a->buffer, p.a->args);
    if (is_guarded({i, j, x, y}))
      refuse(s.buffer, "is summed under a condition on single elements; pad the operands instead");
    const loop_node& k = x == i ? *y : *x;
    const bool pairs = takes_pairs(s, p, k);
    std::vector<expr> arguments{first_element(s.buffer, s.indices)};
    const expr number = loops_.tiles_of(k, tile);
    for (const expr& operand : {p.a, p.b}) {
      const expr first = first_element(operand->buffer, operand->args);
      if (!pairs) arguments.push_back(first);
      for (int half = 0; pairs && half < 2; ++half)
        arguments.push_back(
            substitute(first, {{number, number * 2 + integer(number.type(), half)}}));
    }
    if (pairs) paired_.insert(k.var);
    const char* const name = pairs ? "tw_mma_pair" : "tw_mma";
    return on_lanes(make_var("lane"), make_evaluate(call(dtype::i32, name, std::move(arguments))));
  }

  /// 64 rows at once, as many columns as there are up to 256, and 16 steps: who has written the operands is asked of
  /// all their elements.
  stmt multiply_in_group(const store_node& s, const product& p) {
    const group_operands of = operands_of_group(s, p, loops_);
    if (is_guarded({of.row, of.column, of.k}))
      refuse(s.buffer, "is summed under a condition on single elements; pad the operands instead");
    std::vector<expr> arguments;
    std::vector<expr> at(s.indices.begin(), s.indices.end() - 2);
    at.push_back(loops_.tile_number(of.sum_row));
    const expr first = of.first_column_tile(loops_);
    for (std::int64_t n = 0; n < of.columns / tile; ++n)
      for (std::int64_t e = 0; e < registers; ++e) {
        std::vector<expr> mine = at;
        mine.push_back(first + integer(first.type(), n));
        mine.push_back(layout::integer32(e));
        arguments.push_back(load(spread_buffer(s.buffer), std::move(mine)));
      }
    const var r = make_var("row"), c = make_var("column"), k = make_var("step");
    const var_map here = {{of.row->var, loops_.in_tile(*of.row, r, groups::rows)},
                          {of.column->var, loops_.in_tile(*of.column, c, of.columns)},
                          {of.k->var, loops_.in_tile(*of.k, k, groups::steps)}};
    for (const expr& operand : {of.a, of.b}) {
      arguments.push_back(substitute(operand, here));
      note_panels(operand->buffer);
    }
    stmt touched = make_evaluate(call(dtype::i32, groups::product_name, std::move(arguments)));
    for (const auto& [v, extent] :
         {std::pair(k, groups::steps), std::pair(c, of.columns), std::pair(r, groups::rows)})
      touched = make_loop(v, layout::integer32(0), layout::integer32(extent), std::move(touched));
    return on_lanes(make_var("lane"),
                    make_attribute(text("products"), groups::product_key,
                                   layout::integer32(of.columns), std::move(touched)),
                    groups::lanes);
  }

  /// What warp groups multiply lies in panels.
  void note_panels(const buffer& b) {
    buffer& out = in_columns_[b];
    if (out) return;
    if (!b->strides.empty())
      refuse_operand(
          b,
          "has strides; leave out storage_align, since tensor cores have a pattern of their own");
    buffer_node node = *b;
    node.scope = groups::panels_scope;
    out = buffer(new buffer_node(std::move(node)));
  }

  /// Whether two tiles of bytes along `k` are multiplied at once, by m16n8k32; nothing else may stand in the loop.
  bool takes_pairs(const store_node& s, const product& p, const loop_node& k) const {
    if (bytes(p.a->buffer->type) != 1 || constant_extent(k) % (2 * tile) != 0) return false;
    const stmt* inside = &k.body;
    while (const loop_node* l = as_loop(*inside)) inside = &l->body;
    return as_store(*inside) == &s;
  }

  /// A copy of rows of shared memory by ldmatrix; null where it is none.
  stmt load_matrix(const store_node& s, const layout& how, const loop_node& row,
                   const loop_node& column) {
    if (!copies_shared(s) || is_guarded({&row, &column})) return {};
    const std::vector<expr>& at = s.value->args;
    const auto lies = lies_transposed(s, how, row, column);
    if (!lies) return {};
    const bool transposed = *lies;
    if (transposed && bytes(s.buffer->type) == 4) note_columns(s.value->buffer);
    if (transposed && bytes(s.buffer->type) != 2 && !how.interleaved) return {};
    if (!transposed && how.interleaved) return {};
    const var lane = make_var("lane");
    const std::int64_t loads = loads_of_tile(how), count = registers / loads;
    const var part = make_var("part");
    const expr number = loads == 1 ? layout::integer32(0) : expr(part);
    const auto [r, c] = pointed_row(how, transposed, lane, number);
    const var_map here = {{row.var, loops_.in_tile(row, r, how.rows())},
                          {column.var, loops_.in_tile(column, c, tile)}};
    std::vector<expr> first;
    for (const expr& e : at) first.push_back(substitute(e, here));
    std::vector<expr> arguments{first_element(s.buffer, s.indices, number * count),
                                load(s.value->buffer, std::move(first))};
    const char* const name = transposed ? "tw_load_transposed" : "tw_load_matrix";
    const stmt all = on_lanes(lane, make_evaluate(call(dtype::i32, name, std::move(arguments))));
    // one statement of a pipeline, however many loads it takes
    return loads == 1 ? all
                      : make_loop(part, layout::integer32(0), layout::integer32(loads), all,
                                  loop_kind::unrolled);
  }

  /// Elements of 4 bytes that lie transposed are loaded one by one, four rows of eight at once.
  void note_columns(const buffer& b) {
    if (!b->strides.empty() || (b->scope != "shared" && b->scope != "shared.dyn")) return;
    buffer& out = in_columns_[b];
    if (out) return;
    buffer_node node = *b;
    node.scope = columns_scope;
    out = buffer(new buffer_node(std::move(node)));
  }

  std::vector<expr> guards_;
  var_set paired_;  // loops over two tiles at a time
  buffer_map in_columns_;
};

}  // namespace tilewright::pass::detail::fragments

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function spread_fragments(const ir::function& f) {
  if (!detail::fragments::touches_fragments(f.body)) return f;
  ir::function out = f;
  out.body = detail::fragments::spreader(f.body).run(f.body);
  return out;
}

}  // namespace tilewright::pass
