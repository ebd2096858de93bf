// What a program over a matrix in formats that rules state is called with.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/expr/recognize_sparse.hpp>
#include <tilewright/sparse/format_rule.hpp>
#include <tilewright/sparse/storage.hpp>

namespace rule_arrays {

using namespace tilewright;

/// The row of each element.
template <class Index>
std::vector<std::int64_t> rows_of(const std::vector<Index>& offsets) {
  std::vector<std::int64_t> out;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
    out.insert(out.end(), static_cast<std::size_t>(offsets[row + 1] - offsets[row]),
               static_cast<std::int64_t>(row));
  return out;
}

/// Matrices that add up to one, each by a rule.
template <class Index, class T>
struct stored_parts {
  std::vector<sparse::stored_parameter> formats;
  std::vector<std::vector<Index>> integers;
  std::vector<std::vector<T>> values;
  T absent = T(0);  // what is read where nothing is stored

  /// @param elements of the whole matrix that this part takes
  /// @param name of the part; "": it is the whole
  void add(const sparse::format_rule& rule, std::int64_t rows, std::int64_t columns,
           const std::vector<std::int64_t>& row, const std::vector<Index>& column,
           const std::vector<T>& of_elements, const std::vector<std::int64_t>& elements,
           const std::string& name) {
    std::vector<std::int64_t> own_row, own_column;
    std::vector<T> own_values;
    for (const std::int64_t at : elements) {
      own_row.push_back(row[static_cast<std::size_t>(at)]);
      own_column.push_back(column[static_cast<std::size_t>(at)]);
      own_values.push_back(of_elements[static_cast<std::size_t>(at)]);
    }
    const sparse::formatted_pattern stored =
        sparse::store_by_rule(rule, rows, columns, own_row, own_column);
    formats.push_back(sparse::stored_by_rule("A", rule, stored, dsl::dtype_of<Index>));
    formats.back().part = name;
    formats.back().absent = static_cast<double>(absent);
    for (const sparse::formatted_pattern::level& level : stored.levels)
      for (const auto* list : {&level.offsets, &level.indices})
        if (!list->empty()) {
          integers.emplace_back(list->begin(), list->end());
          order_.emplace_back(false, integers.size() - 1);
        }
    values.push_back(stored.gather(own_values, absent));
    order_.emplace_back(true, values.size() - 1);
  }

  /// In the order of the program's parameters.
  std::vector<const void*> arrays() const {
    std::vector<const void*> out;
    for (const auto& [value, at] : order_)
      out.push_back(value ? static_cast<const void*>(values[at].data())
                          : static_cast<const void*>(integers[at].data()));
    return out;
  }

 private:
  std::vector<std::pair<bool, std::size_t>> order_;
};

}  // namespace rule_arrays
