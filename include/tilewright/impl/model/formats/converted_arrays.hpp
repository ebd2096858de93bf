// A matrix of compressed rows in another format, with the types of its elements erased.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <tilewright/expr/element.hpp>
#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/expr/formats/sell_matrix.hpp>
#include <tilewright/impl/model/formats/followed_values.hpp>
#include <tilewright/support/dtype.hpp>
#include <tilewright/support/numbers/content_number.hpp>

namespace tilewright::detail {

using support::content_number;

/// Compressed rows of a call; elements are moved, never computed with.
struct rows_of_call {
  const void *offsets = nullptr, *indices = nullptr, *values = nullptr;
  std::int64_t rows = 0, columns = 0, nonzeros = 0;
  dtype index = dtype::i32;
  int element = 4;           // bytes
  std::uint64_t absent = 0;  // what places without an element hold: its bits

  friend bool operator==(const rows_of_call&, const rows_of_call&) = default;
};

/// One matrix in one format.
class converted_arrays {
 public:
  virtual ~converted_arrays() = default;
  /// The arrays, as a call takes them.
  virtual std::vector<dsl::argument> arrays() const = 0;
  virtual void refresh(const rows_of_call& a) = 0;
  virtual std::shared_ptr<converted_arrays> copy() const = 0;
  virtual double padding() const = 0;
  virtual double conversion_seconds() const = 0;
  /// Of all arrays, with the lists of what places hold.
  virtual std::int64_t bytes() const = 0;

  /// Where elements lie, for parameters that are stored like the matrix. [parts]
  virtual std::vector<place_list> places() const { return {}; }
  followed_values& followed() const { return *followed_; }

 private:
  // of the pattern, which copies share
  std::shared_ptr<followed_values> followed_ = std::make_shared<followed_values>();
};

/// The bits of a value as an element of a type.
template <class... T>
std::uint64_t bits_among(dtype type, double value) {
  std::uint64_t out = 0;
  const auto put = [&](auto element) { std::memcpy(&out, &element, sizeof element); };
  ((type == dsl::dtype_of<T> ? put(dsl::element_value<T>(value)) : void()), ...);
  return out;
}
inline std::uint64_t element_bits(dtype type, double value) {
  return bits_among<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                    std::uint32_t, std::int64_t, std::uint64_t, tilewright::float16, bfloat16,
                    float, double>(type, value);
}

template <class T, class Index>
csr_view<const T, const Index> view_of_rows(const rows_of_call& a) {
  return {a.rows,
          a.columns,
          a.nonzeros,
          static_cast<const Index*>(a.offsets),
          static_cast<const Index*>(a.indices),
          static_cast<const T*>(a.values)};
}

template <class Matrix>
class converted_as : public converted_arrays {
 public:
  converted_as(Matrix m, const rows_of_call& a) : matrix_(std::move(m)) {
    matrix_.pad_with(static_cast<typename Matrix::value_type>(a.absent));
  }
  std::vector<dsl::argument> arrays() const override {
    const auto all = dsl::sparse_recognized<const Matrix>::make(matrix_, "");
    return {all.begin(), all.end()};
  }
  void refresh(const rows_of_call& a) override {
    // the choice knows a pattern that has changed, and makes another conversion of it
    matrix_.refresh(view_of_rows<typename Matrix::value_type, typename Matrix::index_type>(a),
                    same_pattern::promised);
  }
  std::shared_ptr<converted_arrays> copy() const override {
    return std::make_shared<converted_as>(*this);
  }
  double padding() const override { return matrix_.padding(); }
  double conversion_seconds() const override { return matrix_.conversion_seconds(); }

  std::int64_t bytes() const override {
    std::int64_t out = 0;
    each_part([&](const auto& part) { out += part.bytes(); });
    return out;
  }
  std::vector<place_list> places() const override {
    std::vector<place_list> out;
    each_part([&]<class Part>(const Part& part) {
      out.push_back({part.source().data(), static_cast<std::int64_t>(part.source().size()),
                     sizeof(typename Part::index_type) == sizeof(std::int64_t)});
    });
    return out;
  }

