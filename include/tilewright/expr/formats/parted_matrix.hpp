// A sparse matrix as a sum of parts, each in the format that suits its elements.
//
// Few matrices have one format: weights that were pruned by blocks keep some single elements, rows of a
// mesh are nearly of one length, a graph has a few rows that are very long. Each part takes what suits its
// format of what those before it have left, and the last one takes the rest, so that every element is in
// exactly one of them (composable formats: SparseTIR, ASPLOS 23; ELL beside the rest: Bell and Garland,
// SC 09).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/formats/dcsr_matrix.hpp>
#include <tilewright/expr/formats/ell_matrix.hpp>
#include <tilewright/expr/formats/part_of_rows.hpp>
#include <tilewright/expr/formats/sell_matrix.hpp>

namespace tilewright {

struct parted_options {
  /// A part of blocks takes those of which so much is stored: 1 takes full ones alone, so that no zero
  /// beside an element is ever read.
  double least_fill = 0.5;
  /// A part of rows side by side takes rows with no more elements than this; 0: four times the mean.
  std::int64_t longest_row = 0;
  /// The conversion is refused when it would take more places than this many for each element.
  double most_padding = 8;
  /// The conversion is refused when parts before the last take less than this share of the elements.
  double least_share = 0;
  /// Two parts of rows of one width share out the columns: the first one takes elements of the left half, so
  /// that a walk reads one half of the other operand after the other.
  bool by_columns = false;
  /// The conversion is refused unless no two parts have elements in one row.
  bool exclusive_rows = false;
  /// The conversion is refused when the arrays of its parts would take more bytes than this.
  std::int64_t most_bytes = detail::no_limit;
  /// What places of blocks hold that have no element: that of the parameter, where `absent_as` says another value than
  /// 0.
  double absent = 0;
};

namespace detail {

/// Compressed rows as a part.
template <class T, class Index>
class rest_of_rows : public converted_matrix<rest_of_rows<T, Index>, T, Index> {
  using base = converted_matrix<rest_of_rows, T, Index>;

 public:
  static constexpr part_format format{dim_storage::compressed};

  rest_of_rows(const part_of_rows<T, Index>& a, std::int64_t most_bytes)
      : base("parted_matrix", csr_source<T, Index>::of(a.view(), "")),
        offsets_(a.offsets),
        indices_(a.indices) {
    const auto rows = csr_source<T, Index>::of(a.view(), "");
    const std::size_t elements = indices_.size();
    this->claim_bytes(static_cast<double>(indices_.size()),
                      static_cast<double>(indices_.size() + offsets_.size()), most_bytes);
    // code is made for arrays that are there: nothing reads the place
    if (elements == 0 && a.rows > 0) indices_.assign(1, 0);
    this->reserve_places(indices_.size());
    for (std::size_t at = 0; at < elements; ++at) this->place(at, rows, static_cast<Index>(at));
  }
  const std::vector<Index>& offsets() const { return offsets_; }  // [rows + 1]
  const std::vector<Index>& indices() const { return indices_; }  // [elements]
  auto arguments() const { return matrix_arguments(*this, offsets_); }
  /// Calls `f(element, row, column)` for each element of the compressed rows.
  template <class Visit>
  void each_element(const Visit& f) const {
    for (std::size_t row = 0; row + 1 < offsets_.size(); ++row)
      for (auto at = static_cast<std::size_t>(offsets_[row]);
           at < static_cast<std::size_t>(offsets_[row + 1]); ++at)
        f(static_cast<std::size_t>(this->source()[at]), row, std::int64_t{indices_[at]});
  }

