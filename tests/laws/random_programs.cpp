#include "random_programs.hpp"

#include <algorithm>
#include <optional>

#include <tilewright/arith/region.hpp>

namespace laws {
namespace {

using namespace tilewright::ir;
using shape = std::vector<std::int64_t>;
using indices = std::vector<expr>;

/// Builds one program stage by stage.
class generator {
 public:
  explicit generator(support::random& draw) : draw_(draw) {
    type_ = chance(draw, 50) ? dtype::i32 : dtype::f32;
    index_ = chance(draw, 85) ? dtype::i32 : dtype::i64;
    exact_ = type_ == dtype::i32 || chance(draw, 70);
    symbolic_ = chance(draw, 12);
    n_ = make_var("n", index_);
    m_ = make_var("m", index_);
  }

  program make() {
    const std::int64_t inputs = 1 + pick(draw_, 2);
    for (std::int64_t i = 0; i < inputs; ++i) {
      const std::int64_t rank = i == 0 || chance(draw_, 60) ? 2 : pick(draw_, 5);
      shape s;
      for (std::int64_t d = 0; d < rank; ++d) s.push_back(extent(rank));
      input(make("A" + std::to_string(i), s));
    }
    input(make("V", {symbolic_ ? n_stands_for : extent(1)}));
    if (symbolic_) input(make("W", {m_stands_for}));
    const std::int64_t count = 2 + pick(draw_, 5);
    for (std::int64_t i = 0; i < count; ++i) stage(i + 1 == count);
    program out;
    out.function.params = params_;
    out.function.body = make_root(make_seq(stages_), temps_);
    out.exact = exact_;
    if (symbolic_) out.dims = {{"n", 1 + pick(draw_, 9)}, {"m", 1 + pick(draw_, 9)}};
    return out;
  }

 private:
  // Extents are plain numbers while a program is built. In a symbolic program two of them stand for
  // the variables n and m, and no stage computes with extents.
  static constexpr std::int64_t n_stands_for = 7, m_stands_for = 5;

  std::int64_t extent(std::int64_t rank) {
    static const std::vector<std::int64_t> sizes{1, 2, 3, 4, 5, 6, 7, 8, 9, 4, 6, 8};
    if (symbolic_ && rank <= 2 && chance(draw_, 60))
      return chance(draw_, 50) ? n_stands_for : m_stands_for;
    return rank > 2 ? 1 + pick(draw_, 4) : any(draw_, sizes);
  }
  void input(const buffer& b) {
    params_.push_back({b, {}});
    ready_.push_back(b);
  }
  expr num(std::int64_t v) const { return integer(index_, v); }
  expr dim(std::int64_t v) const {
    if (symbolic_ && v == n_stands_for) return n_;
    if (symbolic_ && v == m_stands_for) return m_;
    return num(v);
  }
  expr value(double v) const { return literal(type_, v); }
  buffer make(const std::string& name, const shape& s, std::optional<dtype> type = {}) const {
    std::vector<expr> dims;
    for (const std::int64_t e : s) dims.push_back(dim(e));
    return make_buffer(name, type.value_or(type_), std::move(dims));
  }
  shape shape_of(const buffer& b) const {
    shape out;
    for (const expr& e : b->shape)
      out.push_back(is_int(e) ? e->integer : e.same(n_) ? n_stands_for : m_stands_for);
    return out;
  }
  /// A buffer for a result: a temporary, or a parameter when it is the last or by chance.
  buffer result(const shape& s, bool last) {
    const buffer b = make("T" + std::to_string(names_++), s);
    if (last || chance(draw_, 15))
      params_.push_back({b, {}});
    else
      temps_.push_back(b);
    return b;
  }
  const buffer& source() {
    // recent results are more interesting than inputs
    if (chance(draw_, 60)) return ready_.back();
    return any(draw_, ready_);
  }
  const buffer* source_of_rank(std::size_t rank) {
    std::vector<const buffer*> fit;
    for (const buffer& b : ready_)
      if (b->shape.size() == rank) fit.push_back(&b);
    if (fit.empty()) return nullptr;
    return chance(draw_, 60) ? fit.back() : any(draw_, fit);
  }
  expr clamp(const expr& e) const { return ir::max(ir::min(e, value(20)), value(-20)); }

