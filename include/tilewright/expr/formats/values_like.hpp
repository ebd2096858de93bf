// Values for the places of a matrix in a format of ours: what a kernel reads or writes `stored_like` it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/recognize_sparse.hpp>
#include <tilewright/meta/dim.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {

/// Values of type `T` on the pattern of a matrix in the format `Stored`, one for each place of it, as an argument of
/// parameters that are `stored_like` that matrix:
///
///     constexpr auto stored = tw::parts<tw::bsr<"N", 16>, tw::dcsr<"N">>;
///     tw::parted_matrix<float, stored> a(graph);
///     tw::values_like<float, stored> s(a);   // keep it beside the matrix
///     op(a, x, y, s);
///     s.store(values);                       // in the order of the elements of `graph`
///
/// Kernels hand them on to each other as they are. What a kernel writes at places that hold no element is never seen.
template <class T, dim Stored>
class values_like {
  static constexpr bool in_parts = Stored.storage == dim_storage::parts;
  static_assert(
      in_parts || Stored.storage == dim_storage::bsr || Stored.storage == dim_storage::ell ||
          Stored.storage == dim_storage::dcsr,
      "tilewright: values_like<T, format> are on the pattern of a matrix in bsr, ell, dcsr "
      "or parts of these; on that of compressed rows they are a vector");

 public:
  using value_type = T;
  static constexpr dim_storage storage = Stored.storage;
  static constexpr int group = Stored.group;
  static constexpr part_list parts = Stored.parts;
  static constexpr int arrays = in_parts ? Stored.parts.count : 1;

  /// Zeros, for as many places as the matrix has. It keeps nothing of the matrix, which may have other values later.
  template <class Matrix>
  requires dsl::form_of_dimension<dsl::sparse_recognized<const Matrix>, Stored.storage,
                                  Stored.group, Stored.parts> explicit values_like(const Matrix& m)
      : elements_(m.nonzeros()) {
    if constexpr (in_parts) {
      const auto add_all = [&]<int... K>(std::integer_sequence<int, K...>) {
        (add(m.template part<K>().source(), static_cast<std::size_t>(K)), ...);
      };
      add_all(std::make_integer_sequence<int, arrays>{});
    } else {
      add(m.source(), 0);
    }
  }

  std::int64_t elements() const noexcept { return elements_; }

  /// Takes the values of all elements, in the order of the matrix that the format was made of; places that hold none
  /// get zero.
  /// @throws argument_error for another number of values
  template <class Values>
  void load(const Values& values) {
    check(static_cast<std::int64_t>(values.size()));
    for (std::size_t k = 0; k < source_.size(); ++k)
      for (std::size_t at = 0; at < source_[k].size(); ++at)
        values_[k][at] = source_[k][at] < 0 ? T(0) : values.data()[source_[k][at]];
  }
  /// Gives the values of all elements, in that order.
  /// @throws argument_error for another number of values
  template <class Values>
  void store(Values&& values) const {
    check(static_cast<std::int64_t>(values.size()));
    for (std::size_t k = 0; k < source_.size(); ++k)
      for (std::size_t at = 0; at < source_[k].size(); ++at)
        if (source_[k][at] >= 0) values.data()[source_[k][at]] = values_[k][at];
  }

  /// What a call takes: an array, or one for each part.
  auto arguments() { return arrays_of(*this, false); }
  auto arguments() const { return arrays_of(*this, true); }

 private:
  template <class Self>
  static auto arrays_of(Self& self, bool is_const) {
    std::array<dsl::argument, static_cast<std::size_t>(arrays)> out;
    for (std::size_t k = 0; k < out.size(); ++k) {
      out[k] = dsl::vector_argument(self.values_[k]);
      out[k].is_const = is_const;
    }
    return out;
  }
  template <class Index>
  void add(const std::vector<Index>& source, std::size_t part) {
    source_[part].assign(source.begin(), source.end());
    values_[part].assign(source.size(), T(0));
  }
  void check(std::int64_t count) const {
    if (count != elements_)
      throw argument_error("values_like: there are " + std::to_string(count) + " values for " +
                           std::to_string(elements_) + " elements; each has one");
  }

  std::int64_t elements_;
  std::array<std::vector<std::int64_t>, static_cast<std::size_t>(arrays)>
      source_;  // of each place its element; -1: padding
  std::array<std::vector<T>, static_cast<std::size_t>(arrays)> values_;
};

}  // namespace tilewright
