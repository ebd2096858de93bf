// The flat form of a kernel: an array of nodes in postfix order.
//
// An expression's type says its element type and its number of nodes and nothing else; what it
// computes is a constexpr value. So a pipeline of n stages costs n small types, whatever the stages
// read, checks are constexpr functions, and nothing behind the array is a template. Children stand
// before their parent, the last child directly before it; `size` counts the nodes of a subtree.
#pragma once

#include <cstdint>
#include <string_view>

#include <tilewright/ir/expr.hpp>
#include <tilewright/meta/dim.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::dsl {

/// What a kernel does with a tensor.
enum class role : std::uint8_t { in, out, inout, temp, weight };

/// One dimension: a name bound at the call, or a static extent.
struct dim_info {
  std::string_view name;    // empty when static
  std::int64_t extent = 0;  // elements; 0 when named
  dim_storage storage = dim_storage::dense;
  int index_bits = 0;             // width of offsets and indices
  int group = 1;                  // as in meta/dim.hpp
  std::string_view pattern = {};  // stored_like: the tensor that says what is stored
  part_list parts = {};
  double absent = 0;  // what elements count as that are not stored
  /// Only some elements along it are stored.
  constexpr bool compressed() const { return storage != dim_storage::dense; }
  friend constexpr bool operator==(const dim_info&, const dim_info&) = default;
};

/// A tensor of a kernel; lives as long as the program, or as a kernel built at run time.
struct tensor_info {
  std::string_view name;
  dtype type = dtype::f32;
  dsl::role role = role::in;
  int rank = 0;
  const dim_info* dims = nullptr;  // [rank]

  /// Only some of its elements have a place in memory.
  constexpr bool sparse() const {
    for (int d = 0; d < rank; ++d)
      if (dims[d].compressed()) return true;
    return false;
  }
  /// Dimensions up to the last one of which only some elements are stored.
  constexpr int stored_rank() const {
    int out = 0;
    for (int d = 0; d < rank; ++d)
      if (dims[d].compressed()) out = d + 1;
    return out;
  }
  /// How they are stored.
  constexpr dim_storage storage() const {
    return sparse() ? dims[stored_rank() - 1].storage : dim_storage::dense;
  }
  /// What its elements count as that are not stored; infinities are the highest and the lowest value of its type.
  constexpr double absent() const { return sparse() ? dims[stored_rank() - 1].absent : 0; }
  /// Name of the tensor whose pattern it is stored on: another one, or its own.
  constexpr std::string_view pattern() const {
    for (int d = 0; d < rank; ++d)
      if (dims[d].storage == dim_storage::stored_like) return dims[d].pattern;
    return name;
  }
};

/// What a read beyond the edge gives; none: there must be no such read.
enum class border : std::uint8_t { none, zero, clamp, mirror };

/// What a read of a sparse tensor says of the elements that its tensor does not store.
enum class stored_read : std::uint8_t {
  walked,  // they are what the tensor counts as absent, and the reduction around it leaves them out
  alone,   // where_stored: they are no part of the reduction
  looked_up,    // they are what is absent, and the read is searched for
  intersected,  // intersect: the reduction is over what all such reads store
  united        // unite: over what one of them stores; they are what is absent
};

enum class reduction : std::uint8_t { sum, prod, max, min, any, all, argmax, argmin, user };

enum class node_kind : std::uint8_t {
  axis,       // name; dim when the axis brings its extent
  extent,     // extent of the dimension `name` as an index
  operation,  // op on its children; name for op::call
  load,       // tensor and edge; children: indices
  reduce,     // children: `axes` axes, `width` values; user: `width` identities, `width` combiners
  placeholder,  // in a combiner: `integer` < width is the accumulated value, else the new one
  store,        // tensor; children: indices
  define,       // children: `width` stores, one value
  expect        // child: a condition on extents
};

struct node {
  node_kind kind = node_kind::operation;
  ir::op op = ir::op::integer;
  dtype type = dtype::f32;
  bool is_index = false;  // type is the index type, as wide as the extents need
  border edge = border::none;
  stored_read stored = stored_read::walked;  // load of a sparse tensor
  dsl::reduction reduction = reduction::sum;
  std::int16_t axes = 0;   // reduce
  std::int16_t width = 1;  // reduce, define
  std::int16_t item = 0;   // reduce: which of the `width` results is the value
  std::int32_t arity = 0;  // children
  std::int32_t size = 1;   // nodes of the subtree
  std::int64_t integer = 0;
  double real = 0;
  std::string_view name;
  dim_info dim;
  const tensor_info* tensor = nullptr;
};

/// Positions of the children of nodes[at], first child first; room for `Max`.
struct children {
  static constexpr int capacity = 64;
  int count = 0;
  int at[capacity]{};
};

constexpr children children_of(const node* nodes, int at) {
  children out;
  out.count = nodes[at].arity;
  int child = at - 1;
  for (int k = out.count - 1; k >= 0; --k) {
    out.at[k] = child;
    child -= nodes[child].size;
  }
  return out;
}

/// True when the subtree at `at` contains a node for which `test(position)` holds.
template <class Test>
constexpr bool any_below(const node* nodes, int at, Test test) {
  for (int k = at - nodes[at].size + 1; k <= at; ++k)
    if (test(k)) return true;
  return false;
}

constexpr bool same_node(const node& a, const node& b) {
  return a.kind == b.kind && a.op == b.op && a.type == b.type && a.is_index == b.is_index &&
         a.edge == b.edge && a.stored == b.stored && a.reduction == b.reduction &&
         a.axes == b.axes && a.item == b.item && a.arity == b.arity && a.size == b.size &&
         a.integer == b.integer && a.real == b.real && a.name == b.name && a.dim == b.dim &&
         (a.tensor == b.tensor || (a.tensor && b.tensor && a.tensor->name == b.tensor->name));
}

/// Structural equality of two subtrees.
constexpr bool same_tree(const node* nodes, int a, int b) {
  if (nodes[a].size != nodes[b].size) return false;
  for (int k = 0; k < nodes[a].size; ++k)
    if (!same_node(nodes[a - k], nodes[b - k])) return false;
  return true;
}

/// `define` nodes of a program in program order.
template <class Visit>
constexpr void for_each_definition(const node* nodes, int count, Visit visit) {
  for (int end = 0; end < count;) {
    int at = end;
    while (nodes[at].kind != node_kind::define && nodes[at].kind != node_kind::expect) ++at;
    if (nodes[at].kind == node_kind::define) visit(at);
    end = at + 1;
  }
}

}  // namespace tilewright::dsl