  struct nest {
    std::vector<var> loops;
    block_node block;
    indices v;
  };
  nest loops_over(const shape& extents, std::size_t reduced) {
    nest out;
    static const char* names[] = {"i", "j", "k", "l"};
    for (std::size_t d = 0; d < extents.size(); ++d) {
      out.loops.push_back(make_var(names[d], index_));
      out.v.push_back(make_var(std::string("v") + names[d], index_));
      out.block.iters.push_back(
          {out.v.back(),
           {num(0), dim(extents[d])},
           d + reduced < extents.size() ? iter_kind::spatial : iter_kind::reduce});
    }
    return out;
  }
  /// Loops around the block; some programs have split one already, with a guard where needed.
  stmt wrap(const nest& n, block_node b) {
    std::vector<expr> extents, values(n.loops.begin(), n.loops.end());
    std::vector<var> loops = n.loops;
    for (const iter_var& i : b.iters) extents.push_back(i.dom.extent);
    expr guard = boolean(true);
    if (!loops.empty() && chance(draw_, 10)) {
      const auto d = static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(loops.size())));
      if (is_int(extents[d])) {
        const std::int64_t total = extents[d]->integer, by = 2 + pick(draw_, 3);
        const var outer = make_var("outer", index_), inner = make_var("inner", index_);
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
  std::string fresh_name(const std::string& like) {
    std::string name = like;
    for (int k = 1; std::count(block_names_.begin(), block_names_.end(), name); ++k)
      name = like + "_" + std::to_string(k);
    block_names_.push_back(name);
    return name;
  }
  void now_ready(const buffer& b) {
    std::erase(ready_, b);
    ready_.push_back(b);
  }
  /// What the body of the block reads, without what a reduction updates.
  static void declare_reads(block_node& b) {
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
  /// Finishes the stage: to[at] = e, or a reduction of e.
  void finish(nest n, const buffer& to, const indices& at, const expr& e, bool reduces,
              bool peak = false) {
    block_node& b = n.block;
    b.name = fresh_name(to->name);
    b.writes = {{to, point_box(at)}};
    const expr old = load(to, at);
    b.body = make_store(to, at, reduces ? (peak ? ir::max(old, e) : old + e) : e);
    if (reduces) b.init = make_store(to, at, peak ? lowest_value(type_) : value(0));
    declare_reads(b);
    stages_.push_back(wrap(n, std::move(b)));
    now_ready(to);
  }

  void stage(bool last) {
    if (symbolic_) {
      switch (pick(draw_, 8)) {
        case 0: return stencil(last);
        case 1: return row_reduction(last);
        case 2: return product(last);
        case 3: return transpose(last);
        case 4: return reverse(last);
        case 5: return broadcast(last);
        case 6: return total(last);
        default: return elementwise(last);
      }
    }
    switch (pick(draw_, 18)) {
      case 0:
      case 1: return elementwise(last);
      case 2: return stencil(last);
      case 3: return padding(last);
      case 4: return row_reduction(last);
      case 5: return product(last);
      case 6: return transpose(last);
      case 7: return flatten(last);
      case 8: return unflatten(last);
      case 9: return concat(last);
      case 10: return in_place(last);
      case 11: return window(last);
      case 12: return arg_peak(last);
      case 13: return total(last);
      case 14: return batched_product(last);
      case 15: return bias(last);
      case 16: return product(last);
      default: return chance(draw_, 50) ? broadcast(last) : gather(last);
    }
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
  bool is_input(const buffer& b) const { return b->name[0] == 'A' || b->name[0] == 'V'; }
  /// The last result plus an input of its own.
  void bias(bool last) {
    const buffer s = ready_.back();
    const buffer by = make("A" + std::to_string(names_++) + "b", shape_of(s));
    params_.push_back({by, {}});
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
    std::vector<buffer> mine;
    for (const buffer& b : ready_)
      if (b->name[0] == 'T') mine.push_back(b);
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

  support::random& draw_;
  dtype type_, index_;
  bool exact_ = true, symbolic_ = false;
  var n_, m_;
  int names_ = 0;
  std::vector<param> params_;
  std::vector<buffer> temps_, ready_;
  std::vector<stmt> stages_;
  std::vector<std::string> block_names_;
};

}  // namespace

program random_program(support::random& draw) { return generator(draw).make(); }

}  // namespace laws
