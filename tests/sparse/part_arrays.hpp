// The arrays of a matrix in parts, and how they are stored, as lowering takes them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/sparse/storage.hpp>

namespace part_arrays {

using namespace tilewright;

struct stored_parts {
  std::vector<sparse::stored_parameter> formats;  // of the parameter "A"
  std::vector<const void*> arrays;
};

template <class Part>
void add_part(const Part& part, stored_parts& to) {
  using form = dsl::sparse_recognized<const Part>;
  sparse::stored_parameter format{"A", static_cast<std::int64_t>(part.values().size()),
                                  dsl::dtype_of<typename Part::index_type>};
  if constexpr (form::storage == dim_storage::sell) {
    format.lanes = form::group;
    format.slices = static_cast<std::int64_t>(part.offsets().size()) - 1;
  } else if constexpr (form::storage == dim_storage::bsr) {
    format.block = form::group;
    format.padded = part.padding() > 0;
  } else if constexpr (form::storage == dim_storage::dcsr) {
    format.numbered_rows = static_cast<std::int64_t>(part.row_numbers().size());
  } else if constexpr (form::storage == dim_storage::ell) {
    format.width = form::group;
  }
  format.part = sparse::part_name("A", static_cast<int>(to.formats.size()));
  to.formats.push_back(format);
  static const double nothing = 0;
  for (const dsl::argument& array : form::make(part, "A"))
    to.arrays.push_back(array.data ? array.data : &nothing);
}

template <class T, dim Parts>
stored_parts of(const parted_matrix<T, Parts>& m) {
  stored_parts out;
  [&]<int... K>(std::integer_sequence<int, K...>) { (add_part(m.template part<K>(), out), ...); }
  (std::make_integer_sequence<int, Parts.parts.count>{});
  for (sparse::stored_parameter& format : out.formats) format.exclusive_rows = m.exclusive_rows();
  return out;
}

}  // namespace part_arrays
