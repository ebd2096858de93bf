// Which parameters of a dense program are stored sparsely: the way into stage I.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/sparse.hpp>

namespace tilewright::sparse {

/// A parameter stored as compressed rows.
struct compressed_rows {
  std::string parameter;
  std::int64_t nonzeros = 0;
  dtype index = dtype::i32;  // of offsets and indices
};

/// Names of the arrays of a sparse parameter `A`: "A_indptr", "A_indices", and "A" for its values.
std::string indptr_name(const std::string& parameter);
std::string indices_name(const std::string& parameter);

/// The program `f` over coordinates, with the parameters in `formats` stored as they say. Each gives
/// way to its offsets, indices and values. A nest that reads one of them becomes a sparse iteration:
/// axes that index it in their order, then the others.
/// @throws argument_error when a block reads a sparse parameter and is no perfect nest of its own
ir::sparse_function with_storage(const ir::function& f,
                                 const std::vector<compressed_rows>& formats);

}  // namespace tilewright::sparse