 private:
  template <class Use>
  void each_part(const Use& use) const {
    if constexpr (requires { matrix_.template part<0>(); }) {
      const auto all = [&]<int... K>(std::integer_sequence<int, K...>) {
        (use(matrix_.template part<K>()), ...);
      };
      all(std::make_integer_sequence<int, Matrix::format.count>{});
    } else {
      use(matrix_);
    }
  }

  Matrix matrix_;
};

/// What a conversion may store beside the elements.
enum class filling {
  none,  // places that hold no element are few, and none lies beside one in a block: results are those of
         // compressed rows, whatever the other operands hold
  zeros  // any: results are those where the other operands are finite
};

/// Makes a format of a matrix, of arrays that take no more than so many bytes.
/// @throws argument_error when the matrix does not suit it, or takes more
using format_maker = std::shared_ptr<converted_arrays> (*)(const rows_of_call&, filling,
                                                           std::int64_t most_bytes);

/// The same format with indices of another width.
constexpr dim with_index_bits(dim form, int width) {
  form.index_bits = width;
  return form;
}

/// True for two parts of rows of one width: they share out the columns.
constexpr bool in_column_parts(dim form) {
  return form.storage == dim_storage::parts && form.parts.count == 3 &&
         form.parts.at[0] == form.parts.at[1];
}

/// @tparam Window rows that are sorted at a time, where rows stand side by side
template <class T, class Index, dim Form, int Window>
std::shared_ptr<converted_arrays> convert_rows(const rows_of_call& a, filling with,
                                               std::int64_t most_bytes) {
  const auto rows = view_of_rows<T, Index>(a);
  const bool zeros = with == filling::zeros;
  if constexpr (Form.storage == dim_storage::sell) {
    using matrix = sell_matrix<T, Form.group, Index>;
    return std::make_shared<converted_as<matrix>>(
        matrix(rows,
               {.window = Window, .most_padding = zeros ? 1e9 : 4.0, .most_bytes = most_bytes}),
        a);
  } else if constexpr (Form.storage == dim_storage::parts) {
    using matrix = parted_matrix<T, with_index_bits(Form, static_cast<int>(8 * sizeof(Index)))>;
    return std::make_shared<converted_as<matrix>>(matrix(rows, {.least_fill = zeros ? 1e-9 : 1.0,
                                                                .most_padding = zeros ? 1e9 : 8.0,
                                                                .least_share = zeros ? 0.0 : 0.5,
                                                                .by_columns = in_column_parts(Form),
                                                                .most_bytes = most_bytes}),
                                                  a);
  } else {
    using matrix = bsr_matrix<T, Form.group, Index>;
    return std::make_shared<converted_as<matrix>>(
        matrix(rows, {.most_padding = zeros ? 1e9 : 1.0, .most_bytes = most_bytes}), a);
  }
}

template <dim Form, int Window, class Index>
std::shared_ptr<converted_arrays> convert_by_size(const rows_of_call& a, filling with,
                                                  std::int64_t most_bytes) {
  switch (a.element) {
    case 2: return convert_rows<std::uint16_t, Index, Form, Window>(a, with, most_bytes);
    case 4: return convert_rows<std::uint32_t, Index, Form, Window>(a, with, most_bytes);
    case 8: return convert_rows<std::uint64_t, Index, Form, Window>(a, with, most_bytes);
    default: throw argument_error("elements of this size stay in compressed rows");
  }
}

template <dim Form, int Window>
std::shared_ptr<converted_arrays> convert(const rows_of_call& a, filling with,
                                          std::int64_t most_bytes) {
  return a.index == dtype::i64 ? convert_by_size<Form, Window, std::int64_t>(a, with, most_bytes)
                               : convert_by_size<Form, Window, std::int32_t>(a, with, most_bytes);
}

}  // namespace tilewright::detail
