// What the printer of kernels asks of functions and statements: names, the memory that they use, and what a straight
// line of them computes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::backend::cuda::detail::kernel_text {

using namespace tilewright::ir;

/// Memory of the whole device that a function allocates for its kernels.
struct device_memory {
  std::unordered_map<const buffer_node*, std::int64_t> offsets;  // bytes
  std::int64_t bytes = 0;
};

/// What kernels use of the function's parameters.
struct uses {
  std::vector<buffer> buffers;  // of global memory, in order of first use
  std::vector<buffer> written;
  std::vector<expr> scalars;

  void add(const stmt& body, const device_memory& memory, const function& f) {
    const auto once = [](auto& list, const auto& x, const auto& same) {
      if (support::none(list, same)) list.push_back(x);
    };
    const auto use = [&](const buffer& b) {
      const bool parameter = support::any(f.params, [&](const param& p) { return p.buffer == b; });
      if (parameter || memory.offsets.count(b.get()))
        once(buffers, b, [&](const buffer& other) { return other == b; });
    };
    for_each_stmt(body, [&](const stmt& s) {
      const store_node* store = as_store(s);
      if (!store) return;
      use(store->buffer);
      once(written, store->buffer, [&](const buffer& b) { return b == store->buffer; });
    });
    for_each_expr(body, [&](const expr& e) {
      if (e->op == op::load) use(e->buffer);
    });
  }
  bool writes(const buffer& b) const { return support::contains(written, b); }
};

/// The function's own name, reduced to what a symbol may have.
inline std::string symbol_base(const function& f) {
  std::string out;
  for (const char c : f.name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out += plain ? c : '_';
  }
  return "tilewright_" + out;
}

/// Statements one after the other, as those of a reduction's update.
struct straight_line {
  std::vector<expr> values;
  std::vector<buffer> stored;
  var_set lets;

  /// @returns false for other statements
  bool collect(const stmt& s) {
    if (const seq_node* seq = as_seq(s))
      return support::all(seq->stmts, [&](const stmt& child) { return collect(child); });
    if (const let_node* let = as_let(s)) {
      values.push_back(let->value);
      lets.insert(let->var);
      return collect(let->body);
    }
    const store_node* store = as_store(s);
    if (!store) return false;
    values.push_back(store->value);
    stored.push_back(store->buffer);
    return true;
  }
  bool stores(const buffer& b) const { return support::contains(stored, b); }
};

}  // namespace tilewright::backend::cuda::detail::kernel_text
