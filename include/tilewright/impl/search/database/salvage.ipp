// A damaged file makes room for a new one with the rows that can be read.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include <tilewright/impl/search/database/salvage_rows.hpp>
#include <tilewright/search/database/store.hpp>

namespace tilewright::search {
namespace detail {

inline std::string salvage_kept_name(const std::string& path) {
  std::string name = path + ".damaged";
  for (int i = 2; ::access(name.c_str(), F_OK) == 0; ++i)
    name = path + ".damaged." + std::to_string(i);
  return name;
}

/// Holds the lock file beside a database, so that one process repairs at a time.
class salvage_lock {
 public:
  explicit salvage_lock(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ >= 0) ::flock(file_, LOCK_EX);
  }
  ~salvage_lock() {
    if (file_ >= 0) ::close(file_);
  }
  salvage_lock(const salvage_lock&) = delete;
  salvage_lock& operator=(const salvage_lock&) = delete;

 private:
  int file_;
};

/// True when another process repaired the file while this one waited for the lock.
/// @throws store_error for a file that is not of this library
inline bool salvage_unneeded(const std::string& path) {
  try {
    store s(path);
    return s.intact();
  } catch (const store_error& e) {
    if (e.kind() == store_failure::foreign || e.kind() == store_failure::newer) throw;
    return false;
  }
}

}  // namespace detail

TILEWRIGHT_INLINE std::string salvage(const std::string& name) {
  std::error_code unresolved;
  const std::filesystem::path real = std::filesystem::canonical(name, unresolved);
  const std::string path = unresolved ? name : real.string();  // the file, not a link to it
  const detail::salvage_lock lock(path + ".lock");
  if (detail::salvage_unneeded(path)) return {};
  const std::string kept = detail::salvage_kept_name(path), fresh = path + ".salvage";
  for (const char* tail : {"", "-wal", "-shm"}) ::unlink((fresh + tail).c_str());
  detail::salvage_counts rows;
  {
    store to(fresh);
    rows = detail::salvage_rows(path, to);
  }  // closing the last connection writes its log back into the file
  for (const char* tail : {"-wal", "-shm", ""})
    if (::rename((path + tail).c_str(), (kept + tail).c_str()) != 0 && *tail == '\0')
      throw store_error(store_failure::not_writable, "cannot rename the damaged file " + path);
  if (::rename(fresh.c_str(), path.c_str()) != 0)
    throw store_error(store_failure::not_writable,
                      "cannot put the repaired file in the place of " + path);
  return path + " was damaged: " + rows.text("saved") + "; the old file is kept as " + kept;
}

}  // namespace tilewright::search
