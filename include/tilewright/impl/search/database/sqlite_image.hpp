// An SQLite file as numbered pages, without SQLite: the file itself, and over it what its
// write-ahead log holds that was committed.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/impl/search/database/sqlite_page.hpp>

namespace tilewright::search::sqlite_image {

/// A file that is read at places. Nothing of what it holds is trusted, its size neither.
class source {
 public:
  explicit source(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat s {};
    if (file_ >= 0 && ::fstat(file_, &s) == 0 && S_ISREG(s.st_mode))
      size_ = static_cast<std::uint64_t>(s.st_size);
  }
  ~source() {
    if (file_ >= 0) ::close(file_);
  }
  source(const source&) = delete;
  source& operator=(const source&) = delete;

  bool good() const { return file_ >= 0; }
  std::uint64_t size() const { return size_; }
  /// Fewer bytes where the file ends.
  std::string read(std::uint64_t at, std::size_t bytes) const {
    if (at >= size_) return {};
    std::string out(std::min<std::uint64_t>(bytes, size_ - at), '\0');
    std::size_t got = 0;
    while (got < out.size()) {
      const ssize_t n =
          ::pread(file_, out.data() + got, out.size() - got, static_cast<off_t>(at + got));
      if (n <= 0) break;
      got += static_cast<std::size_t>(n);
    }
    out.resize(got);
    return out;
  }

 private:
  int file_;
  std::uint64_t size_ = 0;
};

/// Which pages a write-ahead log holds, as of its last commit.
class log {
 public:
  explicit log(const std::string& path) : from_(path) {
    const std::string head = from_.read(0, head_size);
    if (head.size() < head_size) return;
    const std::uint64_t magic = sqlite_page::number(head, 0, 4);
    if ((magic & ~std::uint64_t{1}) != 0x377f0682) return;
    big_endian_ = magic & 1;
    const std::size_t size = sqlite_page::number(head, 8, 4);
    if (size < 512 || size > 65536 || (size & (size - 1)) != 0) return;
    sum(std::string_view(head).substr(0, 24));
    if (!sums_match(head, 24)) return;
    page_size_ = size;
    follow(head.substr(16, 8));
  }

  /// 0 for a log that holds nothing.
  std::size_t page_size() const { return pages_.empty() ? 0 : page_size_; }
  /// Numbers of the pages that it holds, and where.
  const std::map<std::uint32_t, std::uint64_t>& all() const { return pages_; }
  std::optional<std::string> page(std::uint32_t number) const {
    const auto there = pages_.find(number);
    if (there == pages_.end()) return std::nullopt;
    return from_.read(there->second, page_size_);
  }

 private:
  static constexpr std::size_t head_size = 32, frame_head_size = 24;

  /// Frames up to the last commit before the first that does not fit: the same that SQLite reads.
  void follow(const std::string& salts) {
    std::map<std::uint32_t, std::uint64_t> open;  // of a transaction that has not ended
    for (std::uint64_t at = head_size;; at += frame_head_size + page_size_) {
      const std::string frame = from_.read(at, frame_head_size + page_size_);
      if (frame.size() < frame_head_size + page_size_ || frame.compare(8, 8, salts) != 0) return;
      sum(std::string_view(frame).substr(0, 8));
      sum(std::string_view(frame).substr(frame_head_size));
      if (!sums_match(frame, 16)) return;
      open[static_cast<std::uint32_t>(sqlite_page::number(frame, 0, 4))] = at + frame_head_size;
      if (sqlite_page::number(frame, 4, 4) == 0) continue;
      for (const auto& [number, place] : open) pages_[number] = place;
      open.clear();
    }
  }

  std::uint32_t word(std::string_view bytes, std::size_t at) const {
    const auto big = static_cast<std::uint32_t>(sqlite_page::number(bytes, at, 4));
    return big_endian_ ? big : big >> 24 | (big >> 8 & 0xff00) | (big << 8 & 0xff0000) | big << 24;
  }
  void sum(std::string_view bytes) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      first_ += word(bytes, i) + second_;
      second_ += word(bytes, i + 4) + first_;
    }
  }
  bool sums_match(std::string_view bytes, std::size_t at) const {
    return sqlite_page::number(bytes, at, 4) == first_ &&
           sqlite_page::number(bytes, at + 4, 4) == second_;
  }

  source from_;
  bool big_endian_ = false;
  std::size_t page_size_ = 0;
  std::uint32_t first_ = 0, second_ = 0;
  std::map<std::uint32_t, std::uint64_t> pages_;  // number -> place in the log
};

