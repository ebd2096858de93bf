// Sparse matrices that SciPy saved: scipy.sparse.save_npz.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tilewright/expr/formats/csr_matrix.hpp>

namespace tool {

using stored_matrix = tilewright::csr_matrix<double, std::int64_t>;

/// What a file may ask for, whatever it says.
struct npz_limits {
  std::uint64_t member_bytes = std::uint64_t{1} << 34;  // of one array
  std::int64_t rows = std::int64_t{1} << 28;            // each takes an offset
};

/// The matrix in the bytes of an archive, in rows: one of SciPy's csr, csc or coo, of real numbers or integers.
/// Elements that stand twice are added up, as SciPy does.
/// @param path what messages call it
/// @throws input_error when it is no such archive, is damaged or cut off, or the arrays do not fit each
/// other; argument_error where this program was built without libzip
stored_matrix parse_npz(const std::string& path, std::string_view archive,
                        const npz_limits& limits = {});

}  // namespace tool
