#include "splice.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <laws/random_programs.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/measurement/operands.hpp>

namespace campaign {
namespace {

using laws::any, laws::chance, laws::pick;

/// Every block and buffer with `tail` behind its name, so that two functions become one.
class renamed : public ir::mutator {
 public:
  explicit renamed(std::string tail) : tail_(std::move(tail)) {}
  using mutator::mutate;

  ir::buffer mutate(const ir::buffer& b) override {
    ir::buffer& known = buffers_[b];
    if (!known) {
      auto* node = new ir::buffer_node(*b);
      known = ir::buffer(node);
      node->name += tail_;
    }
    return known;
  }
  ir::block mutate(const ir::block& b) override {
    ir::block_node out = *mutator::mutate(b);
    if (!out.iters.empty() || out.name != "root") out.name += tail_;
    out.id = ir::fresh_block_id();
    for (ir::match_buffer& m : out.match_buffers) m.buffer = mutate(m.buffer);
    return ir::make_block(std::move(out));
  }
  ir::function operator()(const ir::function& f) {
    ir::function out = f;
    for (ir::param& p : out.params) {
      if (p.buffer) {
        p.buffer = mutate(p.buffer);
        continue;
      }
      const ir::var fresh = ir::make_var(p.scalar->name + tail_, p.scalar.type());
      scalars_[p.scalar] = fresh;
      p.scalar = fresh;
    }
    out.body = ir::substitute(mutate(f.body), scalars_);
    return out;
  }

 private:
  std::string tail_;
  ir::buffer_map buffers_;
  ir::var_map scalars_;
};

/// What is below the root block, and what that allocates.
struct content {
  std::vector<ir::stmt> stmts;
  std::vector<ir::buffer> buffers;

  void add(const ir::function& f) {
    const auto* realize = ir::as_realize(f.body);
    const bool root = realize && realize->block->iters.empty();
    const ir::stmt& body = root ? realize->block->body : f.body;
    if (root)
      buffers.insert(buffers.end(), realize->block->alloc_buffers.begin(),
                     realize->block->alloc_buffers.end());
    if (const auto* seq = ir::as_seq(body))
      stmts.insert(stmts.end(), seq->stmts.begin(), seq->stmts.end());
    else
      stmts.push_back(body);
  }
};

bool plain(const ir::buffer& b) { return b && b->strides.empty() && !b->elem_offset; }

/// Y[i..] = X[..], the elements of X one after the other, from the first on again at the end.
ir::stmt read_round(const ir::buffer& from, const ir::buffer& to, const std::string& name) {
  ir::block_node block;
  block.id = ir::fresh_block_id();
  block.name = name;
  std::vector<ir::var> loops;
  std::vector<ir::expr> at;
  ir::expr flat = ir::integer(dtype::i32, 0);
  for (std::size_t d = 0; d < to->shape.size(); ++d) {
    const std::string number = std::to_string(d);
    loops.push_back(ir::make_var("i" + number + name));
    const ir::var v = ir::make_var("v" + number + name);
    block.iters.push_back({v, {ir::integer(dtype::i32, 0), to->shape[d]}, ir::iter_kind::spatial});
    at.push_back(v);
    flat = flat * to->shape[d] + v;
  }
  std::vector<ir::expr> source(from->shape.size());
  for (std::size_t d = from->shape.size(); d-- > 0;) {
    source[d] = ir::floormod(flat, from->shape[d]);
    flat = ir::floordiv(flat, from->shape[d]);
  }
  const auto point = [](const ir::buffer& b, const std::vector<ir::expr>& indices) {
    ir::buffer_region out{b, {}};
    for (const ir::expr& e : indices) out.box.push_back({e, ir::integer(dtype::i32, 1)});
    return out;
  };
  block.reads.push_back(point(from, source));
  block.writes.push_back(point(to, at));
  block.body = ir::make_store(to, at, ir::cast(to->type, ir::load(from, source)));
  std::vector<ir::expr> values(loops.begin(), loops.end());
  ir::stmt out =
      ir::make_realize(std::move(values), ir::boolean(true), ir::make_block(std::move(block)));
  for (std::size_t d = loops.size(); d-- > 0;)
    out = ir::make_loop(loops[d], ir::integer(dtype::i32, 0), to->shape[d], out);
  return out;
}

}  // namespace

std::optional<ir::function> spliced(const ir::function& first, const ir::function& second,
                                    support::random& draw) {
  // through its text, so that the two share no variable, be they one program
  const ir::function a = renamed("_a")(first), b = renamed("_b")(ir::parse(ir::print(second)));
  const std::vector<search::operand> of_a = search::operands(a), of_b = search::operands(b);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < of_a.size(); ++i)
    for (std::size_t k = 0; k < of_b.size(); ++k)
      if (of_a[i].written && is_float(of_a[i].type) && !of_b[k].written && !of_b[k].scalar &&
          !of_b[k].index && is_float(of_b[k].type) && plain(a.params[i].buffer) &&
          plain(b.params[k].buffer))
        pairs.emplace_back(i, k);
  if (pairs.empty()) return std::nullopt;
  const auto [out, in] = any(draw, pairs);
  const ir::buffer from = a.params[out].buffer, to = b.params[in].buffer;
  content all;
  all.add(a);
  const bool alike =
      from->type == to->type && from->shape.size() == to->shape.size() &&
      std::equal(from->shape.begin(), from->shape.end(), to->shape.begin(),
                 [](const ir::expr& x, const ir::expr& y) {
                   return ir::is_int(x) && ir::is_int(y) && ir::as_int(x) == ir::as_int(y);
                 });
  ir::function other = b;
  if (alike) {
    other.body = ir::replace_buffers(b.body, {{to, from}});
  } else {
    all.stmts.push_back(read_round(from, to, "joint"));
    all.buffers.push_back(to);
  }
  all.add(other);
  ir::function f = a;
  f.name = "main";
  for (std::size_t k = 0; k < b.params.size(); ++k)
    if (k != in) f.params.push_back(b.params[k]);
  if (chance(draw, 50)) {  // what lies between is nobody else's
    f.params.erase(f.params.begin() + static_cast<std::ptrdiff_t>(out));
    all.buffers.push_back(from);
  }
  f.body = ir::make_root(ir::make_seq(std::move(all.stmts)), std::move(all.buffers));
  return f;
}

