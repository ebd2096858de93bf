#include "product_form.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include <tilewright/ir/visit.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace gpu_case {
namespace {

using namespace tilewright;
using ir::as_realize, ir::as_store, ir::op;

struct no_form {};

/// A statement of a block: what a store writes for which variable.
struct writer {
  const ir::store_node* store;
  const ir::block_node* block;
};

std::vector<writer> writers_of(const ir::function& f) {
  std::vector<writer> out;
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    const ir::block_realize_node* r = as_realize(s);
    if (!r || r->block->iters.empty()) return;  // the root
    for (const ir::stmt& part : {r->block->init, r->block->body}) {
      if (!part) continue;
      const ir::store_node* to = as_store(part);
      if (!to || !ir::is_true(r->predicate)) throw no_form{};
      out.push_back({to, r->block.get()});
    }
  });
  return out;
}

bool is_narrow_integer(dtype t) { return !is_float(t) && bytes(t) < 4; }

/// How many factors of a term depend on the place along the dimension; `zero`: a sum of no terms.
class degrees {
 public:
  static constexpr int zero = -1;

  degrees(std::vector<writer> writers, const ir::buffer& output, int dimension)
      : writers_(std::move(writers)), extent_(extent_of(output, dimension)) {
    carried_[output] = dimension;
    for (std::size_t known = 0; known != carried_.size();) {
      known = carried_.size();
      check();
    }
    check();
  }

  /// Buffers that go along the dimension.
  const std::unordered_map<ir::buffer, int>& carried() const { return carried_; }

 private:
  static std::int64_t extent_of(const ir::buffer& b, int dimension) {
    const ir::expr& e = b->shape[static_cast<std::size_t>(dimension)];
    if (!ir::is_int(e)) throw no_form{};
    return e->integer;
  }

  void check() {
    for (const writer& w : writers_) {
      const auto to = carried_.find(w.store->buffer);
      if (to == carried_.end()) {
        along_ = {};
        if (of(w.store->value) == 1)
          throw no_form{};  // and what is no load of these is of degree 0
        continue;
      }
      const auto& index = w.store->indices;
      along_ = index[static_cast<std::size_t>(to->second)];
      const auto it = std::find_if(w.block->iters.begin(), w.block->iters.end(),
                                   [&](const ir::iter_var& i) { return i.var.same(along_); });
      if (it == w.block->iters.end() || it->kind != ir::iter_kind::spatial ||
          !ir::is_int(it->dom.extent) || it->dom.extent->integer != extent_)
        throw no_form{};
      for (std::size_t d = 0; d < index.size(); ++d)
        if (static_cast<int>(d) != to->second && ir::uses_var(index[d], along_)) throw no_form{};
      if (of(w.store->value) == 0) throw no_form{};
    }
  }

  static int sum(int a, int b) {
    if (a == zero) return b;
    if (b != zero && a != b) throw no_form{};
    return a;
  }

  int of(const ir::expr& e) {
    switch (e->op) {
      case op::integer: return e->integer == 0 ? zero : 0;
      case op::real: return e->real == 0 ? zero : 0;
      case op::var:
        if (along_ && e.same(along_)) throw no_form{};
        return 0;
      case op::load:
        if (const int n = of_load(e); n != 1 || !is_narrow_integer(e.type())) return n;
        throw no_form{};
      case op::cast: {
        const ir::expr& x = e->args[0];
        const int n = x->op == op::load ? of_load(x) : of(x);
        if (n == 1 && (is_float(e.type()) != is_float(x.type()) || is_narrow_integer(e.type())))
          throw no_form{};
        return n;
      }
      case op::add:
      case op::sub: return sum(of(e->args[0]), of(e->args[1]));
      case op::mul: {
        const int a = of(e->args[0]), b = of(e->args[1]);
        if (a == 1 && b == 1) throw no_form{};
        return a == zero || b == zero ? zero : a + b;
      }
      case op::div: {
        if (!is_float(e.type())) break;
        const int a = of(e->args[0]);
        if (of(e->args[1]) == 1) throw no_form{};
        return a;
      }
      case op::if_then_else:
      case op::select:
        if (of(e->args[0]) == 1) throw no_form{};
        return sum(of(e->args[1]), of(e->args[2]));
      default: break;
    }
    for (const ir::expr& a : e->args)
      if (of(a) == 1) throw no_form{};
    return 0;
  }