/// The pages of a file, numbered from 1.
class pages {
 public:
  explicit pages(const std::string& path) : file_(path), log_(path + "-wal") {
    const std::string start = first_bytes();
    if (const auto head = sqlite_page::read_header(start)) {
      size_ = head->page_size;
      reserved_ = head->reserved;
    }
    if (log_.page_size() > 0) size_ = log_.page_size();
    if (size_ == 0) size_ = likely_size();
    if (size_ - reserved_ < 480) reserved_ = 0;  // no page is that small
    most_beyond_ = 16 * (file_.size() + log_.all().size() * size_);
  }

  bool good() const { return file_.good(); }
  std::size_t page_size() const { return size_; }
  std::size_t usable() const { return size_ - (ignored_ ? 0 : reserved_); }
  /// Whether the end of each page holds nothing, as far as the file says. Files of this library have
  /// no such ends; the number may be damaged.
  bool reserves() const { return reserved_ > 0; }
  void reserve_nothing() { ignored_ = true; }
  void reserve_again() { ignored_ = false; }

  /// Calls `work` with the number and the bytes of every page.
  template <class Work>
  void each(const Work& work) const {
    for (std::uint32_t n = 1; n <= of_file(); ++n) work(n, page(n));
    for (const auto& [n, place] : log_.all())
      if (n > of_file()) work(n, page(n));
  }
  bool has(std::uint32_t number) const {
    return number >= 1 && (number <= of_file() || log_.all().count(number) > 0);
  }
  /// Filled up with zeros where the file ends; all zeros for numbers that do not exist.
  std::string page(std::uint32_t number) const {
    std::optional<std::string> out = log_.page(number);
    if (!out) out = number == 0 ? std::string() : file_.read((number - 1ull) * size_, size_);
    out->resize(size_);
    return *std::move(out);
  }
  sqlite_page::leaf leaf(const std::string& page, std::uint32_t number) const {
    return {page, usable(), number == 1};
  }

  /// A row with what lies on other pages; nothing where the way to them is lost.
  std::optional<std::string> whole(const sqlite_page::cell& c) const {
    std::string out(c.here);
    const std::size_t part = usable() - 4;
    const std::uint64_t wanted = c.size - out.size();
    if (wanted > most_beyond_) return std::nullopt;
    most_beyond_ -= wanted;
    for (std::uint32_t next = c.beyond; out.size() < c.size;) {
      if (!has(next)) return std::nullopt;
      const std::string more = page(next);
      out.append(more, 4, std::min(part, c.size - out.size()));
      next = static_cast<std::uint32_t>(sqlite_page::number(more, 0, 4));
    }
    return out;
  }

  /// Pages that the file says it does not use; nothing where its list of them does not agree with
  /// itself.
  std::optional<std::set<std::uint32_t>> unused() const {
    std::set<std::uint32_t> out;
    const auto head = sqlite_page::read_header(page(1));
    for (std::uint32_t next = head->first_free; next != 0;) {
      if (!has(next) || next == 1 || !out.insert(next).second) return std::nullopt;
      const std::string trunk = page(next);
      const std::uint64_t leaves = sqlite_page::number(trunk, 4, 4);
      if (leaves > usable() / 4 - 2) return std::nullopt;
      for (std::size_t i = 0; i < leaves; ++i) {
        const std::uint64_t number = sqlite_page::number(trunk, 8 + 4 * i, 4);
        if (number < 2 || !has(static_cast<std::uint32_t>(number)) ||
            !out.insert(static_cast<std::uint32_t>(number)).second)
          return std::nullopt;
      }
      next = static_cast<std::uint32_t>(sqlite_page::number(trunk, 0, 4));
    }
    if (out.size() != head->free_pages) return std::nullopt;
    return out;
  }

 private:
  std::uint32_t of_file() const {
    const std::uint64_t count = (file_.size() + size_ - 1) / size_;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX - 1));
  }
  std::string first_bytes() const {
    std::string out = log_.page(1).value_or(std::string());
    if (out.empty()) out = file_.read(0, sqlite_page::header_size);
    return out;
  }

  /// The size at which most pages are leaves whose cells lie as cells do.
  std::size_t likely_size() const {
    constexpr std::uint64_t looked_at = std::uint64_t{1} << 24;  // bytes
    std::size_t out = 4096, most = 0;
    for (std::size_t size = 512; size <= 65536; size *= 2) {
      std::size_t found = 0;
      for (std::uint64_t at = 0; at < std::min(file_.size(), looked_at); at += size) {
        const std::string bytes = file_.read(at, size);
        if (bytes.size() == size && sqlite_page::leaf(bytes, size, at == 0).plausible()) ++found;
      }
      if (found > most) {
        most = found;
        out = size;
      }
    }
    return out;
  }

  source file_;
  log log_;
  std::size_t size_ = 0, reserved_ = 0;
  bool ignored_ = false;
  /// Bytes that `whole` still reads from other pages. A page belongs to one row; in a damaged file,
  /// many cells could lead into the same long circle.
  mutable std::uint64_t most_beyond_ = 0;
};

}  // namespace tilewright::search::sqlite_image
