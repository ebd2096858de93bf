// A matrix of compressed rows in a format that a user states, with the types of its elements erased.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/model/formats/converted_arrays.hpp>
#include <tilewright/sparse/format_rule.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/sparse_pattern.hpp>

namespace tilewright::detail {

/// Calls `use` with the offsets and indices of a call.
template <class Use>
void with_pattern(const rows_of_call& a, const Use& use) {
  if (a.index == dtype::i64)
    use(static_cast<const std::int64_t*>(a.offsets), static_cast<const std::int64_t*>(a.indices));
  else
    use(static_cast<const std::int32_t*>(a.offsets), static_cast<const std::int32_t*>(a.indices));
}

/// @returns what is wrong with offsets and indices, by position and value; "" for nothing
inline std::string wrong_rows(const rows_of_call& a) {
  std::string out;
  const std::string offsets_name = "offsets", indices_name = "indices";
  with_pattern(a, [&]<class Index>(const Index* offsets, const Index* indices) {
    out = support::wrong_pattern(support::pattern_view<Index>{
        offsets, indices, a.rows, a.columns, a.nonzeros, offsets_name, indices_name});
  });
  return out;
}

class ruled_arrays : public converted_arrays {
 public:
  /// @param most_bytes that the arrays may take
  /// @throws argument_error for a rule that is not proved, an element that it has no place for, or more bytes
  ruled_arrays(const sparse::format_rule& rule, const rows_of_call& a, std::int64_t most_bytes)
      : rows_(a.rows), columns_(a.columns), index_(a.index), element_(a.element) {
    const double start = seconds_now();
    std::vector<std::int64_t> row, column;
    row.reserve(static_cast<std::size_t>(a.nonzeros));
    column.reserve(static_cast<std::size_t>(a.nonzeros));
    with_pattern(a, [&](const auto* offsets, const auto* indices) {
      for (std::int64_t r = 0; r < a.rows; ++r)
        row.insert(row.end(), static_cast<std::size_t>(offsets[r + 1] - offsets[r]), r);
      column.assign(indices, indices + a.nonzeros);
    });
    constexpr std::int64_t of_source = sizeof(std::int64_t);
    const std::int64_t each = a.element + of_source;
    const std::int64_t counted = a.index == dtype::i64
                                     ? std::numeric_limits<std::int64_t>::max()
                                     : std::int64_t{std::numeric_limits<std::int32_t>::max()};
    sparse::formatted_pattern stored = sparse::store_by_rule(rule, a.rows, a.columns, row, column,
                                                             std::min(most_bytes / each, counted));
    for (std::size_t k = 0; k < rule.axes.size(); ++k) {
      if (rule.axes[k].kind == ir::axis_kind::dense_fixed) continue;
      if (rule.axes[k].kind == ir::axis_kind::sparse_variable) add(stored.levels[k].offsets);
      add(stored.levels[k].indices);
    }
    source_ = std::move(stored.source);
    for (const list& one : lists_) bytes_ += static_cast<std::int64_t>(one.data.size());
    bytes_ += each * static_cast<std::int64_t>(source_.size());
    if (bytes_ > most_bytes)
      throw argument_error("format \"" + rule.name + "\": " + std::to_string(a.nonzeros) +
                           " elements would take " + std::to_string(bytes_) +
                           " bytes, and most_format_bytes allows " + std::to_string(most_bytes) +
                           "; take another format, or allow more");
    padding_ = 1 - static_cast<double>(a.nonzeros) / static_cast<double>(source_.size());
    refresh(a);
    seconds_ = seconds_now() - start;
  }

  std::vector<dsl::argument> arrays() const override {
    std::vector<dsl::argument> out;
    for (const list& one : lists_) out.push_back(argument_of(one.data.data(), index_, one.extent));
    out.push_back(
        argument_of(values_.data(), dtype::u8, static_cast<std::int64_t>(source_.size())));
    out.back().extents[1] = rows_;
    out.back().extents[2] = columns_;
    return out;
  }
  void refresh(const rows_of_call& a) override {
    switch (element_) {
      case 1: return gather<std::uint8_t>(a);
      case 2: return gather<std::uint16_t>(a);
      case 4: return gather<std::uint32_t>(a);
      default: return gather<std::uint64_t>(a);
    }
  }
  std::shared_ptr<converted_arrays> copy() const override {
    return std::make_shared<ruled_arrays>(*this);
  }
  double padding() const override { return padding_; }
  double conversion_seconds() const override { return seconds_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  struct list {
    std::vector<std::byte> data;
    std::int64_t extent;
  };

  void add(const std::vector<std::int64_t>& numbers) {
    const auto put = [&](auto zero) {
      const std::vector<decltype(zero)> own(numbers.begin(), numbers.end());
      const auto* bytes = reinterpret_cast<const std::byte*>(own.data());
      lists_.push_back(
          {{bytes, bytes + own.size() * sizeof zero}, static_cast<std::int64_t>(own.size())});
    };
    if (index_ == dtype::i64)
      put(std::int64_t{0});
    else
      put(std::int32_t{0});
  }

  static dsl::argument argument_of(const std::byte* data, dtype type, std::int64_t extent) {
    dsl::argument out;
    out.data = const_cast<std::byte*>(data);
    out.type = type;
    out.rank = 1;
    out.is_const = true;
    out.extents[0] = extent;
    out.strides[0] = 1;
    return out;
  }

  template <class Raw>
  void gather(const rows_of_call& a) {
    const auto* from = static_cast<const Raw*>(a.values);
    const Raw absent = static_cast<Raw>(a.absent);
    values_.resize(source_.size() * sizeof(Raw));
    for (std::size_t at = 0; at < source_.size(); ++at) {
      const Raw value = source_[at] < 0 ? absent : from[source_[at]];
      std::memcpy(values_.data() + at * sizeof value, &value, sizeof value);
    }
  }

  std::int64_t rows_, columns_;
  dtype index_;
  int element_;                       // bytes
  std::vector<list> lists_;           // offsets and indices of the sparse axes, in their order
  std::vector<std::int64_t> source_;  // as in formatted_pattern  // [places]
  std::vector<std::byte> values_;     // [places]
  std::int64_t bytes_ = 0;
  double padding_ = 0, seconds_ = 0;
};

}  // namespace tilewright::detail
