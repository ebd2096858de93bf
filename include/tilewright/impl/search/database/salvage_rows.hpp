// What can be read of a damaged file, row by row: every leaf of every table is read by itself, so
// that a bad page costs the rows on it and no others, whichever page it is.
//
// The description of the tables is on the first page, and is not needed: a row is known by its
// columns, and a record or a failed candidate by its digest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/impl/search/database/sqlite_image.hpp>
#include <tilewright/search/database/store.hpp>

namespace tilewright::search::detail {

/// The columns of one row, taken one after the other.
class salvage_columns {
 public:
  explicit salvage_columns(const std::vector<sqlite_page::value>& row) : row_(row) {}

  std::string text() { return std::string(next(sqlite_page::value::kind::text).bytes); }
  std::int64_t number() { return next(sqlite_page::value::kind::integer).integer; }
  void skip() { ++at_; }
  bool more() const { return at_ < row_.size(); }
  record_key key() {
    record_key out;
    out.workload = text();
    out.isa = text();
    out.arguments = text();
    out.threads = static_cast<int>(number());
    return out;
  }
  provenance from() {
    provenance out;
    out.cpu = text();
    out.llvm = text();
    out.date = text();
    out.revision = static_cast<int>(number());
    return out;
  }
  /// Whether all columns were there and of the kinds that were asked for.
  bool good() const { return good_ && at_ == row_.size(); }

 private:
  sqlite_page::value next(sqlite_page::value::kind kind) {
    if (at_ < row_.size() && row_[at_].is == kind) return row_[at_++];
    good_ = false;
    ++at_;
    return {};
  }
  const std::vector<sqlite_page::value>& row_;
  std::size_t at_ = 0;
  bool good_ = true;
};

using salvage_row = std::vector<sqlite_page::value>;

inline std::optional<record> salvage_record(const salvage_row& row) {
  salvage_columns c(row);
  record r;
  c.skip();  // the number of the row stands beside it
  r.key = c.key();
  r.family = c.text();
  r.extents = read_integers(c.text());
  r.trace = c.text();
  r.seconds = read_reals(c.text());
  c.skip();  // the best of these
  r.chosen = c.number() != 0;
  r.from = c.from();
  const std::string digest = c.text();
  if (c.more()) r.checked = c.text();  // rows of versions before 5 end here
  if (!c.good() || r.seconds.empty() || r.digest() != digest) return std::nullopt;
  return r;
}

inline std::optional<failed_candidate> salvage_failed(const salvage_row& row) {
  salvage_columns c(row);
  failed_candidate f;
  c.skip();
  f.key = c.key();
  f.trace = c.text();
  f.kind = c.text();
  f.detail = c.text();
  f.from = c.from();
  const std::string digest = c.text();
  if (!c.good() || f.digest() != digest) return std::nullopt;
  return f;
}

inline std::optional<std::pair<record_key, failure_count>> salvage_count(const salvage_row& row) {
  salvage_columns c(row);
  std::pair<record_key, failure_count> out;
  out.first = c.key();
  out.second.kind = c.text();
  out.second.count = c.number();
  out.second.detail = c.text();
  if (!c.good() || out.second.count <= 0) return std::nullopt;
  return out;
}

inline std::optional<std::pair<std::string, std::string>> salvage_workload(const salvage_row& row) {
  salvage_columns c(row);
  std::pair<std::string, std::string> out;
  out.first = c.text();
  out.second = c.text();
  if (!c.good()) return std::nullopt;
  return out;
}

/// Where the rows of one table lie.
struct salvage_places {
  struct place {
    std::int64_t row = 0;
    std::uint32_t page = 0;
    std::size_t cell = 0;

    friend auto operator<=>(const place&, const place&) = default;
  };
  std::vector<place> all;

  /// How many numbers between rows belong to no row. A gap that is too wide is none: the number
  /// behind it is wrong.
  /// Requires: 1) `all` is sorted
  std::size_t missing() const {
    constexpr std::int64_t widest = 10000;
    std::size_t out = 0;
    std::int64_t last = 0;
    for (const place& p : all) {
      if (p.row - last > widest) break;
      if (p.row > last) out += static_cast<std::size_t>(p.row - last - 1);
      last = p.row;
    }
    return out;
  }
};

/// The rows of a damaged file.
class salvage_source {
 public:
  explicit salvage_source(const std::string& path) : pages_(path) {
    find();
    if (pages_.reserves()) {  // or that number was damaged
      const tables first = std::exchange(found_, {});
      pages_.reserve_nothing();
      find();
      if (found_.records.all.size() < first.records.all.size()) {
        pages_.reserve_again();
        found_ = first;
      }
    }
    for (salvage_places* p : {&found_.records, &found_.failed, &found_.counts, &found_.workloads})
      std::sort(p->all.begin(), p->all.end());
  }

