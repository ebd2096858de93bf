#pragma once

#include <cmath>
#include <cstddef>
#include <deque>
#include <unordered_map>
#include <utility>

#include <tilewright/impl/ir/interpret_call.hpp>
#include <tilewright/impl/ir/interpret_convert.hpp>
#include <tilewright/ir/evaluate.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir::detail::point {

using interp::of_double;
using interp::of_int;
using interp::value;

struct tensor;

/// An expression with its variables resolved to slots and its loads to tensors.
struct node {
  ir::op op = ir::op::integer;
  dtype type = dtype::i32;
  dtype operand = dtype::i32;  // type of the first argument
  value constant{};
  std::size_t slot = 0;
  tensor* from = nullptr;  // load; null: the running value of the block's reduction
  std::vector<const node*> args;
  double (*unary)(double) = nullptr;
  double (*binary)(double, double) = nullptr;
};

struct iteration {
  std::size_t slot = 0;
  std::int64_t extent = 0;
};

/// The block that writes a tensor.
struct definition {
  std::vector<std::size_t> places;  // [rank] slots of the store's indices
  std::vector<iteration> reduced;
  std::vector<std::pair<std::size_t, const node*>> lets;
  const node* init = nullptr;
  const node* body = nullptr;
  std::size_t accumulator = 0;  // slot
};

using reader = value (*)(const std::byte*);

struct tensor {
  std::string name;
  dtype type = dtype::f32;
  std::vector<std::int64_t> extents, strides;  // [rank], elements; strides of parameters
  const std::byte* data = nullptr;
  reader read = nullptr;
  bool writes = false;  // by a block
  definition from;
  std::unordered_map<std::int64_t, value> known;  // by row-major position
};

/// An element has no value within the budget and the bounds.
struct no_value {};

[[noreturn]] inline void refuse(const std::string& why) { throw argument_error(why); }

template <dtype D>
value read_wide(const std::byte* p) {
  if constexpr (is_float(D))
    return interp::convert<dtype::f64, D>(interp::read_element<D>(p));
  else
    return interp::read_element<D>(p);
}

inline double (*find_binary(std::string_view name))(double, double) {
  if (name == "pow") return [](double a, double b) { return std::pow(a, b); };
  if (name == "atan2") return [](double a, double b) { return std::atan2(a, b); };
  if (name == "fmod") return [](double a, double b) { return std::fmod(a, b); };
  if (name == "hypot") return [](double a, double b) { return std::hypot(a, b); };
  if (name == "copysign") return [](double a, double b) { return std::copysign(a, b); };
  return nullptr;
}

inline double literal_value(const expr& e) {
  return interp::with_type(e.type(), [&](auto d) -> double {
    constexpr dtype D = decltype(d)::value;
    if constexpr (is_float(D) && D != dtype::f64)
      return static_cast<double>(interp::rounded<D>(e->real));
    else
      return e->real;
  });
}

/// A function taken apart into the definitions of its tensors; throws argument_error for what is
/// not supported.
class plan {
 public:
  explicit plan(const function& f) {
    for (const param& p : f.params) add_param(p);
    const block& root = root_block(f);
    for (const buffer& b : root->alloc_buffers) add_tensor(b);
    collect(root->body);
    for (std::size_t i = 0; i < f.params.size(); ++i)
      if (const tensor* t = outputs[i]; t && t->writes && read_.count(t))
        refuse("parameter " + t->name + " is read by a block and written by one");
  }

  std::vector<tensor*> outputs;           // per parameter; null for scalars
  std::vector<std::size_t> scalar_slots;  // per parameter
  std::vector<value> slots;

 private:
  using scope = std::unordered_map<expr, std::size_t, expr_identity_hash, expr_identity_equal>;

  void add_param(const param& p) {
    scalar_slots.push_back(0);
    outputs.push_back(nullptr);
    if (p.buffer) {
      outputs.back() = add_tensor(p.buffer);
      parameters_.insert({outputs.back(), true});
    } else {
      scalar_slots.back() = scalars_[p.scalar] = fresh_slot();
    }
  }

