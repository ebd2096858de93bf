// Pages of an SQLite file as bytes, without SQLite: the head of the file and the rows of one page.
//
// For files in which SQLite finds nothing any more. Whatever the bytes are, nothing outside of them
// is read; a number that leads nowhere gives no cell or no row. Indices and the inner pages of
// tables are not looked at: each leaf of a table says by itself which rows it holds.
// Source: https://www.sqlite.org/fileformat2.html
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright::search::sqlite_page {

/// A big-endian number of `width` <= 8 bytes.
/// Requires: 1) at + width <= bytes.size()
inline std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < width; ++i)
    out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

/// Reads the number of one to nine bytes at `at` and moves `at` behind it; false, and `at` stays,
/// where the bytes end before it does.
inline bool varint(std::string_view bytes, std::size_t& at, std::uint64_t& value) {
  std::uint64_t out = 0;
  for (std::size_t i = at; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const bool last = i - at == 8;
    out = last ? out << 8 | byte : out << 7 | (byte & 0x7f);
    if (last || byte < 0x80) {
      at = i + 1;
      value = out;
      return true;
    }
  }
  return false;
}

inline constexpr std::string_view magic{"SQLite format 3\0", 16};
inline constexpr std::size_t header_size = 100;  // bytes

/// The first bytes of a file.
struct header {
  bool has_magic = false;
  bool has_fractions = false;                    // three bytes that are the same in every file
  std::size_t page_size = 0;                     // bytes; 0: a size that does not exist
  std::size_t reserved = 0;                      // bytes at the end of each page that hold nothing
  std::uint32_t pages = 0;                       // as of the last change
  bool counts_pages = false;                     // `pages` is that of the last change
  std::uint32_t first_free = 0, free_pages = 0;  // list of pages that are not in use
  std::uint32_t vacuum = 0;                      // not 0: every page has an entry in a map
  std::uint32_t application = 0;
};

/// Nothing of less than `header_size` bytes.
inline std::optional<header> read_header(std::string_view bytes) {
  if (bytes.size() < header_size) return std::nullopt;
  const auto at = [&](std::size_t place) {
    return static_cast<std::uint32_t>(number(bytes, place, 4));
  };
  header out;
  out.has_magic = bytes.substr(0, magic.size()) == magic;
  const std::uint64_t size = number(bytes, 16, 2) == 1 ? 65536 : number(bytes, 16, 2);
  if (size >= 512 && (size & (size - 1)) == 0) out.page_size = size;
  out.reserved = static_cast<unsigned char>(bytes[20]);
  out.pages = at(28);
  out.counts_pages = at(24) == at(92);
  out.first_free = at(32);
  out.free_pages = at(36);
  out.vacuum = at(52) | at(64);
  out.application = at(68);
  return out;
}

/// One row as it lies on its page, and where the rest of it begins.
struct cell {
  std::size_t begin = 0, end = 0;  // on the page
  std::int64_t rowid = 0;
  std::size_t size = 0;      // bytes of the whole row
  std::string_view here;     // the part on this page
  std::uint32_t beyond = 0;  // first page of the rest; 0: all is here
};

/// The cells of one page.
class leaf {
 public:
  /// `usable`: bytes of a page without those that are reserved. The first page of a file begins
  /// with its header.
  leaf(std::string_view page, std::size_t usable, bool first)
      : page_(page.substr(0, usable)), usable_(usable), start_(first ? header_size : 0) {
    if (page_.size() < usable || usable < 480 || page_[start_] != table_leaf) return;
    const std::size_t told = number(page_, start_ + 3, 2);
    if (start_ + 8 + 2 * told <= usable_) count_ = told;
  }

  /// 0 for a page that is no leaf of a table.
  std::size_t size() const { return count_; }

  /// Nothing where the bytes at its place cannot be a cell.
  std::optional<cell> at(std::size_t i) const {
    if (i >= count_) return std::nullopt;
    std::size_t place = number(page_, start_ + 8 + 2 * i, 2);
    cell out;
    out.begin = place;
    std::uint64_t size = 0, rowid = 0;
    if (place < start_ + 8 + 2 * count_ || !varint(page_, place, size) ||
        !varint(page_, place, rowid) || size > most)
      return std::nullopt;
    out.rowid = static_cast<std::int64_t>(rowid);
    out.size = size;
    const std::size_t local = local_size(out.size), tail = local < out.size ? 4 : 0;
    if (place > usable_ || local + tail > usable_ - place) return std::nullopt;
    out.here = page_.substr(place, local);
    out.end = std::max(place + local + tail, out.begin + 4);
    if (tail) out.beyond = static_cast<std::uint32_t>(number(page_, place + local, 4));
    return out;
  }

