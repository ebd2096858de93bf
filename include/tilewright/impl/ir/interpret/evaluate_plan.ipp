#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <unordered_map>
#include <utility>

#include <tilewright/impl/ir/interpret/evaluate_number.hpp>
#include <tilewright/impl/ir/interpret/evaluate_place.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/refusal.hpp>

namespace tilewright::ir::detail::point {

struct tensor;
struct definition;

/// An expression with its variables resolved to slots and its loads to states of tensors.
struct node {
  ir::op op = ir::op::integer;
  dtype type = dtype::i32;
  dtype operand = dtype::i32;  // type of the first argument
  number constant{};
  std::size_t slot = 0;
  tensor* from = nullptr;   // load
  std::size_t version = 0;  // blocks that wrote `from` before the load
  std::vector<const node*> args;
  double (*unary)(double) = nullptr;
  double (*binary)(double, double) = nullptr;
  bool jumps = false;                           // the function is a step, or not continuous
  const interp::expr_code* integers = nullptr;  // an intrinsic of integers, by the interpreter
};

/// One store of a block.
struct target {
  tensor* to = nullptr;
  std::size_t version = 0;  // blocks that wrote `to` before
  std::vector<const node*> index;
  std::optional<placement> place;  // nothing: `stored_by` is filled in by running the indices
  std::unordered_map<std::int64_t, std::int64_t> stored_by;  // iterations by position
  bool listed = false;
  const node* init = nullptr;
  const node* value = nullptr;
  std::size_t accumulator = 0;  // slot of the element that is stored
  bool updates = false;         // what is stored depends on what the element holds before
};

/// A block: what it stores in each iteration, and the iterations that it adds up.
struct definition {
  std::string name;
  std::vector<iteration> spatial, reduced;
  std::vector<const node*> lengths;  // of `reduced`, where data say how many; null: their extents
  std::vector<expr> sums_over;       // loops of `reduced`
  std::vector<std::pair<std::size_t, const node*>> lets;
  std::vector<target> targets;
};

using reader = value (*)(const std::byte*);

struct tensor {
  struct writer {
    definition* by;
    std::size_t target;
  };
  std::string name;
  dtype type = dtype::f32;
  std::vector<std::int64_t> extents, strides;  // [rank], elements; strides of parameters
  const std::byte* data = nullptr;             // what a parameter holds before the function
  reader read = nullptr;
  bool parameter = false;
  bool held = false;            // a block reads what it holds before
  int nest = 0;                 // that wrote it last
  std::vector<writer> writers;  // in program order
  // [versions], by row-major position
  std::vector<std::unordered_map<std::int64_t, number>> known;
};

inline constexpr support::refusal<argument_error> refuse{""};

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
  if (name == "maximum") return [](double a, double b) { return a > b || a != a ? a : b; };
  if (name == "minimum") return [](double a, double b) { return a < b || a != a ? a : b; };
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
    collect_nests(root->body);
    for (tensor& t : tensors_) t.known.resize(t.writers.size() + 1);
  }

  std::vector<tensor*> outputs;           // per parameter; null for scalars
  std::vector<std::size_t> scalar_slots;  // per parameter
  std::vector<number> slots;

 private:
  using scope = std::unordered_map<expr, std::size_t, expr_identity_hash, expr_identity_equal>;

  void add_param(const param& p) {
    scalar_slots.push_back(0);
    outputs.push_back(nullptr);
    if (p.buffer) {
      outputs.back() = add_tensor(p.buffer);
      outputs.back()->parameter = true;
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
    slots.push_back(exact_integer(0));
    return slots.size() - 1;
  }

  const node* keep(node n) { return &nodes_.emplace_back(std::move(n)); }

  /// Statements that follow each other run one after the other: each finds the tensors as the
  /// earlier ones left them.
  void collect_nests(const stmt& s) {
    if (const seq_node* q = as_seq(s)) {
      for (const stmt& child : q->stmts) collect_nests(child);
      return;
    }
    ++nest_;
    shared_ = false;
    collect(s);
  }

  void collect(const stmt& s) {
    if (const seq_node* q = as_seq(s)) {
      shared_ = true;
      for (const stmt& child : q->stmts) collect(child);
    } else if (const loop_node* l = as_loop(s)) {
      if (!is_int(l->extent)) refuse("a loop over " + l->var->name + " has no literal extent");
      enter(*l);
      collect(l->body);
      around_.pop_back();
    } else if (const block_realize_node* r = as_realize(s)) {
      add_block(*r);
    } else {
      refuse("a statement stands outside of the blocks");
    }
  }

  void enter(const loop_node& l) {
    if (!is_int(l.min, 0)) refuse("a loop over " + l.var->name + " does not begin with 0");
    loops_.emplace(l.var, l.extent);
    around_.push_back(l.var);
  }

  /// A block of lets and stores, or one around a nest of loops with such a block in it, as for the rows
  /// of a sparse matrix: of that one both have the iterations together.
  void add_block(const block_realize_node& r) {
    stmt inside = r.block->body;
    while (as_loop(inside)) inside = as_loop(inside)->body;
    const block_realize_node* inner = as_realize(inside);
    if (!inner || r.block->init) return add_definition(r, nullptr);
    const std::size_t depth = around_.size();
    for (stmt s = r.block->body; as_loop(s); s = as_loop(s)->body) enter(*as_loop(s));
    add_definition(*inner, &r);
    around_.resize(depth);
  }

  /// Binds the iteration variables to slots; every instance of the block has to run exactly once.
  void bind(const block_realize_node& r, scope& vars, definition& d) {
    const block_node& b = *r.block;
    if (!is_true(r.predicate) || !b.alloc_buffers.empty() || !b.match_buffers.empty())
      refuse("block " + b.name + " is scheduled");
    scope used;
    for (std::size_t k = 0; k < b.iters.size(); ++k) {
      const iter_var& v = b.iters[k];
      const auto loop = loops_.find(r.values[k]);
      const bool whole = is_int(v.dom.min, 0) &&
                         (is_int(r.values[k], 0)
                              ? is_int(v.dom.extent, 1)
                              : loop != loops_.end() && same_extent(loop->second, v.dom.extent) &&
                                    used.emplace(r.values[k], 0).second);
      const bool counted = is_int(v.dom.extent);
      if (!counted && v.kind == iter_kind::spatial)
        refuse("the results of block " + b.name + " are as many as data say");
      if (!whole || (v.kind != iter_kind::spatial && v.kind != iter_kind::reduce))
        refuse("iteration variable " + v.var->name + " of block " + b.name + " is not one loop");
      if (v.kind == iter_kind::reduce) {
        d.sums_over.push_back(r.values[k]);
        d.lengths.push_back(counted ? nullptr : compile(v.dom.extent, vars, nullptr));
      }
      (v.kind == iter_kind::reduce ? d.reduced : d.spatial)
          .push_back({v.var, vars[v.var] = fresh_slot(), counted ? as_int(v.dom.extent) : 0});
    }
  }

  static bool same_extent(const expr& a, const expr& b) {
    return is_int(a) && is_int(b) ? as_int(a) == as_int(b) : same_place({a}, {b});
  }

  static void list_stores(const block_node& b, const stmt& s,
                          std::vector<const store_node*>& stores) {
    if (const seq_node* q = as_seq(s)) {
      for (const stmt& child : q->stmts) list_stores(b, child, stores);
      return;
    }
    if (!as_store(s)) refuse("block " + b.name + " is more than lets and stores");
    stores.push_back(as_store(s));
  }

  /// @param around the block around the nest of this one; null when it stands in the root block
  void add_definition(const block_realize_node& r, const block_realize_node* around) {
    const block_node& b = *r.block;
    definition& d = definitions_.emplace_back();
    d.name = b.name;
    scope vars = scalars_;
    if (around) bind(*around, vars, d);
    bind(r, vars, d);
    stmt body = b.body;
    std::vector<const let_node*> lets;
    for (; as_let(body); body = as_let(body)->body) lets.push_back(as_let(body));
    stores_.clear();
    list_stores(b, body, stores_);
    for (const store_node* s : stores_) add_target(*s, vars, d);
    if (b.init) add_inits(b, vars, d);
    for (const let_node* l : lets) {
      const node* what = compile(l->value, vars, &d);
      d.lets.emplace_back(vars[l->var] = fresh_slot(), what);
    }
    for (std::size_t k = 0; k < d.targets.size(); ++k)
      d.targets[k].value = compile(stores_[k]->value, vars, &d);
    for (std::size_t k = 0; k < d.targets.size(); ++k) {
      d.targets[k].to->writers.push_back({&d, k});
      d.targets[k].to->nest = nest_;
    }
  }

  void add_target(const store_node& store, const scope& vars, definition& d) {
    target t;
    t.to = find(store.buffer);
    t.version = t.to->writers.size();
    t.accumulator = fresh_slot();
    for (const target& other : d.targets)
      if (other.to == t.to) refuse("block " + d.name + " stores in " + t.to->name + " twice");
    if (shared_ && (t.version > 0 || t.to->held)) refuse_turns(*t.to);
    for (const expr& e : store.indices) t.index.push_back(compile(e, vars, nullptr));
    t.place = placement::of(store.indices, d.spatial);
    for (const iteration& i : d.reduced)
      for (const expr& e : store.indices)
        if (uses_var(e, i.name))
          refuse("the reduction of block " + d.name + " stores in several elements of " +
                 t.to->name);
    d.targets.push_back(std::move(t));
  }

  void add_inits(const block_node& b, const scope& vars, definition& d) {
    std::vector<const store_node*> inits;
    list_stores(b, b.init, inits);
    for (const store_node* s : inits) {
      std::size_t k = 0;
      while (k < stores_.size() && stores_[k]->buffer != s->buffer) ++k;
      if (k == stores_.size() || !same_place(s->indices, stores_[k]->indices))
        refuse("init of block " + b.name + " does not store where its body does");
      d.targets[k].init = compile(s->value, vars, nullptr);
    }
    for (const target& t : d.targets)
      if (!t.init) refuse("init of block " + b.name + " leaves out " + t.to->name);
  }

  static bool same_place(const std::vector<expr>& a, const std::vector<expr>& b) {
    const auto buffers = [](const expr& e) {
      std::vector<buffer> out;
      for_each_expr(e, [&](const expr& x) {
        if (x->op == op::load) out.push_back(x->buffer);
      });
      return out;
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const expr& x, const expr& y) {
      return equal(x, y) && buffers(x) == buffers(y);
    });
  }

  /// `within` is the block whose own elements loads may mean; null for its indices and its init.
  const node* compile(const expr& e, const scope& vars, definition* within) {
    node n;
    n.op = e->op;
    n.type = e.type();
    if (e->op == op::load) {
      n.from = find(e->buffer);
      for (std::size_t k = 0; within && k < within->targets.size(); ++k) {
        target& own = within->targets[k];
        if (own.to != n.from) continue;
        if (!same_place(e->args, stores_[k]->indices))
          refuse("block " + within->name + " reads " + n.from->name +
                 " at another place than it writes");
        own.updates = !own.init;
        if (own.updates && own.version == 0) need_initial(*n.from);
        n.op = op::var;
        n.slot = own.accumulator;
        return keep(std::move(n));
      }
      n.version = n.from->writers.size();
      if (n.version == 0) {
        need_initial(*n.from);
      } else if (shared_ && n.from->nest == nest_ &&
                 (n.from->held || is_summing(*n.from->writers.back().by))) {
        refuse_turns(*n.from);
      }
    } else if (e->op == op::var) {
      const auto at = vars.find(e);
      if (at == vars.end()) refuse("variable " + e->name + " has no value");
      n.slot = at->second;
    } else if (e->op == op::integer) {
      n.constant = exact_integer(e->integer);
    } else if (e->op == op::real) {
      n.constant = exact_float(literal_value(e));
    } else if (e->op == op::text || e->op == op::data || e->op == op::let) {
      refuse("a pointer, a text or a let is not evaluated at points");
    }
    for (const expr& a : e->args) n.args.push_back(compile(a, vars, within));
    if (!e->args.empty()) n.operand = e->args[0].type();
    if (e->op == op::call) pick_call(n, e);
    return keep(std::move(n));
  }

  static void need_initial(tensor& t) {
    if (!t.parameter) refuse(t.name + " is read before it is written");
    t.held = true;
  }

  /// A loop around is one that the block adds up along.
  bool is_summing(const definition& d) const {
    return support::any(around_, [&](const expr& loop) {
      return support::any(d.sums_over, [&](const expr& l) { return l.same(loop); });
    });
  }

  /// Blocks that share loops take turns, and an element may be read before or after its turn.
  [[noreturn]] static void refuse_turns(const tensor& t) {
    refuse("blocks that share loops write and read " + t.name + " in turn");
  }

  void pick_call(node& n, const expr& e) {
    if (is_float(n.operand) && is_float(n.type)) {
      if (n.args.size() == 1)
        if (const interp::unary_function* u = interp::find_unary(e->name)) n.unary = u->of_double;
      if (n.args.size() == 2) n.binary = find_binary(e->name);
      n.jumps =
          is_step(e->name) || e->name == "fmod" || e->name == "copysign" || e->name == "atan2";
      if (n.unary || n.binary || (n.args.size() == 3 && e->name == "fma")) return;
    } else if (!is_float(n.operand) && !is_float(n.type)) {
      interp::expr_code& code = codes_.emplace_back();
      if (interp::pick_call(code, e->name, n.operand, n.args.size())) {
        n.integers = &code;
        return;
      }
    }
    refuse("intrinsic " + e->name + " of " + std::string(name(n.operand)) +
           " is not evaluated at points");
  }

  std::deque<tensor> tensors_;
  std::deque<definition> definitions_;
  std::deque<node> nodes_;
  std::deque<interp::expr_code> codes_;
  std::unordered_map<const buffer_node*, tensor*> of_;
  scope scalars_;
  var_map loops_;             // their extents
  std::vector<expr> around_;  // loops around the statement that is being collected
  int nest_ = 0;              // number of the statement of the root block that is being collected
  bool shared_ = false;       // its loops are those of several blocks
  std::vector<const store_node*> stores_;  // of the block that is being taken apart
};

}  // namespace tilewright::ir::detail::point