  tensor* add_tensor(const buffer& b) {
    tensor& t = tensors_.emplace_back();
    t.name = b->name;
    t.type = b->type;
    for (const expr& e : b->shape) {
      if (!is_int(e)) refuse("an extent of " + b->name + " is no literal");
      t.extents.push_back(as_int(e));
    }
    if (b->elem_offset && !is_int(b->elem_offset, 0)) refuse(b->name + " starts at an offset");
    t.strides.assign(t.extents.size(), 1);
    for (std::size_t d = t.extents.size(); d-- > 1;) t.strides[d - 1] = t.strides[d] * t.extents[d];
    for (std::size_t d = 0; d < b->strides.size(); ++d)
      if (is_int(b->strides[d])) t.strides[d] = as_int(b->strides[d]);
    t.read =
        interp::with_type(t.type, [](auto d) -> reader { return &read_wide<decltype(d)::value>; });
    of_.emplace(b.get(), &t);
    return &t;
  }

  tensor* find(const buffer& b) {
    const auto at = of_.find(b.get());
    if (at == of_.end())
      refuse("buffer " + b->name + " is neither a parameter nor one of the root block");
    return at->second;
  }

  std::size_t fresh_slot() {
    slots.push_back(of_int(0));
    return slots.size() - 1;
  }

  void collect(const stmt& s) {
    if (const seq_node* q = as_seq(s)) {
      for (const stmt& child : q->stmts) collect(child);
    } else if (const loop_node* l = as_loop(s)) {
      if (!is_int(l->min, 0) || !is_int(l->extent))
        refuse("a loop over " + l->var->name + " has no literal extent");
      loops_.emplace(l->var, static_cast<std::size_t>(as_int(l->extent)));
      collect(l->body);
    } else if (const block_realize_node* r = as_realize(s)) {
      add_definition(*r);
    } else {
      refuse("a statement stands outside of the blocks");
    }
  }

  /// Binds the iteration variables to slots; every instance of the block has to run exactly once.
  std::vector<iteration> bind(const block_realize_node& r, scope& vars) {
    const block_node& b = *r.block;
    if (!is_true(r.predicate) || !b.alloc_buffers.empty() || !b.match_buffers.empty())
      refuse("block " + b.name + " is scheduled");
    std::vector<iteration> out;
    scope used;
    for (std::size_t k = 0; k < b.iters.size(); ++k) {
      const iter_var& v = b.iters[k];
      const auto loop = loops_.find(r.values[k]);
      const bool whole = is_int(v.dom.min, 0) && is_int(v.dom.extent) &&
                         (is_int(r.values[k], 0) ? as_int(v.dom.extent) == 1
                                                 : loop != loops_.end() &&
                                                       static_cast<std::int64_t>(loop->second) ==
                                                           as_int(v.dom.extent) &&
                                                       used.emplace(r.values[k], 0).second);
      if (!whole || (v.kind != iter_kind::spatial && v.kind != iter_kind::reduce))
        refuse("iteration variable " + v.var->name + " of block " + b.name + " is not one loop");
      out.push_back({vars[v.var] = fresh_slot(), as_int(v.dom.extent)});
    }
    return out;
  }

  void add_definition(const block_realize_node& r) {
    const block_node& b = *r.block;
    scope vars = scalars_;
    const std::vector<iteration> iters = bind(r, vars);
    definition d;
    d.accumulator = fresh_slot();
    stmt body = b.body;
    std::vector<const let_node*> lets;
    for (; as_let(body); body = as_let(body)->body) lets.push_back(as_let(body));
    const store_node* store = as_store(body);
    if (!store) refuse("block " + b.name + " is not one store");
    tensor* to = find(store->buffer);
    if (to->writes) refuse(to->name + " is written by more than one block");
    if (read_.count(to)) refuse(to->name + " is read before it is written");
    place(b, iters, *store, vars, *to, d);
    if (b.init) {
      const store_node* first = as_store(b.init);
      if (!first || first->buffer != store->buffer || !same_place(first->indices))
        refuse("init of block " + b.name + " is not a store of " + to->name);
      d.init = compile(first->value, vars, nullptr);
    } else if (!d.reduced.empty()) {
      refuse("the reduction of block " + b.name + " has no init");
    }
    const tensor* running = b.init ? to : nullptr;
    for (const let_node* l : lets) {
      const node* what = compile(l->value, vars, running);
      d.lets.emplace_back(vars[l->var] = fresh_slot(), what);
    }
    d.body = compile(store->value, vars, running);
    if (read_.count(to)) refuse("block " + b.name + " reads what it writes");
    to->from = std::move(d);
    to->writes = true;
  }

