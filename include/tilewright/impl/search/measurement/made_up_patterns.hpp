// Patterns of sparse rows for arguments that nobody gave: indices rise within each row, as those of a matrix
// do, and reach all columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/numbers/index_type.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search::detail {

/// Integers of 32 or 64 bits in memory, one beside the other.
class integer_array {
 public:
  integer_array(std::byte* first, dtype type) : first_(first), size_(bytes(type)) {}
  std::int64_t get(std::int64_t at) const {
    if (size_ == 8) return read<std::int64_t>(at);
    return read<std::int32_t>(at);
  }
  void set(std::int64_t at, std::int64_t value) {
    if (size_ == 8)
      std::memcpy(first_ + at * size_, &value, sizeof value);
    else
      write(at, static_cast<std::int32_t>(value));
  }

 private:
  template <class T>
  T read(std::int64_t at) const {
    T out;
    std::memcpy(&out, first_ + at * size_, sizeof out);
    return out;
  }
  void write(std::int64_t at, std::int32_t value) {
    std::memcpy(first_ + at * size_, &value, sizeof value);
  }

  std::byte* first_;
  std::int64_t size_;
};

/// Different numbers of [first, last] that rise, about as far from each other. There are as many at least.
inline void put_rising(integer_array to, std::int64_t begin, std::int64_t end,
                       const operand::index_range& in, support::random& random) {
  const std::int64_t count = end - begin;
  const double step = static_cast<double>(in.last - in.first + 1) / static_cast<double>(count);
  std::int64_t least = in.first;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto drawn =
        in.first + static_cast<std::int64_t>((static_cast<double>(k) + random.unit()) * step);
    const std::int64_t now = std::clamp(drawn, least, in.last - (count - 1 - k));
    to.set(begin + k, now);
    least = now + 1;
  }
}

/// Gives the rows that made-up offsets divide the parameter into indices that rise. Made-up rows that are longer than
/// there are columns, as where a kernel was made smaller, end there, and some elements are in no row then.
/// @param element0 of each parameter
/// @param made_up whether nobody gave its values
inline void make_up_patterns(const std::vector<operand>& operands,
                             const std::vector<std::byte*>& element0,
                             const std::vector<bool>& made_up, support::random random) {
  const auto is_array = [&](const operand& o) {
    return is_index(o.type) && o.extents.size() == 1 && o.strides == std::vector<std::int64_t>{1};
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const operand& offsets = operands[i];
    if (!offsets.offsets || !is_array(offsets)) continue;
    const std::size_t into = offsets.offsets->parameter;
    const operand& indices = operands[into];
    if (!made_up[into] || !is_array(indices) || !indices.index) continue;
    if (indices.index->last > std::numeric_limits<std::int32_t>::max())
      continue;  // no bound is known
    integer_array from(element0[i], offsets.type);
    const operand::index_range in{std::max<std::int64_t>(indices.index->first, 0),
                                  indices.index->last};
    const std::int64_t columns = in.last - in.first + 1;
    for (std::int64_t row = 0; row + 1 < offsets.extents[0]; ++row) {
      const std::int64_t begin = from.get(row);
      if (made_up[i] && from.get(row + 1) > begin + columns) from.set(row + 1, begin + columns);
      const std::int64_t end = from.get(row + 1);
      if (begin < 0 || end > indices.extents[0]) return;  // given, and of another pattern
      if (begin < end && end - begin <= columns)
        put_rising(integer_array(element0[into], indices.type), begin, end, in, random);
    }
  }
}

}  // namespace tilewright::search::detail
