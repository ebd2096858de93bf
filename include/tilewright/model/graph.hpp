// Networks as graphs: values that nodes make from other values.
//
// A graph is data. What its operators mean stands in model/operators.hpp, what can be done to it in
// the passes; importers make one from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::network {

using shape = std::vector<std::int64_t>;  // extents, outermost first

/// Number of elements; the shapes that a graph holds have one below 2^62.
std::int64_t elements_of(const shape& s);
/// "(1, 3, 224, 224)".
std::string text_of(const shape& s);

/// Element type and extents.
struct tensor_type {
  dtype type = dtype::f32;
  shape extents;
  std::int64_t elements() const { return elements_of(extents); }
  std::int64_t bytes() const { return elements() * tilewright::bytes(type); }
  friend bool operator==(const tensor_type&, const tensor_type&) = default;
};
/// "float32 (1, 3, 224, 224)".
std::string text_of(const tensor_type& t);

/// Elements that are known: dense, row-major, and aligned to their type. Copies share the memory,
/// which may be part of a mapped file.
class constant {
 public:
  constant() = default;
  /// @param owner keeps `data` alive
  constant(tensor_type type, const void* data, std::shared_ptr<const void> owner)
      : type_(std::move(type)),
        data_(static_cast<const std::byte*>(data)),
        owner_(std::move(owner)) {}
  /// Memory to be filled.
  static std::pair<constant, std::byte*> make(tensor_type type);
  /// A list of numbers as i64, [n].
  static constant of_integers(const std::vector<std::int64_t>& numbers);

  const tensor_type& type() const { return type_; }
  const std::byte* data() const { return data_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  /// Element k as a number; integers beyond 2^53 lose bits.
  double number(std::int64_t k) const;
  /// Element k of an integer or bool constant.
  std::int64_t integer(std::int64_t k) const;
  /// The same elements under another shape.
  constant reshaped(shape extents) const;

 private:
  tensor_type type_;
  const std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

struct graph;

/// Value of an attribute.
using attribute =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<std::string>, constant, std::shared_ptr<const graph>>;

/// Position of a value in `graph::values`.
using value_id = int;
inline constexpr value_id no_value = -1;  // an input or output that is left out

/// What nodes make and read.
struct value {
  std::string name;
  std::optional<tensor_type> type;  // known after inference
  std::optional<constant> data;     // of an initializer, or what inference found out
  /// Of an input with extents that the load binds: one name per dimension, empty where it is fixed.
  std::vector<std::string> dim_names;
};

/// One operator at work.
struct node {
  std::string name;
  std::string op;
  std::string domain;  // empty: ONNX's own
  int version = 0;     // of the domain's operator set
  std::vector<value_id> inputs;
  std::vector<value_id> outputs;
  std::map<std::string, attribute, std::less<>> attributes;

  /// @name Attributes, or what holds where they are not given
  /// @throws argument_error naming the node when one has another type
  /// @{
  bool has(std::string_view attribute_name) const;
  std::int64_t integer(std::string_view attribute_name, std::int64_t otherwise) const;
  double real(std::string_view attribute_name, double otherwise) const;
  std::string text(std::string_view attribute_name, std::string_view otherwise) const;
  std::vector<std::int64_t> integers(std::string_view attribute_name,
                                     std::vector<std::int64_t> otherwise = {}) const;
  std::vector<double> reals(std::string_view attribute_name) const;
  /// @}
  bool has_input(std::size_t k) const { return k < inputs.size() && inputs[k] != no_value; }
  bool has_output(std::size_t k) const { return k < outputs.size() && outputs[k] != no_value; }
};

/// "node conv1 (Conv)".
std::string text_of(const node& n);
/// The graph inside a node that the pass `fuse` made; null for any other one.
const graph* body_of(const node& n);
/// Throws an argument_error that names the node.
[[noreturn]] void fail(const node& n, const std::string& what);

/// Nodes stand after those whose values they read; each value is made once.
struct graph {
  std::string name;
  std::vector<value> values;
  std::vector<node> nodes;
  std::vector<value_id> inputs, outputs;

  value& at(value_id v) { return values.at(static_cast<std::size_t>(v)); }
  const value& at(value_id v) const { return values.at(static_cast<std::size_t>(v)); }
  value_id add(value v) {
    values.push_back(std::move(v));
    return static_cast<value_id>(values.size()) - 1;
  }
  /// Type of a value after inference.
  /// @throws internal_error before
  const tensor_type& type_of(value_id v) const;
};

/// Brings the nodes into an order in which values are made before they are read.
/// @throws argument_error for a value that is made twice or never, and for a cycle
void sort_nodes(graph& g);

/// One line per node: outputs with types, operator, inputs, attributes.
std::string print(const graph& g);

}  // namespace tilewright::network
