// Matrix Market: a sparse matrix from a text file (Boisvert, Pozo and Remington, NISTIR 5935).
//
//     const auto a = tw::read_matrix_market<float>("bcsstk17.mtx");
//     op(a, b, c);
//
// Of the format: `matrix coordinate` with `real`, `integer` or `pattern` elements that are `general`,
// `symmetric` or `skew-symmetric`. Nothing in a file is trusted: memory is taken for what the bytes of
// the file can hold, and for as many rows as the options allow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/expr/formats/csr_matrix.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/mapped_file.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright {

struct matrix_market_options {
  duplicates twice = duplicates::refused;
  /// A file of a few bytes may speak of any number of rows, of which each takes an offset.
  std::int64_t most_rows = std::int64_t{1} << 28;
};

namespace interop {

/// The elements of a file, those of a symmetric one twice.
struct matrix_market_elements {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> row_of, column_of;  // counted from 0
  std::vector<double> values;                   // 1 where the file has a pattern only
};

/// @cond
class matrix_market_parser {
 public:
  matrix_market_parser(std::string_view text, const matrix_market_options& options)
      : text_(text), options_(options) {}

  matrix_market_elements run() {
    banner();
    sizes();
    elements();
    return std::move(out_);
  }

 private:
  enum class symmetry { general, symmetric, skew };

  /// A word of the line, and where it begins, counted from 1.
  struct word {
    std::string_view text;
    std::size_t column = 0;
  };

  [[noreturn]] void fail(std::size_t column, const std::string& what) const {
    throw argument_error("matrix market: line " + std::to_string(line_number_) + ", column " +
                         std::to_string(column) + ": " + what);
  }

  bool next_line() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = text_.substr(at_, end - at_);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    at_ = end + 1;
    ++line_number_;
    position_ = 0;
    return true;
  }

  /// The next line with something on it that is no comment.
  bool next_data() {
    while (next_line()) {
      const std::size_t first = line_.find_first_not_of(" \t");
      if (first != std::string_view::npos && line_[first] != '%') return true;
    }
    return false;
  }

  word next_word() {
    const std::size_t begin = std::min(line_.find_first_not_of(" \t", position_), line_.size());
    const std::size_t end = std::min(line_.find_first_of(" \t", begin), line_.size());
    position_ = end;
    return {line_.substr(begin, end - begin), begin + 1};
  }

  void end_of_line() {
    const word more = next_word();
    if (!more.text.empty()) fail(more.column, "expected the end of the line");
  }

