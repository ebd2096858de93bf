#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/ir/interpret/residue.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/interpret/modular.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/refusal.hpp>

namespace tilewright::ir {
namespace detail {

class modular_form : public mutator {
 public:
  using mutator::mutate;

  buffer mutate(const buffer& b) override {
    if (is_vector(b->type)) refuse("buffer " + b->name + " holds vectors");
    if (!is_float(b->type)) return b;
    buffer& known = buffers_[b];
    if (!known) {
      auto* node = new buffer_node(*b);
      node->type = dtype::u64;
      known = buffer(node);
    }
    return known;
  }

  stmt mutate(const stmt& s) override {
    const let_node* let = as_let(s);
    if (!let || !is_float(let->var.type())) return mutator::mutate(s);
    expr value = mutate(let->value);
    return make_let(mutate(let->var), std::move(value), mutate(let->body));
  }

  expr mutate(const expr& e) override {
    if (is_vector(e.type())) refuse("it computes vectors");
    const bool real = is_float(e.type());
    switch (e->op) {
      case op::var: return real ? variable(e) : e;
      case op::real: return number(residue::of_float(e->real));
      case op::cast: return cast_of(e);
      case op::load:
        if (real) return load(mutate(e->buffer), all(e->args));
        break;
      case op::select:
        if (real) return select(mutate(e->args[0]), mutate(e->args[1]), mutate(e->args[2]));
        break;
      case op::if_then_else:
        if (real) return if_then_else(mutate(e->args[0]), mutate(e->args[1]), mutate(e->args[2]));
        break;
      case op::let: {
        const expr value = mutate(e->args[1]);
        return let_in(mutate(e->args[0]), value, mutate(e->args[2]));
      }
      case op::call: return call_of(e);
      default: break;
    }
    if (e->args.size() == 2 && is_float(e->args[0].type())) return operator_of(e);
    return mutator::mutate(e);
  }

 private:
  static constexpr support::refusal<argument_error> refuse{"no arithmetic modulo a prime: "};
  static expr number(std::uint64_t x) { return integer(dtype::u64, static_cast<std::int64_t>(x)); }
  static expr two(const char* name, const expr& a, const expr& b) {
    return call(dtype::u64, name, {a, b});
  }
  static expr less(const expr& a, const expr& b) { return ne(two("mod.less", a, b), number(0)); }

  std::vector<expr> all(const std::vector<expr>& args) {
    std::vector<expr> out;
    for (const expr& a : args) out.push_back(mutate(a));
    return out;
  }

  expr variable(const expr& v) {
    expr& known = vars_[v];
    if (!known) known = make_var(v->name, dtype::u64);
    return known;
  }

  /// A function of which only the name is known.
  expr unknown(const std::string& name, const std::vector<expr>& args) {
    std::uint64_t seed = 0;
    for (const char c : name) seed = residue::mixed(seed, static_cast<unsigned char>(c));
    expr out = number(seed);
    for (const expr& a : args) {
      const expr x = mutate(a);
      out = two("mod.mixed", out, x.type() == dtype::u64 ? x : cast(dtype::u64, x));
    }
    return out;
  }

  expr cast_of(const expr& e) {
    const dtype from = e->args[0].type(), to = e.type();
    if (!is_float(from) && !is_float(to)) return mutator::mutate(e);
    const expr x = mutate(e->args[0]);
    if (is_float(from) && is_float(to)) return x;
    if (is_float(from)) {
      if (is_boolean(to)) return ne(x, number(0));
      return cast(to, two("mod.mixed", number(17), x));
    }
    if (from == dtype::u64) return two("mod.sum", x, number(0));
    return two("mod.of_signed", cast(dtype::u64, cast(dtype::i64, x)), number(0));
  }

  expr operator_of(const expr& e) {
    const expr a = mutate(e->args[0]), b = mutate(e->args[1]);
    switch (e->op) {
      case op::add: return two("mod.sum", a, b);
      case op::sub: return two("mod.difference", a, b);
      case op::mul: return two("mod.product", a, b);
      case op::div: return two("mod.quotient", a, b);
      case op::min: return two("mod.min", a, b);
      case op::max: return two("mod.max", a, b);
      case op::eq: return eq(a, b);
      case op::ne: return ne(a, b);
      case op::lt: return less(a, b);
      case op::gt: return less(b, a);
      case op::le: return logical_not(less(b, a));
      case op::ge: return logical_not(less(a, b));
      default: return unknown("operator " + std::to_string(static_cast<int>(e->op)), e->args);
    }
  }

  expr call_of(const expr& e) {
    bool floats = is_float(e.type());
    for (const expr& a : e->args) floats = floats || is_float(a.type());
    if (!floats) return mutator::mutate(e);
    if (e->name == "isnan" || e->name == "isinf") return boolean(false);
    if (e->name == "isfinite") return boolean(true);
    if (!is_float(e.type())) refuse("it calls " + e->name);
    const auto arg = [&](std::size_t i) { return mutate(e->args[i]); };
    if (e->name == "likely") return arg(0);
    if (e->name == "maximum") return two("mod.max", arg(0), arg(1));
    if (e->name == "minimum") return two("mod.min", arg(0), arg(1));
    if (e->name == "fma") return two("mod.sum", two("mod.product", arg(0), arg(1)), arg(2));
    if (e->name == "dot2" && e->args.size() == 5)
      return two("mod.sum", two("mod.sum", arg(0), two("mod.product", arg(1), arg(3))),
                 two("mod.product", arg(2), arg(4)));
    return unknown(e->name, e->args);
  }

  buffer_map buffers_;
  var_map vars_;
};

}  // namespace detail

TILEWRIGHT_INLINE function modular(const function& f) {
  detail::modular_form change;
  function out = f;
  for (param& p : out.params) {
    if (p.buffer)
      p.buffer = change.mutate(p.buffer);
    else
      p.scalar = change.mutate(p.scalar);
  }
  out.body = change.mutate(f.body);
  return out;
}

TILEWRIGHT_INLINE bool has_modular_meaning(const function& f) {
  bool out = true;
  for_each_stmt(f.body, [&](const stmt& s) {
    const block_realize_node* r = as_realize(s);
    if (!r) return;
    const auto note = r->block->annotations.find(reducer_note);
    if (note == r->block->annotations.end()) return;
    for_each_expr(r->block->body, [&](const expr& e) {
      if (e->op == op::call && is_float(e.type()) && e->name != "maximum" && e->name != "minimum")
        out = false;
    });
  });
  return out;
}

}  // namespace tilewright::ir
