// The operators that are known: one line each in the table of its family.
#pragma once

#include <string_view>
#include <vector>

#include <tilewright/model/emission.hpp>

namespace tilewright::network {

/// What fusing may do with an operator.
enum class op_kind {
  elementwise,  // an output element depends on the same (or broadcast) elements of the inputs
  alias,        // the output is the memory of input 0 under another shape
  index_map,    // an output element is one element of an input
  anchor,       // sums over windows, rows or columns: a kernel is built around it
  opaque        // stands alone
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
};

/// The definition that holds for a node's operator, domain and version; null when there is none.
const operator_definition* find_operator(const node& n);

/// All definitions, in the order of their names.
const std::vector<operator_definition>& all_operators();

/// @name Families
/// @{
void add_activations(std::vector<operator_definition>& to);
void add_arithmetic(std::vector<operator_definition>& to);
void add_comparisons(std::vector<operator_definition>& to);
void add_constants(std::vector<operator_definition>& to);
void add_convolutions(std::vector<operator_definition>& to);
void add_data_movement(std::vector<operator_definition>& to);
void add_functions(std::vector<operator_definition>& to);
void add_normalizations(std::vector<operator_definition>& to);
void add_pooling(std::vector<operator_definition>& to);
void add_products(std::vector<operator_definition>& to);
void add_reductions(std::vector<operator_definition>& to);
void add_shapes(std::vector<operator_definition>& to);
/// @}

/// @name Inference that many operators share
/// @{
/// Output 0 is as input 0.
void infer_same(inference& n);
/// Output 0 has the type of input 0 and the broadcast shape of all inputs.
void infer_broadcast(inference& n);
/// @}

}  // namespace tilewright::network
