// Parameters that are given as sparse matrices: --matrix A=web.npz.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/search/measurement/operands.hpp>

#include "npz.hpp"

namespace tool {

/// Sparse matrices by the name of the parameter that each is given for.
class matrix_inputs {
 public:
  /// @param given NAME=FILE, a Matrix Market file or one of SciPy's .npz
  /// @throws input_error, argument_error
  explicit matrix_inputs(const std::vector<std::string>& given);

  bool empty() const { return matrices_.empty(); }

  /// Adds what the shapes of matrices say of the symbolic extents of `f`.
  /// @throws argument_error when a parameter is missing or no matrix, and when an extent is another
  void bind(const tilewright::ir::function& f, std::map<std::string, std::int64_t>& extents) const;

  /// The function with these parameters in compressed rows, each as offsets, indices and values. Every extent
  /// of `f` is literal.
  /// @throws argument_error when it is no program that sparse matrices may be given to
  tilewright::ir::function stored(const tilewright::ir::function& f) const;

  /// Puts offsets, indices and values into the places of their parameters.
  void fill(const std::vector<tilewright::search::operand>& operands,
            tilewright::search::given_values& to) const;

 private:
  std::map<std::string, stored_matrix> matrices_;
};

}  // namespace tool
