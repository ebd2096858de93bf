#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/support/refusal.hpp>

namespace tilewright::ir {
namespace detail {

/// Extents and what they are called.
struct named_extents {
  std::vector<std::string> names;
  std::vector<std::int64_t> values;

  void add(const std::string& name, const expr& extent) {
    if (!is_int(extent)) return;
    names.push_back(name);
    values.push_back(std::max<std::int64_t>(as_int(extent), 0));
  }
  bool too_large(std::int64_t unit) const {
    const auto volume = support::checked_volume(values);
    return !volume || *volume > largest_size / unit;
  }
  std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < values.size(); ++i)
      out += (i ? ", " : "") + names[i] + " of " + std::to_string(values[i]);
    return out;
  }
};

class extent_check : public visitor {
 public:
  using visitor::visit;

  void check(const buffer& b) {
    std::string shape;
    std::vector<std::int64_t> literal;
    for (const expr& e : b->shape) {
      if (!is_int(e)) continue;
      if (as_int(e) < 0)
        throw argument_error("buffer " + b->name + " has the extent " + std::to_string(as_int(e)) +
                             "; extents are 0 or more");
      literal.push_back(as_int(e));
      shape += (shape.empty() ? "" : " x ") + std::to_string(as_int(e));
    }
    const auto volume = support::checked_volume(literal);
    if (!volume || *volume > largest_size / bytes(b->type))
      throw argument_error("buffer " + b->name + " of " + shape + " elements of " +
                           std::string(name(b->type)) + " is larger than memory can be");
  }

  void visit(const stmt& s) override {
    const loop_node* l = as_loop(s);
    if (const allocate_node* a = as_allocate(s)) check(a->buffer);
    if (!l || !is_int(l->extent)) return visitor::visit(s);
    around_.add(l->var->name, l->extent);
    if (around_.too_large(1)) refuse({"loops ", around_.text()});
    visitor::visit(s);
    around_.names.pop_back();
    around_.values.pop_back();
  }

  void visit(const block& b) override {
    for (const buffer& a : b->alloc_buffers) check(a);
    named_extents domain;
    for (const iter_var& v : b->iters) domain.add(v.var->name, v.dom.extent);
    if (domain.too_large(1)) refuse({"block ", b->name, ": variables ", domain.text()});
    visitor::visit(b);
  }

  void visit(const expr&) override {}

 private:
  static constexpr support::refusal<argument_error> refuse{
      "", " run more often than any machine could"};
  named_extents around_;
};

}  // namespace detail

TILEWRIGHT_INLINE void check_extents(const function& f) {
  detail::extent_check checks;
  for (const param& p : f.params)
    if (p.buffer) checks.check(p.buffer);
  checks.visit(f.body);
}

TILEWRIGHT_INLINE std::int64_t elements_of(const buffer& b, std::int64_t other) {
  std::int64_t out = 1;
  for (const expr& extent : b->shape)
    out = support::saturated_product(out, is_int(extent) ? as_int(extent) : other);
  return out;
}

TILEWRIGHT_INLINE std::int64_t bytes_of(const buffer& b, std::int64_t other) {
  return support::saturated_product(elements_of(b, other), bytes(b->type));
}

}  // namespace tilewright::ir