  static std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
  }

  void banner() {
    if (!next_line()) {
      line_number_ = 1;
      fail(1, "the file is empty; it begins with %%MatrixMarket");
    }
    expect_word({"%%matrixmarket"}, "%%MatrixMarket");
    expect_word({"matrix"}, "matrix");
    expect_word({"coordinate"}, "coordinate; a dense matrix (array) is no sparse argument");
    const std::size_t field =
        expect_word({"real", "double", "integer", "pattern"}, "real, integer or pattern");
    pattern_ = field == 3;
    symmetry_ = static_cast<symmetry>(expect_word({"general", "symmetric", "skew-symmetric"},
                                                  "general, symmetric or skew-symmetric"));
    if (pattern_ && symmetry_ == symmetry::skew) fail(1, "a pattern has no signs to be skew");
    end_of_line();
  }

  std::size_t expect_word(const std::vector<std::string_view>& choices, const char* what) {
    const word w = next_word();
    const std::string text = lower(w.text);
    for (std::size_t k = 0; k < choices.size(); ++k)
      if (text == choices[k]) return k;
    fail(w.column, std::string("expected ") + what);
  }

  std::int64_t integer(const char* what, std::int64_t least, std::int64_t most) {
    const word w = next_word();
    const std::optional<std::int64_t> n = support::read_number<std::int64_t>(w.text);
    if (!n) fail(w.column, std::string("expected ") + what);
    if (*n < least || *n > most)
      fail(w.column, std::string(what) + " is " + std::to_string(*n) + "; it has to be " +
                         std::to_string(least) + " to " + std::to_string(most));
    return *n;
  }

  void sizes() {
    if (!next_data()) fail(1, "the numbers of rows, columns and elements are missing");
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - std::int64_t{1};
    out_.rows = integer("the number of rows", 0, std::min(options_.most_rows, most));
    out_.columns = integer("the number of columns", 0, most);
    if (symmetry_ != symmetry::general && out_.rows != out_.columns)
      fail(1, "a symmetric matrix has as many rows as columns");
    // an element takes four bytes, "1 1\n", and with a value six
    const std::size_t least = pattern_ ? 4 : 6, left = text_.size() - std::min(at_, text_.size());
    count_ = integer("the number of elements", 0, static_cast<std::int64_t>((left + 1) / least));
    end_of_line();
    const auto room =
        static_cast<std::size_t>(symmetry_ == symmetry::general ? count_ : 2 * count_);
    out_.row_of.reserve(room);
    out_.column_of.reserve(room);
    out_.values.reserve(room);
  }

  double value() {
    const word w = next_word();
    std::string_view text = w.text;
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    const std::optional<double> v = support::read_number<double>(text);
    if (!v) fail(w.column, "expected a number that a double holds");
    return *v;
  }

  void elements() {
    for (std::int64_t k = 0; k < count_; ++k) {
      if (!next_data())
        fail(1, "the file ends after " + std::to_string(k) + " of " + std::to_string(count_) +
                    " elements");
      const std::int64_t row = integer("the row", 1, out_.rows) - 1;
      const std::int64_t column = integer("the column", 1, out_.columns) - 1;
      const double v = pattern_ ? 1.0 : value();
      end_of_line();
      if (symmetry_ != symmetry::general && row < column)
        fail(1, "an element above the diagonal; a symmetric matrix lists those below");
      if (symmetry_ == symmetry::skew && row == column)
        fail(1, "an element of the diagonal, where a skew-symmetric matrix is zero");
      add(row, column, v);
      if (symmetry_ != symmetry::general && row != column)
        add(column, row, symmetry_ == symmetry::skew ? -v : v);
    }
    if (next_data())
      fail(1, "more than the " + std::to_string(count_) + " elements that the file speaks of");
  }

  void add(std::int64_t row, std::int64_t column, double v) {
    out_.row_of.push_back(row);
    out_.column_of.push_back(column);
    out_.values.push_back(v);
  }

  std::string_view text_, line_;
  const matrix_market_options& options_;
  std::size_t at_ = 0, position_ = 0, line_number_ = 0;
  bool pattern_ = false;
  symmetry symmetry_ = symmetry::general;
  std::int64_t count_ = 0;
  matrix_market_elements out_;
};
/// @endcond

}  // namespace interop

/// The matrix that the text of a file describes.
/// @throws argument_error naming line and column of what is no Matrix Market file, of what the format has
/// and this reader has not, and of a number that is out of its range; or the elements that stand at one
/// place
template <class T, class Index = std::int32_t>
csr_matrix<T, Index> parse_matrix_market(std::string_view text,
                                         const matrix_market_options& options = {}) {
  const interop::matrix_market_elements all = interop::matrix_market_parser(text, options).run();
  return csr_matrix<T, Index>(all.rows, all.columns, all.row_of, all.column_of, all.values,
                              options.twice);
}

/// The matrix in a file.
/// @throws argument_error as above, naming the file, and when it cannot be read
template <class T, class Index = std::int32_t>
csr_matrix<T, Index> read_matrix_market(const std::string& path,
                                        const matrix_market_options& options = {}) {
  const support::mapped_file file(path);
  try {
    return parse_matrix_market<T, Index>({reinterpret_cast<const char*>(file.data()), file.size()},
                                         options);
  } catch (const argument_error& e) {
    throw argument_error(path + ": " + e.what());
  }
}

}  // namespace tilewright
