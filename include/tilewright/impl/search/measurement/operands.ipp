#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/scoped_visitor.hpp>
#include <tilewright/impl/search/measurement/value_flow.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>

namespace tilewright::search {
namespace detail {

inline std::int64_t operand_floor_div(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// Finds parameters whose elements are used as indices, and the range that keeps each use in bounds.
class operand_gathers : public arith::scoped_visitor {
 public:
  using range = operand::index_range;
  std::map<const ir::buffer_node*, range> found;
  std::set<const ir::buffer_node*> offsets;  // whose values have a meaning of their own
  std::set<const ir::buffer_node*> columns;  // in bounds whether a condition is before them or not

  using scoped_visitor::visit;

  void visit(const ir::stmt& s) override {
    if (const ir::store_node* store = ir::as_store(s)) access(store->buffer, store->indices);
    scoped_visitor::visit(s);
  }

  void visit(const ir::expr& e) override {
    if (!e) return;
    if (e->op == ir::op::if_then_else) {  // the condition may be what keeps its branches in bounds
      visit(e->args[0]);
      conditions_.push_back(e->args[0]);
      visit(e->args[1]);
      visit(e->args[2]);
      conditions_.pop_back();
      return;
    }
    if (e->op == ir::op::load) access(e->buffer, e->args);
    scoped_visitor::visit(e);
  }

 private:
  void visit_bound(const ir::block& b) override {
    if (b->init) visit(b->init);
    visit(b->body);  // regions are not accesses
  }
  void access(const ir::buffer& b, const std::vector<ir::expr>& indices) {
    for (std::size_t d = 0; d < indices.size(); ++d) {
      if (ir::is_int(b->shape[d])) restrict_parts(indices[d], indices[d], ir::as_int(b->shape[d]));
    }
  }
  /// What an element is read at is another index.
  void restrict_parts(const ir::expr& part, const ir::expr& index, std::int64_t extent) {
    if (part->op != ir::op::load) {
      for (const ir::expr& inner : part->args) restrict_parts(inner, index, extent);
    } else if (is_integer(part.type()) && !offsets.count(part->buffer.get())) {
      restrict_to(part, index, extent);
    }
  }

  void restrict_to(const ir::expr& element, const ir::expr& index, std::int64_t extent) {
    const std::int64_t widest = std::int64_t{1} << 40;
    const bool guarded = is_guarded(element->buffer) && !columns.count(element->buffer.get());
    range r{0, guarded ? widest : extent - 1};
    if (!guarded) {
      const ir::var v =
          ir::make_var("element", element.type() == dtype::i64 ? dtype::i64 : dtype::i32);
      const auto swap = [&](const ir::expr& e) -> ir::expr {
        if (e.same(element) || (e->op == ir::op::load && e->buffer == element->buffer))
          return ir::cast(e.type(), v);
        return e;
      };
      r = bounds_of(v, plain(ir::rewrite(index, swap)), extent);
    } else {
      r.first = -widest;
    }
    const auto [at, fresh] = found.emplace(element->buffer.get(), r);
    if (!fresh)
      at->second = {std::max(at->second.first, r.first), std::min(at->second.last, r.last)};
  }

  /// Without casts between integers: the values in question are small.
  static ir::expr plain(const ir::expr& e) {
    return ir::rewrite(e, [](const ir::expr& x) -> ir::expr {
      const bool widening =
          x->op == ir::op::cast && is_integer(x.type()) && is_integer(x->args[0].type());
      return widening && x->args[0]->op == ir::op::var ? x->args[0] : x;
    });
  }

  range bounds_of(const ir::var& v, const ir::expr& index, std::int64_t extent) const {
    if (index.same(v)) return {0, extent - 1};
    const arith::linear sum = arith::to_linear(index);
    const std::int64_t c = sum.coefficient(v);
    arith::linear rest = sum;
    rest.terms.erase(std::remove_if(rest.terms.begin(), rest.terms.end(),
                                    [&](const auto& t) { return t.first.same(v); }),
                     rest.terms.end());
    const ir::expr others = arith::from_linear(rest);
    if (c != 0 && !ir::uses_var(others, v)) {
      const arith::bounds o = known.const_bounds(others);
      const std::int64_t low = -o.lo, high = extent - 1 - o.hi;  // c*v in [low, high]
      if (c > 0) return {-operand_floor_div(-low, c), operand_floor_div(high, c)};
      return {-operand_floor_div(high, -c), operand_floor_div(-low, -c)};
    }
    // no line: the largest start of 0.. that provably fits, then as far below 0 as it goes
    const auto fits = [&](std::int64_t first, std::int64_t last) {
      arith::analyzer a = known;
      a.bind(v, first, last);
      const arith::bounds b = a.const_bounds(index);
      return b.lo >= 0 && b.hi < extent;
    };
    std::int64_t first = 0, last = -1;
    for (std::int64_t step = std::int64_t{1} << 40; step > 0; step /= 2)
      if (fits(0, last + step)) last += step;
    last = std::max<std::int64_t>(last, 0);
    for (std::int64_t step = std::int64_t{1} << 40; step > 0; step /= 2)
      if (fits(first - step, last)) first -= step;
    return {first, last};
  }

  /// A condition around that knows elements of the buffer may be what keeps them in bounds.
  bool is_guarded(const ir::buffer& b) const {
    return support::any(conditions_, [&](const ir::expr& condition) {
      bool knows = false;
      ir::for_each_expr(condition, [&](const ir::expr& e) {
        knows = knows || (e->op == ir::op::load && e->buffer == b) || e->op == ir::op::let;
      });
      return knows;
    });
  }

  std::vector<ir::expr> conditions_;
};

inline void mark_accesses(const ir::function& f, std::map<const ir::buffer_node*, operand*>& of) {
  const auto mark = [&](const ir::buffer& b, bool operand::*flag) {
    if (const auto at = of.find(b.get()); at != of.end()) at->second->*flag = true;
  };
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    if (const ir::store_node* store = ir::as_store(s)) mark(store->buffer, &operand::written);
    const ir::block_realize_node* r = ir::as_realize(s);
    if (!r) return;
    for (const ir::buffer_region& region : r->block->reads) mark(region.buffer, &operand::read);
    for (const ir::buffer_region& region : r->block->writes) mark(region.buffer, &operand::written);
  });
}

/// What the function says of its parameters of offsets. Those of rows that are counted lead into none but
/// themselves.
inline void name_offsets(const ir::function& f, std::vector<operand>& operands) {
  for (operand& o : operands) {
    const std::optional<ir::offsets_note> note = ir::offsets_of(f, o.name);
    if (!note) continue;
    const std::string& into = note->into.empty() ? o.name : note->into;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i].name == into) o.offsets = operand::offsets_into{i, note->last};
  }
}

}  // namespace detail

