// The operators that are known: one line each in the table of its family.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/model/emission.hpp>

namespace tilewright::network {

/// What fusing may do with an operator.
enum class op_kind {
  elementwise,  // an output element depends on the same (or broadcast) elements of the inputs
  alias,        // the output is the memory of input 0 under another shape
  part,         // the output is a part of the memory of input 0
  joined,       // the inputs are parts of the memory of the output
  index_map,    // an output element is one element of an input
  anchor,       // sums over windows, rows or columns: a kernel is built around it
  opaque        // stands alone
};

/// A node that becomes other nodes once the types of its inputs are known, and the elements of those
/// that a shape or a choice depends on.
class expansion : public node_view {
 public:
  expansion(graph& g, const node& n) : node_view(g, n), graph_(&g) {}

  /// A new value that one of the nodes makes.
  value_id fresh();
  value_id known_value(constant c);
  /// Adds a node; nodes stand in the order in which they are added. Those of the empty domain have
  /// the version of the node that is expanded.
  void add(std::string op, std::vector<value_id> inputs, std::vector<value_id> outputs,
           std::map<std::string, attribute, std::less<>> attributes = {}, std::string domain = {});
  /// Adds the nodes of a graph whose inputs are the given values, and whose outputs are the node's.
  void add(const graph& body, const std::vector<value_id>& inputs);

  std::vector<node> nodes;

 private:
  graph* graph_;
};

/// An input that holds indices.
struct index_bound {
  std::size_t input = 0;
  /// Element k is in [-e, e), where e is the extent at k modulo their number.
  std::vector<std::int64_t> extents;

  /// The first element that is not; nothing when all are.
  /// @param data dense elements of the integer type t
  std::optional<std::int64_t> outside(const void* data, const tensor_type& t) const;
};

/// An operator of a domain, from one version of its operator set on.
struct operator_definition {
  std::string_view name;
  op_kind kind = op_kind::opaque;
  /// Types of the outputs, and their elements where those follow from shapes and attributes.
  void (*infer)(inference&) = nullptr;
  /// The outputs as functions; null: inference gives all of them their elements.
  void (*emit)(emission&) = nullptr;
  std::string_view domain = {};
  int since = 1;
  /// The nodes that compute the same; null: the node stays, and `infer` and `emit` say what it does.
  void (*expand)(expansion&) = nullptr;
  /// Inputs that are indices of another one; null: none are. They are checked when their elements
  /// are known: when a model is loaded, or before each run of the kernel.
  std::vector<index_bound> (*bounds)(const node_view&) = nullptr;
};

/// The definition that holds for a node's operator, domain and version; null when there is none.
const operator_definition* find_operator(const node& n);

/// All definitions, in the order of their names.
const std::vector<operator_definition>& all_operators();

/// @name Families
/// @{
void add_activations(std::vector<operator_definition>& to);
void add_arithmetic(std::vector<operator_definition>& to);
void add_attention(std::vector<operator_definition>& to);
void add_bits(std::vector<operator_definition>& to);
void add_comparisons(std::vector<operator_definition>& to);
void add_constants(std::vector<operator_definition>& to);
void add_control(std::vector<operator_definition>& to);
void add_convolutions(std::vector<operator_definition>& to);
void add_data_movement(std::vector<operator_definition>& to);
void add_einsum(std::vector<operator_definition>& to);
void add_functions(std::vector<operator_definition>& to);
void add_normalizations(std::vector<operator_definition>& to);
void add_pooling(std::vector<operator_definition>& to);
void add_products(std::vector<operator_definition>& to);
void add_reductions(std::vector<operator_definition>& to);
void add_resizing(std::vector<operator_definition>& to);
void add_rotary_embedding(std::vector<operator_definition>& to);
void add_shapes(std::vector<operator_definition>& to);
void add_trigonometry(std::vector<operator_definition>& to);
/// @}

/// @name Inference that many operators share
/// @{
/// Output 0 is as input 0.
void infer_same(inference& n);
/// Output 0 has the type of input 0 and the broadcast shape of all inputs.
void infer_broadcast(inference& n);
/// @}

}  // namespace tilewright::network