 private:
  std::vector<Index> offsets_, indices_;
};

template <class T, class Index, dim_storage Storage, int Group>
struct part_matrix;
template <class T, class Index, int Group>
struct part_matrix<T, Index, dim_storage::sell, Group> {
  using type = sell_matrix<T, Group, Index>;
  static std::vector<unsigned char> takes(const part_of_rows<T, Index>& a,
                                          const parted_options& o) {
    const std::int64_t mean =
        static_cast<std::int64_t>(a.indices.size()) / std::max<std::int64_t>(a.rows, 1) + 1;
    return in_short_rows(a, o.longest_row > 0 ? o.longest_row : 4 * mean);
  }
  static type make(const part_of_rows<T, Index>& a, const parted_options& o) {
    return type(a.view(), {.most_padding = o.most_padding, .most_bytes = o.most_bytes});
  }
};
template <class T, class Index, int Group>
struct part_matrix<T, Index, dim_storage::bsr, Group> {
  using type = bsr_matrix<T, Group, Index>;
  static std::vector<unsigned char> takes(const part_of_rows<T, Index>& a,
                                          const parted_options& o) {
    return in_full_blocks(a, Group, o.least_fill);
  }
  static type make(const part_of_rows<T, Index>& a, const parted_options& o) {
    return type(a.view(),
                {.most_padding = o.most_padding, .most_bytes = o.most_bytes, .absent = o.absent});
  }
};
template <class T, class Index, int Group>
struct part_matrix<T, Index, dim_storage::ell, Group> {
  using type = ell_matrix<T, Group, Index>;
  static std::vector<unsigned char> takes(const part_of_rows<T, Index>& a,
                                          const parted_options& o) {
    return first_of_rows(a, Group, o.by_columns ? (a.columns + 1) / 2 : a.columns);
  }
  static type make(const part_of_rows<T, Index>& a, const parted_options& o) {
    const double places = static_cast<double>(a.rows) * Group;
    const auto elements = static_cast<double>(a.indices.size());
    if (places > o.most_padding * std::max(elements, static_cast<double>(a.rows)))
      throw argument_error("parted_matrix: " + std::to_string(a.indices.size()) +
                           " elements in rows of " + std::to_string(Group) +
                           " places would take more than " + std::to_string(o.most_padding) +
                           " places each; take narrower rows, or allow more by most_padding");
    return type(a.view(), {o.most_bytes});
  }
};
template <class T, class Index, int Group>
struct part_matrix<T, Index, dim_storage::compressed, Group> {
  using type = rest_of_rows<T, Index>;
  static type make(const part_of_rows<T, Index>& a, const parted_options& o) {
    return type(a, o.most_bytes);
  }
};

template <class T, class Index, int Group>
struct part_matrix<T, Index, dim_storage::dcsr, Group> {
  using type = dcsr_matrix<T, Index>;
  static type make(const part_of_rows<T, Index>& a, const parted_options& o) {
    return type(a.view(), {o.most_bytes});
  }
};

}  // namespace detail

/// A sparse matrix as an argument of parameters with the same `parts<..>`; the name of the dimension does
/// not matter:
///
///     constexpr auto stored = tw::parts<tw::bsr<"K", 16>, tw::compressed<"K">>;
///     tw::parted_matrix<float, stored> weights(pruned);   // Eigen's, or csr(offsets, indices, values, columns)
///     op(weights, x, y);
///     weights.refresh(pruned);                            // the same pattern, new values: a gather
///
/// A part of blocks takes the elements of blocks that are stored for the most part, rows of one width the
/// first elements of each row, rows side by side the rows that are not much longer than others.
template <class T, dim Parts>
class parted_matrix {
  static_assert(Parts.storage == dim_storage::parts,
                "tilewright: a parted_matrix<T, parts<..>> names its formats");

 public:
  using value_type = T;
  using index_type = std::conditional_t<Parts.index_bits == 64, std::int64_t, std::int32_t>;
  static constexpr part_list format = Parts.parts;

  /// It requires: 1) offsets that begin with 0, never decrease, and end with the number of elements;
  /// 2) indices that are in the columns and 3) rise within a row; 4) no more places, and no smaller share in
  /// the parts before the last, than the options allow, and what the last part's format requires; 5) rows that
  /// one part has alone, where the options say so.
  /// @throws argument_error naming array, position and value
  template <class Matrix>
  explicit parted_matrix(const Matrix& m, parted_options options = {})
      : parted_matrix(source_rows::of(m, "parted_matrix"), options) {}