TILEWRIGHT_INLINE std::int64_t operand::elements() const {
  return support::checked_volume(extents).value_or(std::numeric_limits<std::int64_t>::max());
}

TILEWRIGHT_INLINE std::vector<operand> operands(const ir::function& f) {
  ir::check_extents(f);
  std::vector<operand> out(f.params.size());
  std::map<const ir::buffer_node*, operand*> of;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const ir::param& p = f.params[i];
    if (!p.buffer) {
      out[i] = {p.scalar->name, p.scalar.type(), true, {}, {}, false, true, {}};
      continue;
    }
    out[i].name = p.buffer->name;
    out[i].type = p.buffer->type;
    for (const ir::expr& e : p.buffer->shape) {
      if (!ir::is_int(e))
        throw argument_error("extent of " + p.buffer->name + " is not a number; bind it first");
      out[i].extents.push_back(ir::as_int(e));
    }
    out[i].strides = row_major(out[i].extents);
    for (std::size_t d = 0; d < p.buffer->strides.size(); ++d)
      if (ir::is_int(p.buffer->strides[d])) out[i].strides[d] = ir::as_int(p.buffer->strides[d]);
    of[p.buffer.get()] = &out[i];
  }
  detail::mark_accesses(f, of);
  detail::operand_gathers gathers;
  detail::name_offsets(f, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i].offsets) continue;
    gathers.offsets.insert(f.params[i].buffer.get());
    gathers.columns.insert(f.params[out[i].offsets->parameter].buffer.get());
  }
  gathers.visit(f.body);
  for (const auto& [buffer, range] : gathers.found)
    if (const auto at = of.find(buffer); at != of.end()) at->second->index = range;
  for (const operand& o : out) {
    const std::optional<ir::offsets_note> note = ir::offsets_of(f, o.name);
    if (!note || note->coordinates < 1 || !o.offsets) continue;
    out[o.offsets->parameter].index = operand::index_range{0, note->coordinates - 1};
  }
  const detail::value_flow flow(f, needs_of(f).reduction > 1);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].steers = is_integer(out[i].type) && flow.steers(f.params[i]);
  return out;
}