ir::function mutated(const ir::function& f, support::random& draw) {
  // floats alone are changed: integers may be indices
  const auto changes = [](const ir::expr& e) {
    if (!is_float(e.type())) return false;
    switch (e->op) {
      case ir::op::real:
      case ir::op::add:
      case ir::op::sub:
      case ir::op::mul:
      case ir::op::min:
      case ir::op::max:
      case ir::op::load: return true;
      default: return false;
    }
  };
  // a reduction has its combination, which stays
  const auto combines = [](const ir::stmt& s) {
    const auto* store = ir::as_store(s);
    if (!store) return false;
    bool own = false;
    ir::for_each_expr(store->value, [&](const ir::expr& e) {
      own |= e->op == ir::op::load && e->buffer == store->buffer;
    });
    return own;
  };
  std::int64_t places = 0;
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    if (const auto* store = ir::as_store(s); store && !combines(s))
      ir::for_each_expr(store->value, [&](const ir::expr& e) { places += changes(e); });
  });
  if (places == 0) return f;
  std::int64_t left = pick(draw, places);
  const std::int64_t how = pick(draw, 5);
  const auto change = [&](const ir::expr& e) -> ir::expr {
    if (!changes(e) || left-- != 0) return e;
    if (e->op == ir::op::real) return ir::real(e.type(), e->real == 0 ? 0.5 : -e->real);
    if (e->op == ir::op::load) {
      if (how == 0) return ir::max(e, ir::real(e.type(), 0));
      if (how == 1) return e * e;
      if (how == 2) return e - ir::real(e.type(), 0.25);
      return ir::call(e.type(), how == 3 ? "tanh" : "abs", {e});
    }
    const ir::expr x = e->args[0], y = e->args[1];
    switch (how) {
      case 0: return x + y;
      case 1: return y - x;
      case 2: return x * y;
      case 3: return ir::max(y, x);
      default: return ir::min(y, x);
    }
  };
  ir::function out = f;
  out.body = ir::rewrite(
      f.body, [](const ir::expr& e) { return e; },
      [&](const ir::stmt& s) -> ir::stmt {
        const auto* store = ir::as_store(s);
        if (!store || combines(s)) return s;
        return ir::make_store(store->buffer, store->indices, ir::rewrite(store->value, change));
      });
  return out;
}

}  // namespace campaign
