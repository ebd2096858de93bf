// What tuning shows of itself on stderr.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/search/progress.hpp>
#include <tilewright/support/notice.hpp>

namespace tilewright::dispatch::detail {

/// TILEWRIGHT_LOG set to anything but 0 asks for progress lines.
inline bool progress_asked_by_environment() {
  const char* text = std::getenv("TILEWRIGHT_LOG");
  return text && *text && std::string_view(text) != "0";
}

/// Prints progress on a terminal, in place; or where it was asked for a line per second, and one at
/// the end.
class progress_printer {
 public:
  explicit progress_printer(bool verbose)
      : terminal_(::isatty(2) == 1), on_(terminal_ || verbose || progress_asked_by_environment()) {}
  ~progress_printer() {
    if (!on_) return;
    if (terminal_)
      support::write_stderr("\r\033[K");
    else if (!pending_.empty())
      support::write_stderr(pending_ + "\n");
  }
  progress_printer(const progress_printer&) = delete;
  progress_printer& operator=(const progress_printer&) = delete;

  void operator()(const std::string& name, const search::progress& p) {
    if (!on_) return;
    silent_ = false;
    pending_ = name + ": " + search::progress_line(p);
    if (p.elapsed - last_ < (terminal_ ? 0.1 : 1.0)) return;
    last_ = p.elapsed;
    support::write_stderr(terminal_ ? "\r\033[K" + pending_ : pending_ + "\n");
    pending_.clear();
  }

  /// Says why there was no progress, where there was none.
  void end(const std::string& name, const std::vector<std::string>& remarks) {
    if (!on_ || !silent_) return;
    for (const std::string& r : remarks) support::write_stderr(name + ": " + r + "\n");
  }

 private:
  bool terminal_, on_, silent_ = true;
  double last_ = 0;
  std::string pending_;  // not printed yet
};

}  // namespace tilewright::dispatch::detail
