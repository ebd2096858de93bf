// From a node to a kernel: operators say what an element of their output is, in terms of elements of
// their inputs.
//
// An output is a function from indices to an expression; nothing is stored before somebody asks for
// it. So a node that holds a body of several operators (see passes/fuse.hpp) becomes one kernel by
// the same lines: the reader of one operator is the function of the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/expr/alternatives.hpp>
#include <tilewright/expr/builder.hpp>
#include <tilewright/model/node_view.hpp>

namespace tilewright::network {

/// An element as a function of its indices.
using element_function = std::function<dsl::runtime_expression(const dsl::index_list&)>;

/// A value while a kernel is being built.
struct reader {
  tensor_type type;
  element_function at;
  std::optional<dsl::runtime_tensor> tensor = {};  // where it lies in memory, if it does

  template <class... Index>
  dsl::runtime_expression operator()(const Index&... i) const {
    return at(dsl::make_index_list(i...));
  }
};

/// A kernel, and what its parameters are.
struct network_kernel {
  any_kernel kernel;
  std::vector<value_id> params;        // values of the graph, in the order of the call
  std::vector<bool> is_weight;         // [params]
  dsl::algorithm_deriver derive = {};  // further algorithms for the same; may be empty
};

class kernel_writer;

/// What an operator's `emit` works with.
class emission : public node_view {
 public:
  emission(kernel_writer& writer, const graph& g, const node& n)
      : node_view(g, n), writer_(&writer) {}

  const tensor_type& type_of_output(std::size_t k = 0) const;

  /// Elements of an input. `role` is the name of the parameter, where it becomes one.
  reader in(std::size_t k, const char* role);
  /// An input as a tensor in memory, for reads beyond its edge and by reduced axes.
  dsl::runtime_tensor tensor(std::size_t k, const char* role);
  /// An input with as many dimensions as output 0; indices where it has one element are ignored.
  reader broadcast(std::size_t k, const char* role);

  dsl::runtime_expression axis(const std::string& name, std::int64_t extent);
  /// Axes over the given extents, named NAME0, NAME1, ...
  dsl::index_list axes(const char* name, const shape& extents);
  dsl::runtime_tensor temp(const char* name, dtype type, const shape& extents);
  void define(const dsl::runtime_definitions& d);

  /// Says what the elements of an output are.
  void out(std::size_t k, element_function f);
  /// An output as memory, for operators that define it in parts.
  dsl::runtime_tensor store(std::size_t k);

  /// Adds algorithms to the program of the kernel, with all that is fused into it; of several that are
  /// given for one kernel the last counts.
  void derive(dsl::algorithm_deriver more);

 private:
  kernel_writer* writer_;
};

/// The kernel of a node of a graph whose types are known. Inputs that are constants become weights,
/// those of one element literals.
/// @throws argument_error naming the node when no kernel computes it
network_kernel emit(const graph& g, const node& n);

/// Type in which sums over elements of type t are computed: f32 for halves, else t itself.
constexpr dtype sum_type(dtype t) { return t == dtype::f16 || t == dtype::bf16 ? dtype::f32 : t; }

/// Conversion to a type as an object: what a body of ops/ converts its operands with.
struct cast_to_type {
  dtype type;
  dsl::runtime_expression operator()(const dsl::runtime_expression& x) const {
    return cast(x, type);
  }
};

}  // namespace tilewright::network