  /// Takes new values of the matrix that this one was made from, whose pattern is compared with what it was unless
  /// the program promises that it is the same.
  /// @throws argument_error for another pattern, by array, position and value; no value is taken then
  template <class Rows>
  void refresh(const Rows& m, same_pattern pattern = same_pattern::checked) {
    const auto a = source_rows::of(m, "parted_matrix");
    const auto each_element = [&](const auto& visit) {
      std::apply([&](const auto&... part) { (part.each_element(visit), ...); }, parts_);
    };
    pattern_.check("parted_matrix", a.pattern(), pattern, each_element);
    std::apply([&](auto&... part) { (part.gather(a.values), ...); }, parts_);
  }

  /// What places of blocks hold that have no element.
  T absent() const noexcept { return absent_; }
  /// Has such places hold another value.
  void pad_with(T absent) {
    absent_ = absent;
    std::apply([&](auto&... part) { (part.pad_with(absent), ...); }, parts_);
  }

  std::int64_t rows() const noexcept { return pattern_.rows(); }
  std::int64_t columns() const noexcept { return pattern_.columns(); }
  std::int64_t nonzeros() const noexcept { return pattern_.nonzeros(); }
  /// The matrix in the format of part `Part`. Its `source` names elements of the whole matrix.
  template <int Part>
  const auto& part() const noexcept {
    return std::get<static_cast<std::size_t>(Part)>(parts_);
  }
  /// No two parts write one row: a row has elements in one part alone, and where that is one of blocks, so have all
  /// rows of its block. Results of such rows are stored instead of added to what other parts have left. A part of
  /// numbered rows that has no elements adds nothing to the first row, which stands in for its own.
  bool exclusive_rows() const noexcept {
    return shared_row_ < 0 && !has_row_of_others(part_numbers{});
  }
  /// Elements of each part. // [parts]
  std::vector<std::int64_t> shares() const {
    return std::apply([](auto&... part) { return std::vector<std::int64_t>{part.nonzeros()...}; },
                      parts_);
  }
  /// Places of the parts that have elements which hold none, as a share of all.
  double padding() const {
    const auto places = [](const auto& part) {
      return part.nonzeros() > 0 ? static_cast<double>(part.values().size()) : 0.0;
    };
    const double all = std::apply([&](auto&... part) { return (places(part) + ...); }, parts_);
    return all > 0 ? 1 - static_cast<double>(nonzeros()) / all : 0;
  }
  /// What it took to make it. // s
  double conversion_seconds() const noexcept { return seconds_; }
  /// What a call takes: the arrays of all parts. The extents of the indices of numbered rows end with 2 where
  /// rows are exclusive, else with 1.
  auto arguments() const {
    std::array<dsl::argument, matrix_arrays(dim_storage::parts, format)> out;
    auto to = out.begin();
    const std::int64_t alone = exclusive_rows() ? 2 : 1;
    const auto put = [&]<class Part>(const Part& part) {
      auto arrays = part.arguments();
      if constexpr (Part::format.storage == dim_storage::dcsr) arrays[2].extents[3] = alone;
      to = std::copy(arrays.begin(), arrays.end(), to);
    };
    std::apply([&](const auto&... part) { (put(part), ...); }, parts_);
    return out;
  }

 private:
  using source_rows = detail::csr_source<T, index_type>;
  using some_rows = detail::part_of_rows<T, index_type>;
  template <std::size_t K>
  using part_form = detail::part_matrix<T, index_type, format.at[K].storage, format.at[K].group>;
  template <class Numbers>
  struct all_parts;
  template <std::size_t... K>
  struct all_parts<std::index_sequence<K...>> {
    using type = std::tuple<typename part_form<K>::type...>;
  };
  using part_numbers = std::make_index_sequence<static_cast<std::size_t>(format.count)>;
  using part_tuple = typename all_parts<part_numbers>::type;

