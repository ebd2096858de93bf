// Whether a file may hold code that this process runs.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace tilewright::support {

/// Empty when only this user or root can have written `path`, else the reason.
inline std::string untrusted(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(path, ignored);  // behind links
  for (const std::string& p : {std::filesystem::absolute(path).parent_path().string(),
                               real.parent_path().string(), path}) {
    if (p.empty()) continue;  // the file itself is found wanting
    struct stat s {};
    if (::stat(p.c_str(), &s) != 0) return p + " cannot be examined";
    if (s.st_uid != ::geteuid() && s.st_uid != 0)
      return p +
             " belongs to another user; copy the file into a folder of your own, or install it as "
             "root";
    if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return p + " can be written by others; run chmod go-w on it";
  }
  return {};
}

}  // namespace tilewright::support