TILEWRIGHT_INLINE value_needs needs_of(const ir::function& f) {
  value_needs out;
  if (const auto factors = f.attrs.find(factors_attribute); factors != f.attrs.end())
    if (const auto* type = std::get_if<std::string>(&factors->second.value);
        type && *type == "tf32")
      out.epsilon = 0x1p-10;
  if (const auto error = f.attrs.find(ir::error_attribute); error != f.attrs.end())
    if (const auto* stated = std::get_if<double>(&error->second.value)) out.error = *stated;
  bool exponentials = false, products = false;
  ir::for_each_expr(f.body, [&](const ir::expr& e) {
    if (e->op == ir::op::call)
      exponentials |= e->name == "exp" || e->name == "exp2" || e->name == "exp10" ||
                      e->name == "expm1" || e->name == "sinh" || e->name == "cosh";
    if (e->op == ir::op::call)
      out.positive |= e->name == "log" || e->name == "log2" || e->name == "log10" ||
                      e->name == "log1p" || e->name == "sqrt" || e->name == "rsqrt" ||
                      e->name == "pow";
    if (e->op == ir::op::cast && is_float(e.type()) && is_float(e->args[0].type()))
      out.epsilon = std::max(out.epsilon, epsilon_of(e.type()));
    const bool division = e->op == ir::op::div || e->op == ir::op::mod ||
                          e->op == ir::op::floordiv || e->op == ir::op::floormod;
    if (division && is_float(e.type())) out.positive = true;
    if (division && !is_float(e.type()) && !ir::is_int(e->args[1])) out.integer_divisor = true;
  });
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    if (const ir::store_node* store = ir::as_store(s); store && is_float(store->buffer->type))
      out.epsilon = std::max(out.epsilon, epsilon_of(store->buffer->type));
    const ir::block_realize_node* r = ir::as_realize(s);
    if (!r || !r->block->init) return;
    std::int64_t terms = 1;
    for (const ir::iter_var& v : r->block->iters)
      if (v.kind == ir::iter_kind::reduce && ir::is_int(v.dom.extent))
        terms = support::saturated_product(terms, ir::as_int(v.dom.extent));
    out.reduction = std::max(out.reduction, terms);
    out.joint |= r->block->writes.size() > 1;
    ir::for_each_stmt(r->block->body, [&](const ir::stmt& inner) {
      const ir::store_node* update = ir::as_store(inner);
      if (!update || !is_float(update->buffer->type)) return;
      ir::for_each_expr(update->value, [&](const ir::expr& e) {
        if (e->op != ir::op::mul) return;
        products = true;
        for (const ir::expr& factor : e->args)
          out.product |= factor->op == ir::op::load && factor->buffer == update->buffer;
      });
    });
  });
  out.exponential = exponentials && products;
  return out;
}

TILEWRIGHT_INLINE double epsilon_of(dtype type) {
  switch (type) {
    case dtype::f64: return 0x1p-52;
    case dtype::f16: return 0x1p-10;
    case dtype::bf16: return 0x1p-7;
    default: break;
  }
  if (!is_narrow_float(type)) return 0x1p-23;
  return std::ldexp(1.0, -tilewright::detail::narrow::format_of(type).mantissa_bits);
}

TILEWRIGHT_INLINE std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> out(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;)
    out[d - 1] = support::saturated_product(out[d], std::max<std::int64_t>(extents[d], 1));
  return out;
}

TILEWRIGHT_INLINE memory_span span_of(const std::vector<std::int64_t>& extents,
                                      const std::vector<std::int64_t>& strides) {
  memory_span out;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 0) return {0, -1};
    const std::int64_t reach = support::saturated_product(extents[d] - 1, strides[d]);
    std::int64_t& end = reach < 0 ? out.first : out.last;
    end = support::saturated_sum(end, reach);
  }
  return out;
}

}  // namespace tilewright::search