  parted_matrix(const source_rows& a, const parted_options& options)
      : parted_matrix(a, options, detail::seconds_now(), part_numbers{}) {}

  template <std::size_t... K>
  parted_matrix(const source_rows& a, const parted_options& options, double start,
                std::index_sequence<K...> numbers)
      : parted_matrix(a, divided(a, options, numbers), options, numbers) {
    seconds_ = detail::seconds_now() - start;
  }
  template <std::size_t... K>
  parted_matrix(const source_rows& a, const std::array<some_rows, sizeof...(K)>& of,
                const parted_options& options, std::index_sequence<K...> numbers)
      : shared_row_(shared_row(of)),
        parts_(make(of, options, numbers)),
        pattern_(a.pattern()),
        absent_(dsl::element_value<T>(options.absent)) {
    if (options.exclusive_rows && shared_row_ >= 0)
      throw argument_error("parted_matrix: two parts write row " + std::to_string(shared_row_) +
                           ", so that rows are not exclusive; take other parts, or allow it by "
                           "exclusive_rows = false");
  }

  template <std::size_t... K>
  bool has_row_of_others(std::index_sequence<K...>) const noexcept {
    return ((format.at[K].storage == dim_storage::dcsr && std::get<K>(parts_).nonzeros() == 0) ||
            ...);
  }

  /// A row that two parts write; -1: there is none.
  template <std::size_t Count>
  static std::int64_t shared_row(const std::array<some_rows, Count>& parts) {
    std::vector<std::size_t> writer(static_cast<std::size_t>(parts[0].rows), Count);
    for (std::size_t k = 0; k < Count; ++k) {
      const std::size_t group = format.at[k].storage == dim_storage::bsr
                                    ? static_cast<std::size_t>(format.at[k].group)
                                    : 1;
      for (std::size_t row = 0; row < writer.size(); ++row) {
        if (parts[k].offsets[row] == parts[k].offsets[row + 1]) continue;
        const std::size_t first = row / group * group;
        for (std::size_t at = first; at < std::min(first + group, writer.size()); ++at) {
          if (writer[at] < k) return static_cast<std::int64_t>(at);
          writer[at] = k;
        }
      }
    }
    return -1;
  }

  template <std::size_t... K>
  static part_tuple make(const std::array<some_rows, sizeof...(K)>& of, parted_options options,
                         std::index_sequence<K...>) {
    const auto one = [&](auto number) {
      auto out = part_form<number>::make(of[number], options);
      options.most_bytes -= out.bytes();  // which those behind it have left
      out.take_elements(of[number].elements);
      return out;
    };
    return part_tuple{one(std::integral_constant<std::size_t, K>{})...};
  }

  template <std::size_t... K>
  static std::array<some_rows, sizeof...(K)> divided(const source_rows& a,
                                                     const parted_options& options,
                                                     std::index_sequence<K...>) {
    a.check("parted_matrix");
    std::array<some_rows, sizeof...(K)> out;
    some_rows left(a);
    const auto take = [&](auto number) {
      if constexpr (number + 1 < sizeof...(K)) {
        parted_options of_part = options;
        of_part.by_columns = options.by_columns && number == 0;
        auto two = detail::divide(left, part_form<number>::takes(left, of_part));
        out[number] = std::move(two.first);
        left = std::move(two.second);
      }
    };
    (take(std::integral_constant<std::size_t, K>{}), ...);
    const auto rest = static_cast<double>(left.indices.size()),
               all = static_cast<double>(a.nonzeros);
    if (all - rest < options.least_share * all)
      throw argument_error("parted_matrix: the parts before the last take " +
                           std::to_string(static_cast<std::int64_t>(all - rest)) + " of " +
                           std::to_string(a.nonzeros) +
                           " elements, which is less than least_share");
    out.back() = std::move(left);
    return out;
  }

  std::int64_t shared_row_;
  part_tuple parts_;
  detail::kept_pattern pattern_;
  T absent_;
  double seconds_ = 0;
};

}  // namespace tilewright
