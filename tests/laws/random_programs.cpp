#include "random_programs.hpp"

#include <algorithm>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/visit.hpp>

#include "stages/concurrent_stages.hpp"

namespace laws {
namespace {

using namespace tilewright::ir;

/// Builds one program stage by stage.
class generator : concurrent_stages {
 public:
  generator(support::random& draw, std::string_view theme)
      : concurrent_stages(draw, !find(theme) || find(theme)->symbolic), theme_(find(theme)) {}

  program run() {
    add_inputs();
    const std::int64_t count = 2 + pick(draw_, 5);
    for (std::int64_t i = 0; i < count; ++i) stage(i + 1 == count);
    return finished();
  }

 private:
  struct kind {
    std::string_view name;
    std::int64_t weight;
    bool symbolic;  // also where extents are variables
    void (generator::*add)(bool last);
  };
  static const std::vector<kind>& kinds() {
    static const std::vector<kind> all{
        {"elementwise", 3, true, &generator::elementwise},
        {"stencil", 2, true, &generator::stencil},
        {"padding", 1, false, &generator::padding},
        {"row_reduction", 2, true, &generator::row_reduction},
        {"product", 3, true, &generator::product},
        {"transpose", 1, true, &generator::transpose},
        {"reverse", 1, true, &generator::reverse},
        {"flatten", 1, false, &generator::flatten},
        {"unflatten", 1, false, &generator::unflatten},
        {"concat", 1, false, &generator::concat},
        {"in_place", 1, false, &generator::in_place},
        {"window", 1, false, &generator::window},
        {"arg_peak", 1, false, &generator::arg_peak},
        {"fold", 1, false, &generator::fold},
        {"total", 1, true, &generator::total},
        {"batched_product", 1, false, &generator::batched_product},
        {"bias", 1, false, &generator::bias},
        {"broadcast", 1, true, &generator::broadcast},
        {"gather", 1, false, &generator::gather},
        {"epilogue", 1, true, &generator::epilogue},
        {"blur", 2, false, &generator::blur},
        {"twins", 1, true, &generator::twins},
        {"dot", 1, false, &generator::dot},
        {"strided", 1, false, &generator::strided},
        {"shared_loop", 2, false, &generator::shared_loop},
        {"guarded", 2, false, &generator::guarded},
        {"triangle", 1, false, &generator::triangle},
        {"prefix", 1, false, &generator::prefix},
        {"triangles", 1, false, &generator::triangles},
        {"rewritten", 1, false, &generator::rewritten},
        {"crossing", 1, false, &generator::crossing},
        {"running", 1, false, &generator::running},
        {"chain", 1, false, &generator::chain},
        {"bare", 1, false, &generator::bare},
        {"matched", 1, false, &generator::matched},
        {"scratch", 1, false, &generator::scratch},
        {"skipping", 1, false, &generator::skipping},
        {"nested", 1, false, &generator::nested},
        {"given", 1, false, &generator::given},
        {"concurrent", 2, true, &generator::concurrent},
        {"own_scratch", 1, false, &generator::own_scratch},
        {"halo", 1, false, &generator::halo},
        {"own_sum", 1, false, &generator::own_sum},
        {"enclosing", 1, false, &generator::enclosing},
    };
    return all;
  }
  static const kind* find(std::string_view name) {
    for (const kind& k : kinds())
      if (k.name == name) return &k;
    return nullptr;
  }

  void stage(bool last) {
    if (theme_ && chance(draw_, 75)) return (this->*theme_->add)(last);
    std::vector<const kind*> fit;
    for (const kind& k : kinds())
      if (!symbolic_ || k.symbolic) fit.insert(fit.end(), static_cast<std::size_t>(k.weight), &k);
    (this->*any(draw_, fit)->add)(last);
  }