  bool same_place(const std::vector<expr>& indices) const {
    if (indices.size() != indices_.size()) return false;
    for (std::size_t k = 0; k < indices.size(); ++k)
      if (!indices[k].same(indices_[k]) && !(is_int(indices[k], 0) && is_int(indices_[k], 0)))
        return false;
    return true;
  }

  void place(const block_node& b, const std::vector<iteration>& iters, const store_node& store,
             const scope& vars, const tensor& to, definition& d) {
    indices_ = store.indices;
    std::vector<bool> placed(iters.size(), false);
    for (std::size_t k = 0; k < store.indices.size(); ++k) {
      if (is_int(store.indices[k], 0) && to.extents[k] == 1) {
        d.places.push_back(fresh_slot());
        continue;
      }
      std::size_t n = 0;
      while (n < iters.size() && !b.iters[n].var.same(store.indices[k])) ++n;
      if (n == iters.size() || b.iters[n].kind != iter_kind::spatial || placed[n] ||
          iters[n].extent != to.extents[k])
        refuse("an index of " + to.name + " is not a spatial iteration variable over all of it");
      placed[n] = true;
      d.places.push_back(vars.at(store.indices[k]));
    }
    for (std::size_t n = 0; n < iters.size(); ++n) {
      if (b.iters[n].kind == iter_kind::reduce)
        d.reduced.push_back(iters[n]);
      else if (!placed[n] && iters[n].extent != 1)
        refuse("block " + b.name + " writes an element more than once");
    }
    accumulator_ = d.accumulator;
  }

  const node* compile(const expr& e, const scope& vars, const tensor* running) {
    node n;
    n.op = e->op;
    n.type = e.type();
    if (e->op == op::load) {
      n.from = find(e->buffer);
      if (n.from == running) {
        if (!same_place(e->args))
          refuse(n.from->name + " is read at another place than it is written");
        n.op = op::var;
        n.slot = accumulator_;
        return &nodes_.emplace_back(std::move(n));
      }
      if (!n.from->writes && !parameters_.count(n.from))
        refuse(n.from->name + " is read before it is written");
      read_.insert({n.from, true});
    } else if (e->op == op::var) {
      const auto at = vars.find(e);
      if (at == vars.end()) refuse("variable " + e->name + " has no value");
      n.slot = at->second;
    } else if (e->op == op::integer) {
      n.constant = of_int(e->integer);
    } else if (e->op == op::real) {
      n.constant = of_double(literal_value(e));
    }
    for (const expr& a : e->args) n.args.push_back(compile(a, vars, running));
    if (!e->args.empty()) n.operand = e->args[0].type();
    if (e->op == op::call) pick_call(n, e);
    return &nodes_.emplace_back(std::move(n));
  }

  void pick_call(node& n, const expr& e) {
    if (is_float(n.operand) && is_float(n.type)) {
      if (n.args.size() == 1)
        if (const interp::unary_function* u = interp::find_unary(e->name)) n.unary = u->of_double;
      if (n.args.size() == 2) n.binary = find_binary(e->name);
      if (n.unary || n.binary || (n.args.size() == 3 && e->name == "fma")) return;
    }
    refuse("intrinsic " + e->name + " of " + std::string(name(n.operand)) +
           " is not evaluated at points");
  }

  std::deque<tensor> tensors_;
  std::deque<node> nodes_;
  std::unordered_map<const buffer_node*, tensor*> of_;
  std::unordered_map<const tensor*, bool> read_, parameters_;
  scope scalars_, loops_;
  std::vector<expr> indices_;  // of the store that is being taken apart
  std::size_t accumulator_ = 0;
};

}  // namespace tilewright::ir::detail::point
