#include "random_programs.hpp"

#include <algorithm>
#include <cstring>

#include <tilewright/arith/region.hpp>
#include <tilewright/ir/interpret.hpp>

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
  }

  ir::function make() {
    const std::int64_t inputs = 1 + pick(draw_, 2);
    for (std::int64_t i = 0; i < inputs; ++i) {
      const buffer b = make("A" + std::to_string(i), {extent(), extent()});
      params_.push_back({b, {}});
      ready_.push_back(b);
    }
    params_.push_back({make("V", {extent()}), {}});
    ready_.push_back(params_.back().buffer);
    const std::int64_t count = 2 + pick(draw_, 5);
    for (std::int64_t i = 0; i < count; ++i) stage(i + 1 == count);
    ir::function f;
    f.params = params_;
    f.body = make_root(make_seq(stages_), temps_);
    return f;
  }

 private:
  std::int64_t extent() {
    static const std::vector<std::int64_t> sizes{1, 2, 3, 4, 5, 6, 7, 8, 9, 4, 6, 8};
    return any(draw_, sizes);
  }
  expr num(std::int64_t v) const { return integer(index_, v); }
  expr value(double v) const { return literal(type_, v); }
  buffer make(const std::string& name, const shape& s) const {
    std::vector<expr> dims;
    for (const std::int64_t e : s) dims.push_back(num(e));
    return make_buffer(name, type_, std::move(dims));
  }
  static shape shape_of(const buffer& b) {
    shape out;
    for (const expr& e : b->shape) out.push_back(e->integer);
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
           {num(0), num(extents[d])},
           d + reduced < extents.size() ? iter_kind::spatial : iter_kind::reduce});
    }
    return out;
  }
  /// Finishes the stage: to[at] = e, or a reduction of e.
  void finish(nest n, const buffer& to, const indices& at, const expr& e, bool reduces,
              bool peak = false) {
    block_node& b = n.block;
    b.name = to->name;
    for (int k = 1; std::count(block_names_.begin(), block_names_.end(), b.name); ++k)
      b.name = to->name + "_" + std::to_string(k);
    block_names_.push_back(b.name);
    b.writes = {{to, point_box(at)}};
    const expr old = load(to, at);
    b.body = make_store(to, at, reduces ? (peak ? ir::max(old, e) : old + e) : e);
    if (reduces) b.init = make_store(to, at, peak ? lowest_value(type_) : value(0));
    std::vector<buffer_region> reads, unused;
    arith::access_options options;
    options.use_conditions = false;
    arith::access_regions(b.body, reads, unused, {}, options);
    for (buffer_region& r : reads)
      if (!reduces || r.buffer != to) b.reads.push_back(std::move(r));
    std::vector<expr> extents;
    for (const iter_var& i : b.iters) extents.push_back(i.dom.extent);
    stmt s =
        make_realize({n.loops.begin(), n.loops.end()}, boolean(true), make_block(std::move(b)));
    for (std::size_t d = n.loops.size(); d-- > 0;)
      s = make_loop(n.loops[d], num(0), extents[d], std::move(s));
    stages_.push_back(std::move(s));
    if (ready_.back() != to) {
      std::erase(ready_, to);
      ready_.push_back(to);
    }
  }

  void stage(bool last) {
    switch (pick(draw_, 13)) {
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
      sum = sum - if_then_else(lt(right[d], num(e[d])), load(s, right), value(1));
    }
    finish(std::move(n), result(e, last), at, clamp(sum), false);
  }
  void padding(bool last) {
    const buffer s = source();
    const shape inner = shape_of(s);
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
    const std::int64_t width = shape_of(y)[turned ? 1 - 1 : 1];
    nest n = loops_over({shape_of(x)[0], width, depth}, 1);
    const expr e = load(x, {n.v[0], n.v[2]}) *
                   clamp(load(y, turned ? indices{n.v[1], n.v[2]} : indices{n.v[2], n.v[1]}));
    const indices at{n.v[0], n.v[1]};
    finish(std::move(n), result({shape_of(x)[0], width}, last), at, clamp(e), true);
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
    const shape e = shape_of(s);
    nest n = loops_over(e, 0);
    indices from = n.v;
    from[0] = num(e[0] - 1) - from[0];
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
  int names_ = 0;
  std::vector<param> params_;
  std::vector<buffer> temps_, ready_;
  std::vector<stmt> stages_;
  std::vector<std::string> block_names_;
};

}  // namespace

ir::function random_program(support::random& draw) { return generator(draw).make(); }

std::vector<std::vector<char>> results_of(const ir::function& f, bool check_unwritten) {
  std::vector<std::vector<char>> memory;
  std::vector<tensor_view> args;
  for (const param& p : f.params) {
    std::size_t count = 1;
    for (const expr& e : p.buffer->shape) count *= static_cast<std::size_t>(e->integer);
    memory.emplace_back(count * 4);
    for (std::size_t i = 0; i < count; ++i) {
      const int value = static_cast<int>((i * 7 + memory.size() * 3 + i * i) % 7) - 3;
      const auto real = static_cast<float>(value);
      if (p.buffer->type == dtype::f32)
        std::memcpy(memory.back().data() + i * 4, &real, 4);
      else
        std::memcpy(memory.back().data() + i * 4, &value, 4);
    }
    args.push_back({memory.back().data(), {}});
  }
  interpret_options options;
  options.check_races = true;
  options.check_unwritten = check_unwritten;
  interpret(f, args, options);
  return memory;
}

}  // namespace laws
