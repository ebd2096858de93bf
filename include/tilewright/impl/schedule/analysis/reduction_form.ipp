#pragma once

#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::primitive {
namespace detail::normal_form {

inline bool collect_stores(const ir::stmt& s, std::vector<const ir::store_node*>& out) {
  if (const ir::store_node* store = ir::as_store(s)) {
    out.push_back(store);
    return true;
  }
  const ir::seq_node* seq = ir::as_seq(s);
  if (!seq) return false;
  for (const ir::stmt& child : seq->stmts) {
    if (!ir::as_store(child)) return false;
    out.push_back(ir::as_store(child));
  }
  return true;
}

inline bool same_list(const std::vector<ir::expr>& a, const std::vector<ir::expr>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!ir::equal(a[i], b[i])) return false;
  return true;
}

/// Brings the stores of temporaries into the order of the temporaries.
inline std::string order_by_lets(const std::vector<const ir::let_node*>& lets,
                                 const std::vector<const ir::store_node*>& stores,
                                 reduction_form& out) {
  if (lets.size() != stores.size()) return "temporaries and stores differ in number (7)";
  for (const ir::let_node* let : lets) {
    for (const ir::let_node* other : lets)
      if (ir::uses_var(let->value, other->var)) return "a temporary depends on another (12)";
    const ir::store_node* found = nullptr;
    for (const ir::store_node* s : stores) {
      if (!s->value.same(let->var)) continue;
      if (found) return "temporary \"" + let->var->name + "\" is stored twice (6)";
      found = s;
    }
    if (!found) return "temporary \"" + let->var->name + "\" is not stored (5)";
    out.stores.push_back(found);
    out.updates.push_back(let->value);
  }
  return {};
}

inline std::string find_updates(const ir::stmt& body, reduction_form& out) {
  std::vector<const ir::let_node*> lets;
  const ir::stmt* s = &body;
  while (const ir::let_node* let = ir::as_let(*s)) {
    lets.push_back(let);
    s = &let->body;
  }
  std::vector<const ir::store_node*> stores;
  if (!collect_stores(*s, stores)) return "the update is no list of temporaries and stores (3)";
  if (!lets.empty()) return order_by_lets(lets, stores, out);
  if (stores.size() != 1) return "several stores without temporaries (7)";
  out.stores = stores;
  out.updates = {stores[0]->value};
  return {};
}

inline std::string compare_stores(const reduction_form& form) {
  const ir::store_node& first = *form.stores[0];
  for (std::size_t i = 1; i < form.stores.size(); ++i) {
    const ir::store_node& s = *form.stores[i];
    for (std::size_t j = 0; j < i; ++j)
      if (form.stores[j]->buffer == s.buffer)
        return "\"" + s.buffer->name + "\" is updated twice (8)";
    if (!same_list(first.buffer->shape, s.buffer->shape))
      return "\"" + first.buffer->name + "\" and \"" + s.buffer->name + "\" differ in shape (9)";
    if (!same_list(first.indices, s.indices)) return "the updates use different indices (10)";
  }
  return {};
}

}  // namespace detail::normal_form

TILEWRIGHT_INLINE std::string find_reduction_form(const ir::block_node& b, reduction_form& out) {
  using namespace detail::normal_form;
  std::vector<const ir::store_node*> inits;
  if (!b.match_buffers.empty() || !b.alloc_buffers.empty()) return "it has buffers of its own (13)";
  if (!b.init || !collect_stores(b.init, inits)) return "its init is no list of stores (1)";
  for (std::size_t i = 0; i < inits.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (inits[i]->buffer == inits[j]->buffer) return "its init stores one buffer twice (2)";
  std::string problem = find_updates(b.body, out);
  if (!problem.empty()) return problem;
  if (out.stores.size() != inits.size()) return "init and update differ in number of stores (4)";
  problem = compare_stores(out);
  if (!problem.empty()) return problem;
  for (const ir::store_node* s : out.stores) {
    const ir::store_node* init = nullptr;
    for (const ir::store_node* candidate : inits)
      if (candidate->buffer == s->buffer) init = candidate;
    if (!init) return "the init does not store \"" + s->buffer->name + "\" (11)";
    if (!same_list(init->indices, s->indices)) return "init and update use other indices (10)";
    out.identity.push_back(init->value);
  }
  return {};
}

}  // namespace tilewright::primitive
