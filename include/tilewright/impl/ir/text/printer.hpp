// The printer of scripts and its table of names; used by print_expr.ipp, print.ipp and
// print_sparse.ipp.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir::detail {

/// Unique spellings of variables and buffers. A name given in a scope is free again when the scope
/// ends, so that sibling nests read alike.
class name_table {
 public:
  name_table();
  /// Gives the node a name like `hint`, until the current scope ends.
  const std::string& define(const void* node, std::string_view hint);
  /// The node's name; a node that nobody defined is named now and for good.
  const std::string& use(const void* node, std::string_view hint);
  bool knows(const void* node) const { return names_.count(node) != 0; }
  std::size_t mark() const { return scope_.size(); }
  void release(std::size_t mark);

 private:
  const std::string& insert(const void* node, std::string_view hint);
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::vector<const void*> scope_;
};

/// Binding strength of operators; an operand weaker than its place gets parentheses.
enum class strength : int {
  any,
  disjunction,
  conjunction,
  negation,
  comparison,
  sum,
  product,
  sign,
  atom
};

class printer {
 public:
  std::string take() { return std::move(out_); }

  // print_expr.ipp
  void write(const expr& e, strength place = strength::any);
  void write(const buffer_region& r);
  void write_list(const std::vector<expr>& list);
  /// `(128, 64), "float32", scope="local"`: what declares a buffer
  void write_layout(const buffer& b);

  // print.ipp
  void write(const function& f);
  void write(const stmt& s);

  // print_sparse.ipp
  void write(const sparse_function& f);

 private:
  void literal(const expr& e, strength place);
  void binary(const expr& e, std::string_view symbol, strength own, strength place);
  void called(std::string_view name, const std::vector<expr>& args);
  void intrinsic(const expr& e);
  void opaque(const expr& e);
  void shuffle(const expr& e);
  void reducer(const expr& e);  // comm_reducer.ipp
  void reducer_name(const expr& e);
  void let(const expr& e);
  void access(const buffer& b, const std::vector<expr>& indices);
  void tuple(const std::vector<expr>& list);
  void bounds(const range& r);
  const std::string& name_of(const var& v) {
    if (!names_.knows(v.get())) free_.push_back(v);
    return names_.use(v.get(), v->name);
  }
  const std::string& name_of(const buffer& b) { return names_.use(b.get(), b->name); }

  void write(const sparse_axis_node& axis);
  void write(const sparse_iteration& it);

  void line();  // starts a line at the current indentation
  void param_list(const function& f);
  void match_params(const function& f);
  void declare_free_vars(const buffer& b);
  void function_body(const stmt& body);
  void suite(const stmt& body);
  void statements(const stmt& s);
  void statement(const stmt& s, bool last);
  void loop(const loop_node& first);
  void loop_header(const loop_node& n);
  void let(const let_node& n, bool last);
  void allocate(const allocate_node& n, bool last);
  void attribute(const attribute_node& n);
  void branch(const if_node& n);
  void realize(const block_realize_node& n);
  void block_header(const block_realize_node& n);
  void iterations(const block_realize_node& n);
  void iteration(const iter_var& iter, const expr& value);
  void regions(std::string_view name, const std::vector<buffer_region>& list);
  void allocations(const std::vector<buffer>& list);
  void matches(const std::vector<match_buffer>& list);
  bool binds_loop(const iter_var& iter, const expr& value) const;

  std::string out_;
  int depth_ = 0;
  name_table names_;
  std::size_t reducer_half_ = 0;  // parameters of the reducer that is printed, halved
  std::vector<var> free_;         // used where nothing defines them; a function declares them first
  std::unordered_map<const expr_node*, const loop_node*> loops_;  // around the current statement
};

/// True when `parse` would put a root block around what stands in this one, so that it need not be
/// printed.
bool root_is_implied(const stmt& body);

/// min + extent, as a reader would write it.
expr stop_of(const range& r);

}  // namespace tilewright::ir::detail