  /// Calls `take` with each record in the order in which they were written. Of a row that is there
  /// twice, once on a page that is not in use, one comes.
  template <class Take>
  void each_record(const Take& take) {
    std::optional<record> last;
    std::int64_t row = 0;
    for (const auto& p : found_.records.all) {
      std::optional<record> r = read(p, salvage_record);
      if (!r) continue;
      if (last && p.row == row && r->digest() == last->digest()) {
        last->chosen &= r->chosen;  // the mark is only ever taken away
        continue;
      }
      if (last) take(*last);
      last = std::move(r);
      row = p.row;
    }
    if (last) take(*last);
  }
  template <class Take>
  void each_failed(const Take& take) {
    each_once(found_.failed, salvage_failed, take);
  }
  template <class Take>
  void each_count(const Take& take) {
    each_once(found_.counts, salvage_count, take);
  }
  template <class Take>
  void each_workload(const Take& take) {
    each_once(found_.workloads, salvage_workload, take);
  }
  std::size_t missing_records() const { return found_.records.missing(); }

 private:
  struct tables {
    salvage_places records, failed, counts, workloads;
  };

  void find() {
    const auto unused = pages_.unused();
    pages_.each([&](std::uint32_t number, const std::string& page) {
      if (unused && unused->count(number) > 0) return;
      const sqlite_page::leaf leaf = pages_.leaf(page, number);
      for (std::size_t i = 0; i < leaf.size(); ++i)
        if (const auto c = leaf.at(i); c && c->rowid > 0) find(*c, {c->rowid, number, i});
    });
  }
  void find(const sqlite_page::cell& c, const salvage_places::place& here) {
    const std::optional<std::string> bytes = pages_.whole(c);
    if (!bytes) return;
    const std::optional<salvage_row> row = sqlite_page::read_row(*bytes);
    if (!row) return;
    if (salvage_record(*row))
      found_.records.all.push_back(here);
    else if (salvage_failed(*row))
      found_.failed.all.push_back(here);
    else if (salvage_count(*row))
      found_.counts.all.push_back(here);
    else if (salvage_workload(*row))
      found_.workloads.all.push_back(here);
  }

  template <class Read>
  auto read(const salvage_places::place& p, const Read& as) -> decltype(as(salvage_row())) {
    if (number_ != p.page) {
      page_ = pages_.page(p.page);
      number_ = p.page;
    }
    const auto c = pages_.leaf(page_, p.page).at(p.cell);
    const auto bytes = c ? pages_.whole(*c) : std::nullopt;
    const auto row = bytes ? sqlite_page::read_row(*bytes) : std::nullopt;
    return row ? as(*row) : std::nullopt;
  }
  template <class Read, class Take>
  void each_once(const salvage_places& of, const Read& as, const Take& take) {
    std::int64_t row = 0;
    for (const auto& p : of.all) {
      if (p.row == row) continue;
      const auto found = read(p, as);
      if (!found) continue;
      take(*found);
      row = p.row;
    }
  }

  sqlite_image::pages pages_;
  tables found_;
  std::string page_;  // the last one that was read
  std::uint32_t number_ = 0;
};

/// Records of a damaged file.
struct salvage_counts {
  std::size_t saved = 0, lost = 0;  // what lay behind the last readable one is in neither

  /// "12 records were saved, 3 were not readable".
  std::string text(const std::string& done) const {
    return std::to_string(saved) + " records were " + done +
           (lost ? ", " + std::to_string(lost) + " were not readable" : "");
  }
};

/// Gives what can be read to `to`, which has the members add, add_failed, add_failures and
/// add_workload. Code is left: it can be made again from the traces.
template <class To>
salvage_counts salvage_rows(const std::string& from, To& to) {
  salvage_source source(from);
  salvage_counts out;
  source.each_record([&](record r) {
    r.key = by_position(std::move(r.key));
    to.add(r);
    ++out.saved;
  });
  source.each_failed([&](failed_candidate f) {
    f.key = by_position(std::move(f.key));
    to.add_failed(f);
  });
  source.each_count([&](const auto& c) { to.add_failures(by_position(c.first), c.second); });
  source.each_workload([&](const auto& w) { to.add_workload(w.first, w.second); });
  out.lost = source.missing_records();
  return out;
}

}  // namespace tilewright::search::detail
