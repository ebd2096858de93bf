// A file as memory, read only.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include <tilewright/support/error.hpp>

namespace tilewright::support {

/// The bytes of a regular file, mapped for as long as this object lives. Pages are read when they
/// are first touched; a file that others shorten meanwhile must not be used.
class mapped_file {
 public:
  /// @throws argument_error naming the file when it cannot be opened, or is no regular file
  explicit mapped_file(const std::string& path) {
    const int file =
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not wait
    if (file < 0) throw argument_error(path + ": " + std::strerror(errno));
    struct stat about {};
    const bool regular = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    size_ = regular ? static_cast<std::size_t>(about.st_size) : 0;
    void* at = size_ > 0 ? ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
    const int problem = errno;
    ::close(file);
    if (!regular) throw argument_error(path + ": this is no regular file");
    if (at == MAP_FAILED) throw argument_error(path + ": " + std::strerror(problem));
    data_ = static_cast<const std::byte*>(at);
  }
  ~mapped_file() {
    if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  const std::byte* data() const noexcept { return data_; }  // null when the file is empty
  std::size_t size() const noexcept { return size_; }       // bytes
  /// Lets go of the memory of whole pages in a range; they are read again when they are touched.
  void forget(std::size_t first, std::size_t bytes) const noexcept {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t begin = (first + page - 1) / page * page, end = (first + bytes) / page * page;
    if (begin < end) ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
  }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tilewright::support
