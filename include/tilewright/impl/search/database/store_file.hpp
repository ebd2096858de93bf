// What stands under the name of a database file, before SQLite opens it: whether it may be written
// over, and whether its first bytes deserve a closer look.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include <tilewright/impl/search/database/sqlite_image.hpp>
#include <tilewright/impl/search/database/sqlite_page.hpp>

namespace tilewright::search::detail {

inline constexpr std::uint32_t store_application_id = 0x54574442;  // "TWDB"
/// How the description of the table of records begins, in every version and as SQLite keeps it.
inline constexpr std::string_view store_record_table =
    "CREATE TABLE record(id integer primary key, workload text, isa text";

/// A file of this library bears three marks: the first bytes of every SQLite file, the number of
/// this application, and the description of its tables. What bears two of them is ours and damaged;
/// what bears one may be anybody's.
struct store_file {
  enum class kind {
    absent,
    empty,     // a database can be made of it, and nothing is lost
    database,  // SQLite's or, damaged, ours
    foreign,   // anything else
    unknown    // it cannot be read
  };
  kind is = kind::unknown;
  bool ours = false;
  bool odd = false;  // its header says something of its pages that no file of ours says
  std::string what;  // foreign: "a directory"
};

/// Whether the header disagrees with the file, or with how files of this library are made. A log
/// that is not written back yet may know better than the header: then less is looked at.
inline bool odd_store_header(const std::string& path, const sqlite_page::header& h,
                             std::string_view start, std::uint64_t size) {
  if (h.page_size == 0 || h.reserved != 0 || h.vacuum != 0) return true;
  const sqlite_page::leaf first(start, h.page_size, true);
  if (first.size() > 0 && !first.filled()) return true;
  struct stat log {};
  if (::stat((path + "-wal").c_str(), &log) == 0 && log.st_size > 0) return false;
  if (h.counts_pages && h.pages * std::uint64_t{h.page_size} != size) return true;
  if (h.first_free == 0 && h.free_pages == 0) return false;
  return !sqlite_image::pages(path).unused();
}

inline store_file examine_store_file(const std::string& path) {
  using kind = store_file::kind;
  store_file out;
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) {
    if (errno == ENOENT) out.is = kind::absent;
    return out;
  }
  if (!S_ISREG(s.st_mode)) {
    out.is = kind::foreign;
    out.what = S_ISDIR(s.st_mode) ? "a directory" : "not a regular file";
    return out;
  }
  if (s.st_size == 0) {
    out.is = kind::empty;
    return out;
  }
  const sqlite_image::source file(path);
  if (!file.good()) return out;
  const std::string start = file.read(0, 65536);  // the largest page
  const auto header = sqlite_page::read_header(start);
  const bool application = header && header->application == store_application_id,
             tables = start.find(store_record_table) != std::string::npos,
             magic = header && header->has_magic;
  out.ours = magic + application + tables >= 2;
  if (magic || out.ours) {
    out.is = kind::database;
    out.odd = odd_store_header(path, *header, start, file.size());
  } else {
    out.is = kind::foreign;
    out.what = "a file without the first bytes of an SQLite database";
  }
  return out;
}

}  // namespace tilewright::search::detail
