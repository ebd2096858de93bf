// Statements, blocks and functions of the tensor IR (TensorIR, ASPLOS 23, section 3).
//
// A block is the unit of isolation: its body sees the outside only through its iteration variables
// and the buffers it declares to read and write. A `block_realize` binds the iteration variables to
// expressions of the surrounding loops and may guard the instance with a predicate. `init` runs for
// those instances in which every reduce iteration variable is at the start of its domain.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/ir/expr.hpp>
#include <tilewright/support/kept.hpp>

namespace tilewright::ir {

/// Value of an annotation or function attribute: a number, a string, or lists and maps of such.
///
/// What makes, copies and ends a value is declared here and defined with the library, as for the other
/// types around a std::variant: a compiler that writes these out for itself spends a tenth of the include
/// on them.
struct attr {
  using list = std::vector<attr>;
  using dict = std::map<std::string, attr>;
  std::variant<std::int64_t, double, std::string, list, dict> value;

  attr();
  attr(int v);           // NOLINT
  attr(std::int64_t v);  // NOLINT
  attr(double v);        // NOLINT
  attr(const char* v);   // NOLINT
  attr(std::string v);   // NOLINT
  attr(list v);          // NOLINT
  attr(dict v);          // NOLINT
  attr(const attr&);
  attr(attr&&) noexcept;
  attr& operator=(const attr&);
  attr& operator=(attr&&) noexcept;
  ~attr();
  friend bool operator==(const attr& a, const attr& b);
};
using annotations = std::map<std::string, attr>;

/// The value of a key, looked up without making a string of it; null where there is none.
inline const attr* find_note(const annotations& notes, std::string_view key) noexcept {
  for (const auto& [name, value] : notes)  // there are few
    if (const int order = name.compare(key); order >= 0) return order == 0 ? &value : nullptr;
  return nullptr;
}

/// Half-open interval [min, min + extent) of one dimension.
struct range {
  expr min;
  expr extent;
};

/// Box of a buffer that a block touches, in terms of its iteration variables; one range per
/// dimension.
struct buffer_region {
  ir::buffer buffer;
  std::vector<range> box;
};

enum class iter_kind : std::uint8_t { spatial, reduce, ordered, opaque };

/// Iteration variable of a block with its domain.
struct iter_var {
  ir::var var;
  range dom;
  iter_kind kind = iter_kind::spatial;
};

/// New buffer that aliases a region of another one inside a block.
struct match_buffer {
  ir::buffer buffer;
  buffer_region source;
};

enum class stmt_kind : std::uint8_t {
  loop,
  block_realize,
  seq,
  store,
  if_else,
  let,
  evaluate,
  allocate,
  while_loop,
  attribute
};

struct stmt_node : support::counted {
  explicit stmt_node(stmt_kind k) : kind(k) {}
  virtual ~stmt_node() = default;
  stmt_node(const stmt_node&) = default;
  stmt_node& operator=(const stmt_node&) = delete;
  const stmt_kind kind;
  // kinds of parts that stand in it (impl/schedule/legality/watched_parts.hpp)
  support::kept_bits parts;
};
/// Shared handle to an immutable statement.
using stmt = support::ref<const stmt_node>;

struct block_node;
/// Shared handle to a block. A block has two identities: the node (this version of it) and `id`,
/// which stays the same through rewrites and is what a schedule's block variable names.
using block = support::ref<const block_node>;

enum class loop_kind : std::uint8_t { serial, parallel, vectorized, unrolled, thread_binding };

/// `for var in [min, min + extent)`. The loop's identity through rewrites is `var`.
struct loop_node : stmt_node {
  loop_node() : stmt_node(stmt_kind::loop) {}
  ir::var var;
  expr min;
  expr extent;
  loop_kind loop = loop_kind::serial;
  std::string thread_tag;  // thread_binding: "blockIdx.x", ...
  ir::annotations annotations;
  stmt body;
};

struct block_node : support::counted {
  std::uint64_t id = 0;  // from `fresh_block_id`; kept when the block is rewritten
  std::string name;
  std::vector<iter_var> iters;
  std::vector<buffer_region> reads;
  std::vector<buffer_region> writes;
  std::vector<ir::buffer> alloc_buffers;
  std::vector<match_buffer> match_buffers;
  ir::annotations annotations;
  stmt init;  // null when the block is no reduction
  stmt body;
  support::kept_answer uses;  // the buffers that it touches (ir/analysis/buffer_uses.hpp)
};

struct block_realize_node : stmt_node {
  block_realize_node() : stmt_node(stmt_kind::block_realize) {}
  std::vector<expr> values;  // one per iteration variable
  expr predicate;            // boolean; literal true when there is no guard
  ir::block block;
  support::kept_answer bound;  // what the bindings come to (impl/dependence/cover/footprint.hpp)
};

struct seq_node : stmt_node {
  seq_node() : stmt_node(stmt_kind::seq) {}
  std::vector<stmt> stmts;
};

struct store_node : stmt_node {
  store_node() : stmt_node(stmt_kind::store) {}
  ir::buffer buffer;
  std::vector<expr> indices;
  expr value;
};

struct if_node : stmt_node {
  if_node() : stmt_node(stmt_kind::if_else) {}
  expr condition;
  stmt then_body;
  stmt else_body;  // may be null
};

struct let_node : stmt_node {
  let_node() : stmt_node(stmt_kind::let) {}
  ir::var var;
  expr value;
  stmt body;
};

struct evaluate_node : stmt_node {
  evaluate_node() : stmt_node(stmt_kind::evaluate) {}
  expr value;
};

/// Lowered form of a block's `alloc_buffers`: the buffer lives while the body runs.
struct allocate_node : stmt_node {
  allocate_node() : stmt_node(stmt_kind::allocate) {}
  ir::buffer buffer;
  stmt body;
};

/// The body runs as long as the condition holds before it.
struct while_node : stmt_node {
  while_node() : stmt_node(stmt_kind::while_loop) {}
  expr condition;
  stmt body;
};

/// Remark on a node for whoever lowers the body: it has no meaning of its own.
struct attribute_node : stmt_node {
  attribute_node() : stmt_node(stmt_kind::attribute) {}
  expr node;  // what the remark is about
  std::string key;
  expr value;
  stmt body;
};

/// Parameter of a function: a buffer, or a scalar variable when `buffer` is null.
struct param {
  ir::buffer buffer;
  ir::var scalar;
};

/// A tensor program. The body of a schedulable function is the realize of a root block without
/// iteration variables. Symbolic extents are variables that occur in parameter shapes.
struct function {
  std::string name = "main";
  std::vector<param> params;
  annotations attrs;
  stmt body;
};

/// Downcast by kind: null when `s` is null or of another kind.
inline const loop_node* as_loop(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::loop ? static_cast<const loop_node*>(s.get()) : nullptr;
}
inline const block_realize_node* as_realize(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::block_realize ? static_cast<const block_realize_node*>(s.get())
                                                  : nullptr;
}
inline const seq_node* as_seq(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::seq ? static_cast<const seq_node*>(s.get()) : nullptr;
}
inline const store_node* as_store(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::store ? static_cast<const store_node*>(s.get()) : nullptr;
}
inline const if_node* as_if(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::if_else ? static_cast<const if_node*>(s.get()) : nullptr;
}
inline const let_node* as_let(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::let ? static_cast<const let_node*>(s.get()) : nullptr;
}
inline const evaluate_node* as_evaluate(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::evaluate ? static_cast<const evaluate_node*>(s.get()) : nullptr;
}
inline const allocate_node* as_allocate(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::allocate ? static_cast<const allocate_node*>(s.get()) : nullptr;
}

inline const while_node* as_while(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::while_loop ? static_cast<const while_node*>(s.get()) : nullptr;
}
inline const attribute_node* as_attribute(const stmt& s) noexcept {
  return s && s->kind == stmt_kind::attribute ? static_cast<const attribute_node*>(s.get())
                                              : nullptr;
}

/// @name Builders
/// @{
stmt make_loop(var v, expr min, expr extent, stmt body, loop_kind kind = loop_kind::serial,
               annotations notes = {}, std::string thread_tag = {});
/// Same loop as `like` around another body.
stmt with_body(const loop_node& like, stmt body);
stmt make_realize(std::vector<expr> values, expr predicate, block b);
/// Flattens nested sequences; one statement stands for itself; null entries are skipped.
stmt make_seq(std::vector<stmt> stmts);
stmt make_store(buffer to, std::vector<expr> indices, expr value);
stmt make_if(expr condition, stmt then_body, stmt else_body = {});
stmt make_let(var v, expr value, stmt body);
stmt make_evaluate(expr value);
stmt make_allocate(buffer b, stmt body);
stmt make_while(expr condition, stmt body);
stmt make_attribute(expr node, std::string key, expr value, stmt body);
/// Process-wide unique, never 0.
std::uint64_t fresh_block_id();
/// Shares `node`, giving it an id when it has none.
block make_block(block_node node);
/// Root block realize around `body`, as a function's body.
stmt make_root(stmt body, std::vector<buffer> alloc_buffers = {});
/// @}

/// The root block of a function.
/// @throws internal_error when the body is not the realize of a block
const block& root_block(const function& f);

/// Box of single points: [index, index + 1) in each dimension.
std::vector<range> point_box(const std::vector<expr>& indices);
/// The whole of a buffer.
buffer_region full_region(const buffer& b);

}  // namespace tilewright::ir