  void elementwise(bool last) {
    const buffer s = source();
    nest n = loops_over(shape_of(s), 0);
    expr e = load(s, n.v);
    for (const buffer& other : ready_)
      if (other != s && shape_of(other) == shape_of(s) && chance(draw_, 50))
        e = e + load(other, n.v);
    if (chance(draw_, 50)) e = e * value(2) + value(1);
    const indices at = n.v;
    finish(std::move(n), result(shape_of(s), last), at, clamp(e), false);
  }
  /// Neighbours within the buffer.
  void stencil(bool last) {
    const buffer s = source();
    if (s->shape.empty()) return elementwise(last);
    const shape e = shape_of(s);
    const auto d = static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(e.size())));
    nest n = loops_over(e, 0);
    indices left = n.v;
    const std::int64_t by = 1 + pick(draw_, 2);
    left[d] = left[d] - num(by);
    const expr near = if_then_else(ge(left[d], num(0)), load(s, left), value(0));
    const indices at = n.v;
    expr sum = load(s, at) + near;
    if (chance(draw_, 50)) {
      indices right = n.v;
      right[d] = right[d] + num(by);
      sum = sum - if_then_else(lt(right[d], dim(e[d])), load(s, right), value(1));
    }
    finish(std::move(n), result(e, last), at, clamp(sum), false);
  }
  void padding(bool last) {
    const buffer s = source();
    const shape inner = shape_of(s);
    if (inner.size() > 3) return elementwise(last);
    shape e = inner;
    for (std::int64_t& x : e) x += 2;
    nest n = loops_over(e, 0);
    indices from;
    expr inside = boolean(true);
    for (std::size_t d = 0; d < e.size(); ++d) {
      from.push_back(n.v[d] - num(1));
      inside = logical_and(inside, logical_and(ge(from[d], num(0)), lt(from[d], num(inner[d]))));
    }
    const indices at = n.v;
    finish(std::move(n), result(e, last), at, if_then_else(inside, load(s, from), value(0)), false);
  }
  void row_reduction(bool last) {
    const buffer* s = source_of_rank(2);
    if (!s) return elementwise(last);
    const buffer from = *s;
    const shape e = shape_of(from);
    const bool columns = chance(draw_, 40);
    nest n = loops_over(columns ? shape{e[1], e[0]} : e, 1);
    const expr x = load(from, columns ? indices{n.v[1], n.v[0]} : n.v);
    const indices at{n.v[0]};
    finish(std::move(n), result({columns ? e[1] : e[0]}, last), at, x, true, chance(draw_, 30));
  }
  /// C[i, j] = sum over k of S[i, k] * A[k, j], or the transposed second operand.
  void product(bool last) {
    const buffer* s = source_of_rank(2);
    if (!s) return elementwise(last);
    const buffer x = *s;
    const std::int64_t depth = shape_of(x)[1];
    buffer y;
    bool turned = false;
    for (const buffer& b : ready_) {
      if (b->shape.size() != 2) continue;
      if (shape_of(b)[0] == depth)
        y = b, turned = false;
      else if (shape_of(b)[1] == depth)
        y = b, turned = true;
    }
    if (!y) return row_reduction(last);
    const std::int64_t width = shape_of(y)[turned ? 0 : 1];
    nest n = loops_over({shape_of(x)[0], width, depth}, 1);
    const expr left = load(x, {n.v[0], n.v[2]}),
               right = load(y, turned ? indices{n.v[1], n.v[2]} : indices{n.v[2], n.v[1]});
    // products of results would leave the integers that a float holds
    const bool plain = type_ == dtype::i32 || (is_input(x) && is_input(y));
    const expr e = plain ? left * right : clamp(left * clamp(right));
    const indices at{n.v[0], n.v[1]};
    finish(std::move(n), result({shape_of(x)[0], width}, last), at, e, true);
  }
  /// The last result plus an input of its own.
  void bias(bool last) {
    const buffer s = ready_.back();
    const buffer by = own_input(shape_of(s));
    nest n = loops_over(shape_of(s), 0);
    const indices at = n.v;
    const expr sum = chance(draw_, 50) ? load(s, at) + load(by, at) : load(by, at) + load(s, at);
    finish(std::move(n), result(shape_of(s), last), at, sum, false);
  }
  void transpose(bool last) {
    const buffer* s = source_of_rank(2);
    if (!s) return reverse(last);
    const buffer from = *s;
    const shape e = shape_of(from);
    nest n = loops_over({e[1], e[0]}, 0);
    const indices at = n.v;
    const expr x = load(from, {at[1], at[0]});
    finish(std::move(n), result({e[1], e[0]}, last), at, x + value(1), false);
  }
  void reverse(bool last) {
    const buffer s = source();
    if (s->shape.empty()) return elementwise(last);
    const shape e = shape_of(s);
    nest n = loops_over(e, 0);
    indices from = n.v;
    from[0] = dim(e[0]) - num(1) - from[0];
    const indices at = n.v;
    finish(std::move(n), result(e, last), at, load(s, from), false);
  }
  void flatten(bool last) {
    const buffer* s = source_of_rank(2);
    if (!s) return reverse(last);
    const buffer from = *s;
    const shape e = shape_of(from);
    nest n = loops_over({e[0] * e[1]}, 0);
    const indices at = n.v;
    const expr x = load(from, {floordiv(at[0], num(e[1])), floormod(at[0], num(e[1]))});
    finish(std::move(n), result({e[0] * e[1]}, last), at, x, false);
  }
  void unflatten(bool last) {
    const buffer* s = source_of_rank(1);
    if (!s) return elementwise(last);
    const buffer from = *s;
    const std::int64_t total = shape_of(from)[0];
    std::int64_t width = 1 + pick(draw_, 4);
    while (total % width != 0) --width;
    nest n = loops_over({total / width, width}, 0);
    const indices at = n.v;
    const expr x = load(from, {at[0] * num(width) + at[1]});
    finish(std::move(n), result({total / width, width}, last), at, x, false);
  }
  /// Two blocks write the two ends of one buffer.
  void concat(bool last) {
    const buffer* a = source_of_rank(1);
    if (!a) return elementwise(last);
    const buffer first = *a,
                 second = any(draw_, ready_)->shape.size() == 1 ? *source_of_rank(1) : first;
    const std::int64_t n1 = shape_of(first)[0], n2 = shape_of(second)[0];
    const buffer to = result({n1 + n2}, last);
    nest n = loops_over({n1}, 0);
    indices at = n.v;
    expr x = load(first, at) + value(1);
    finish(std::move(n), to, at, x, false);
    n = loops_over({n2}, 0);
    x = load(second, n.v);
    at = {n.v[0] + num(n1)};
    finish(std::move(n), to, at, x, false);
  }
  void in_place(bool last) {
    const std::vector<buffer> mine = overwritable();
    if (mine.empty() || last) return elementwise(last);
    const buffer b = any(draw_, mine);
    nest n = loops_over(shape_of(b), 0);
    const indices at = n.v;
    finish(std::move(n), b, at, clamp(load(b, at) * value(2) - value(1)), false);
  }
  /// Pooling: to[i] = reduction of from[i * stride + r].
  void window(bool last) {
    const buffer* s = source_of_rank(1);
    if (!s) return row_reduction(last);
    const buffer from = *s;
    const std::int64_t e = shape_of(from)[0], stride = 1 + pick(draw_, 2);
    const std::int64_t size = std::min<std::int64_t>(e, 1 + pick(draw_, 3));
    const std::int64_t count = (e - size) / stride + 1;
    nest n = loops_over({count, size}, 1);
    const expr x = load(from, {n.v[0] * num(stride) + n.v[1]});
    const indices at{n.v[0]};
    finish(std::move(n), result({count}, last), at, x, true, chance(draw_, 50));
  }
  /// The place and the value of the largest element of each row; no two are equal.
  void arg_peak(bool last) {
    const buffer* s = source_of_rank(2);
    if (!s || !exact_) return row_reduction(last);
    const shape e = shape_of(*s);
    const buffer at = make("I" + std::to_string(names_++), {e[0]}, dtype::i32);
    params_.push_back({at, {}});
    const buffer top = result({e[0]}, last);
    nest n = loops_over(e, 1);
    const expr x = load(*s, n.v) * value(16) - cast(type_, n.v[1]), row = n.v[0];
    const expr keep = ge(load(top, {row}), x);
    const var index = make_var("index", dtype::i32), peak = make_var("peak", type_);
    block_node& b = n.block;
    b.name = fresh_name(top->name);
    b.writes = {{at, point_box({row})}, {top, point_box({row})}};
    b.init = make_seq({make_store(at, {row}, integer(dtype::i32, -1)),
                       make_store(top, {row}, lowest_value(type_))});
    b.body =
        make_let(index, select(keep, load(at, {row}), cast(dtype::i32, n.v[1])),
                 make_let(peak, select(keep, load(top, {row}), x),
                          make_seq({make_store(at, {row}, index), make_store(top, {row}, peak)})));
    declare_reads(b);
    block_node done = std::move(n.block);
    stages_.push_back(wrap(n, std::move(done)));
    now_ready(top);
  }
  /// The largest element of each row and how often it occurs, with the reducer as annotation.
  void fold(bool last) {
    const buffer* s = source_of_rank(2);
    if (!s) return row_reduction(last);
    const shape e = shape_of(*s);
    const buffer often = make("F" + std::to_string(names_++), {e[0]}, type_);
    params_.push_back({often, {}});
    const buffer top = result({e[0]}, last);
    nest n = loops_over(e, 1);
    const expr x = load(*s, n.v), row = n.v[0];
    const auto combined = [](const std::vector<expr>& a, const std::vector<expr>& b) {
      const expr less = select(lt(a[0], b[0]), b[1], a[1] + b[1]);
      return std::vector<expr>{ir::max(a[0], b[0]), select(gt(a[0], b[0]), a[1], less)};
    };
    const auto operand = [&](std::size_t k) { return reducer_operand(type_, k); };
    const comm_reducer reducer{{lowest_value(type_), value(0)},
                               combined({operand(0), operand(1)}, {operand(2), operand(3)})};
    const std::vector<expr> next = combined({load(top, {row}), load(often, {row})}, {x, value(1)});
    const var peak = make_var("peak", type_), count = make_var("count", type_);
    block_node& b = n.block;
    b.name = fresh_name(top->name);
    b.annotations[reducer_note] = print(reducer);
    b.writes = {{top, point_box({row})}, {often, point_box({row})}};
    b.init =
        make_seq({make_store(top, {row}, reducer.identity[0]), make_store(often, {row}, value(0))});
    b.body = make_let(
        peak, next[0],
        make_let(count, next[1],
                 make_seq({make_store(top, {row}, peak), make_store(often, {row}, count)})));
    declare_reads(b);
    block_node done = std::move(n.block);
    stages_.push_back(wrap(n, std::move(done)));
    now_ready(top);
  }
  /// Sum over every dimension, or over the last ones.
  void total(bool last) {
    const buffer s = source();
    const shape e = shape_of(s);
    const auto kept =
        e.empty() || chance(draw_, 60)
            ? std::size_t{0}
            : static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(e.size())));
    nest n = loops_over(e, e.size() - kept);
    const expr x = load(s, n.v);
    const indices at(n.v.begin(), n.v.begin() + static_cast<std::ptrdiff_t>(kept));
    const shape to(e.begin(), e.begin() + static_cast<std::ptrdiff_t>(kept));
    if (e.empty()) return finish(std::move(n), result(to, last), at, x, false);
    finish(std::move(n), result(to, last), at, x, true, chance(draw_, 20));
  }
  /// C[b, i, j] = sum over k of X[b, i, k] * X[b, j, k].
  void batched_product(bool last) {
    const buffer* s = source_of_rank(3);
    if (!s) return product(last);
    const buffer x = *s;
    const shape e = shape_of(x);
    nest n = loops_over({e[0], e[1], e[1], e[2]}, 1);
    const expr a = load(x, {n.v[0], n.v[1], n.v[3]}), b = load(x, {n.v[0], n.v[2], n.v[3]});
    const indices at(n.v.begin(), n.v.begin() + 3);
    finish(std::move(n), result({e[0], e[1], e[1]}, last), at, clamp(a * b), true);
  }
  void broadcast(bool last) {
    const buffer* s = source_of_rank(1);
    if (!s) return elementwise(last);
    const buffer row = *s,
                 column = any(draw_, ready_)->shape.size() == 1 ? *source_of_rank(1) : row;
    nest n = loops_over({shape_of(row)[0], shape_of(column)[0]}, 0);
    const indices at = n.v;
    const expr x = load(row, {at[0]}) + load(column, {at[1]});
    finish(std::move(n), result({shape_of(row)[0], shape_of(column)[0]}, last), at, clamp(x),
           false);
  }
  /// An index that comes from data; only for integers, which can be indices.
  void gather(bool last) {
    const buffer* s = source_of_rank(1);
    if (!s || type_ != dtype::i32 || index_ != dtype::i32) return elementwise(last);
    const buffer from = *s, by = params_[0].buffer;
    const shape e = shape_of(by);
    nest n = loops_over(e, 0);
    const indices at = n.v;
    const expr x = load(from, {floormod(load(by, at), num(shape_of(from)[0]))});
    finish(std::move(n), result(e, last), at, x, false);
  }
  /// A reduction and what is done to each of its results.
  void epilogue(bool last) {
    switch (pick(draw_, 4)) {
      case 0: product(false); break;
      case 1: total(false); break;
      default: row_reduction(false); break;
    }
    const buffer s = ready_.back(), by = own_input(shape_of(s));
    nest n = loops_over(shape_of(s), 0);
    const indices at = n.v;
    const expr x = load(s, at), y = load(by, at);
    const std::vector<expr> forms{x + y, y + x, x - y, ir::max(x, y), x, x + y * value(2)};
    finish(std::move(n), result(shape_of(s), last), at, any(draw_, forms), false);
  }
  /// Windows that overlap: to[i] = from[i] + from[i + 1] and perhaps more, of a result.
  void blur(bool last) {
    if (is_input(ready_.back())) elementwise(false);
    const buffer from = ready_.back();
    shape e = shape_of(from);
    if (e.empty()) return elementwise(last);
    const auto d = static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(e.size())));
    const std::int64_t taps = std::min<std::int64_t>(e[d], 2 + pick(draw_, 2));
    e[d] -= taps - 1;
    nest n = loops_over(e, 0);
    const indices at = n.v;
    expr sum = load(from, at);
    for (std::int64_t t = 1; t < taps; ++t) {
      indices next = at;
      next[d] = next[d] + num(t);
      sum = sum + load(from, next);
    }
    finish(std::move(n), result(e, last), at, clamp(sum), false);
  }
  /// Two stages over one domain that do not need each other.
  void twins(bool last) {
    const buffer s = source();
    for (const bool second : {false, true}) {
      nest n = loops_over(shape_of(s), 0);
      const indices at = n.v;
      const expr x = load(s, at);
      finish(std::move(n), result(shape_of(s), last && second), at,
             second ? clamp(x * value(3)) : x + value(1), false);
    }
  }
  /// Products of inputs along a dimension that tiles of four mostly divide.
  void dot(bool last) {
    static const std::vector<std::int64_t> depths{4, 8, 4, 8, 12, 6, 7};
    const std::int64_t rows = extent(1), columns = 2 * (1 + pick(draw_, 3)),
                       depth = any(draw_, depths);
    const bool turned = chance(draw_, 50), matrix = chance(draw_, 75);
    const buffer x = own_input({rows, depth});
    const buffer y = own_input(!matrix  ? shape{depth}
                               : turned ? shape{columns, depth}
                                        : shape{depth, columns});
    nest n = loops_over(matrix ? shape{rows, columns, depth} : shape{rows, depth}, 1);
    const expr k = n.v.back();
    const expr e = load(x, {n.v[0], k}) * load(y, !matrix  ? indices{k}
                                                  : turned ? indices{n.v[1], k}
                                                           : indices{k, n.v[1]});
    const indices at(n.v.begin(), n.v.end() - 1);
    finish(std::move(n), result(matrix ? shape{rows, columns} : shape{rows}, last), at, e, true);
  }
  /// Indices that are computed more than once in a store.
  void strided(bool last) {
    const buffer* s = source_of_rank(1);
    if (!s) return transpose(last);
    const buffer from = *s, by = own_input(shape_of(from));
    const std::int64_t size = shape_of(from)[0];
    nest n = loops_over({extent(1), 1 + pick(draw_, 4)}, 0);
    const expr place =
        floormod(n.v[0] * num(1 + pick(draw_, 3)) + floordiv(n.v[1] + num(1), num(2)), num(size));
    expr e = load(from, {place}) + load(by, {place});
    if (chance(draw_, 40)) e = e + load(by, {num(size - 1) - place});
    const indices at = n.v;
    const shape to{n.block.iters[0].dom.extent->integer, n.block.iters[1].dom.extent->integer};
    finish(std::move(n), result(to, last), at, clamp(e), false);
  }
  /// Two stages below one loop: the second reads what the first writes, there or an iteration
  /// before, or it overwrites what the first reads an iteration ahead.
  void shared_loop(bool last) {
    std::vector<buffer> mine;
    for (const buffer& b : ready_)
      if (b->name[0] == 'T' && !b->shape.empty()) mine.push_back(b);
    const buffer from = mine.empty() || chance(draw_, 50) ? source() : any(draw_, mine);
    if (from->shape.empty()) return elementwise(last);
    const shape e = shape_of(from);
    const bool overwrites = from->name[0] == 'T' && chance(draw_, 30);
    const buffer x = result(e, last && overwrites);
    nest n = loops_over(e, 0);
    indices at = n.v, there = n.v;
    if (overwrites && chance(draw_, 70)) there[0] = ir::min(there[0] + num(1), num(e[0] - 1));
    finish(std::move(n), x, at, clamp(load(from, there) + value(1)), false);
    n = loops_over(e, 0);
    at = there = n.v;
    if (!overwrites && chance(draw_, 50)) there[0] = ir::max(there[0] - num(1), num(0));
    const expr read = load(overwrites ? from : x, there);
    const buffer to = overwrites ? from : result(e, last);
    finish(std::move(n), to, at, clamp(read * value(2) - value(1)), false);
    share_loop();
  }

  const kind* theme_;
};

}  // namespace

program random_program(support::random& draw, std::string_view theme) {
  return generator(draw, theme).run();
}

program with_twin(program p) {
  ir::function twin = p.function;
  twin.name = "twin";
  p.function = ir::with_alternatives(std::move(p.function), {twin});
  return p;
}

}  // namespace laws