  int of_load(const ir::expr& e) {
    int at = -1;
    for (std::size_t d = 0; d < e->args.size(); ++d) {
      if (along_ && e->args[d].same(along_)) {
        if (at >= 0) throw no_form{};
        at = static_cast<int>(d);
      } else if (of(e->args[d]) == 1) {
        throw no_form{};
      }
    }
    const auto known = carried_.find(e->buffer);
    if (at < 0) {
      if (known != carried_.end()) throw no_form{};
      return 0;
    }
    if (known == carried_.end()) {
      if (extent_of(e->buffer, at) != extent_) throw no_form{};
      carried_[e->buffer] = at;
    } else if (known->second != at) {
      throw no_form{};
    }
    return 1;
  }

  std::vector<writer> writers_;
  std::int64_t extent_;
  std::unordered_map<ir::buffer, int> carried_;
  ir::expr
      along_;  // the variable of the dimension in the block that is looked at; null: it has none
};

class summed_inputs : public ir::mutator {
 public:
  using mutator::mutate;

  explicit summed_inputs(ir::buffer_map inputs) : inputs_(std::move(inputs)) {}

  ir::expr mutate(const ir::expr& e) override {
    if (e->op == op::cast && e->args[0]->op == op::load && inputs_.count(e->args[0]->buffer))
      return ir::cast(e.type(), load(e->args[0]));
    if (e->op == op::load && inputs_.count(e->buffer)) return ir::cast(e.type(), load(e));
    return mutator::mutate(e);
  }
  ir::buffer mutate(const ir::buffer& b) override {
    const auto found = inputs_.find(b);
    return found == inputs_.end() ? b : found->second;
  }

 private:
  ir::expr load(const ir::expr& e) {
    std::vector<ir::expr> index;
    for (const ir::expr& a : e->args) index.push_back(mutate(a));
    return ir::load(inputs_.at(e->buffer), index);
  }

  ir::buffer_map inputs_;
};

}  // namespace

std::optional<product_form> product_form_of(const ir::function& f, std::size_t output) {
  const ir::buffer& to = f.params[output].buffer;
  std::vector<int> order(to->shape.size());
  std::iota(order.begin(), order.end(), 0);
  const auto extent = [&](int d) {
    const ir::expr& e = to->shape[static_cast<std::size_t>(d)];
    return ir::is_int(e) ? e->integer : 0;
  };
  support::stable_sort(order, [&](int a, int b) { return extent(a) > extent(b); });
  for (const int d : order) {
    if (extent(d) < 2) break;
    try {
      const std::vector<writer> writers = writers_of(f);
      const degrees known(writers, to, d);
      product_form out{static_cast<std::size_t>(d), extent(d),
                       std::vector<int>(f.params.size(), -1)};
      bool reads = false;
      for (std::size_t p = 0; p < f.params.size(); ++p) {
        const auto found = known.carried().find(f.params[p].buffer);
        if (found == known.carried().end()) continue;
        const bool written = std::any_of(writers.begin(), writers.end(), [&](const writer& w) {
          return w.store->buffer == found->first;
        });
        if (written) continue;
        out.dimensions[p] = found->second;
        reads = true;
      }
      if (reads) return out;
    } catch (const no_form&) {
    }
  }
  return {};
}

ir::function with_sums(const ir::function& f, const product_form& form) {
  ir::buffer_map inputs;
  ir::function out = f;
  for (std::size_t p = 0; p < f.params.size(); ++p) {
    if (form.dimensions[p] < 0) continue;
    const ir::buffer& old = f.params[p].buffer;
    auto* node = new ir::buffer_node(*old);
    node->type = is_float(old->type) ? dtype::f64 : dtype::i32;
    node->strides = {};  // as the memory that is given says
    out.params[p].buffer = inputs[old] = ir::buffer(node);
  }
  out.body = summed_inputs(std::move(inputs)).mutate(f.body);
  return out;
}

}  // namespace gpu_case