  /// Whether all that the page says of its cells can be so.
  bool plausible() const {
    for (std::size_t i = 0; i < count_; ++i)
      if (!at(i)) return false;
    return count_ > 0;
  }

  /// Whether cells and free places fill the page as it says: each byte behind the first of them
  /// belongs to one of them, but for as many as are said to be lost between them.
  bool filled() const {
    std::vector<std::pair<std::size_t, std::size_t>> taken;  // begin and end
    for (std::size_t i = 0; i < count_; ++i) {
      const auto c = at(i);
      if (!c) return false;
      taken.emplace_back(c->begin, c->end);
    }
    if (count_ == 0) return false;
    std::size_t last = 0;
    for (std::size_t at = number(page_, start_ + 1, 2); at != 0;) {
      if (at <= last || at + 4 > usable_) return false;
      last = at;
      const std::size_t size = number(page_, at + 2, 2);
      if (size < 4) return false;
      taken.emplace_back(at, at + size);
      at = number(page_, at, 2);
    }
    std::sort(taken.begin(), taken.end());
    std::size_t end = number(page_, start_ + 5, 2), lost = 0;
    if (end < start_ + 8 + 2 * count_) return false;
    for (const auto& [from, to] : taken) {
      if (from < end || to > usable_) return false;
      lost += from - end;
      end = to;
    }
    return lost + (usable_ - end) == static_cast<unsigned char>(page_[start_ + 7]);
  }

 private:
  static constexpr char table_leaf = 13;
  static constexpr std::uint64_t most = std::uint64_t{1} << 31;  // bytes of a row, SQLite's limit

  /// How much of a row is kept on the page itself.
  std::size_t local_size(std::size_t size) const {
    if (size <= usable_ - 35) return size;
    const std::size_t least = (usable_ - 12) * 32 / 255 - 23;
    const std::size_t local = least + (size - least) % (usable_ - 4);
    return local <= usable_ - 35 ? local : least;
  }

  std::string_view page_;
  std::size_t usable_, start_;
  std::size_t count_ = 0;
};

/// A column of a row. Text and blobs point into the bytes of the row.
struct value {
  enum class kind { null, integer, real, text, blob };
  kind is = kind::null;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view bytes;
};

namespace detail {

/// Bytes of a value of a serial type; nothing for types that do not exist.
inline std::optional<std::size_t> width(std::uint64_t type) {
  constexpr std::size_t small[10] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < 10) return small[type];
  if (type < 12) return std::nullopt;
  return static_cast<std::size_t>((type - 12) / 2);
}

/// Requires: 1) bytes.size() == *width(type)
inline value read_value(std::uint64_t type, std::string_view bytes) {
  using kind = value::kind;
  value out;
  if (type == 0) return out;
  if (type == 8 || type == 9) {
    out.is = kind::integer;
    out.integer = static_cast<std::int64_t>(type - 8);
  } else if (type == 7) {
    out.is = kind::real;
    const std::uint64_t bits = number(bytes, 0, 8);
    std::memcpy(&out.real, &bits, sizeof bits);
  } else if (type < 7) {
    out.is = kind::integer;
    const std::size_t unused = 64 - 8 * bytes.size();  // of the sign
    out.integer = static_cast<std::int64_t>(number(bytes, 0, bytes.size()) << unused) >> unused;
  } else {
    out.is = type % 2 ? kind::text : kind::blob;
    out.bytes = bytes;
  }
  return out;
}

}  // namespace detail

/// The columns of a row; nothing where the bytes are no row.
inline std::optional<std::vector<value>> read_row(std::string_view bytes) {
  std::size_t at = 0;
  std::uint64_t head = 0;
  if (!varint(bytes, at, head) || head < at || head > bytes.size()) return std::nullopt;
  const std::string_view types = bytes.substr(0, head);
  std::size_t body = head;
  std::vector<value> out;
  while (at < types.size()) {
    std::uint64_t type = 0;
    if (!varint(types, at, type)) return std::nullopt;
    const std::optional<std::size_t> width = detail::width(type);
    if (!width || *width > bytes.size() - body) return std::nullopt;
    out.push_back(detail::read_value(type, bytes.substr(body, *width)));
    body += *width;
  }
  return out;
}

}  // namespace tilewright::search::sqlite_page
