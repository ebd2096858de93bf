// In which format a sparse matrix is walked: found by measuring, as a schedule is.
//
// A kernel that takes compressed rows is made again for each format that suits the pattern at hand, tuned,
// and timed with the others in turn. What is converted is kept with the place of the user's matrix.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/dispatcher.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/search/options.hpp>

namespace tilewright {

/// Calls a kernel with the matrix of a call in the format that is worth its conversion over
/// `tuned_options::calls` calls. Any number of threads may call at once.
///
/// Formats that compete with compressed rows are 8 and 16 rows side by side (`sell`), with at most three
/// places of four unused, and the largest blocks of 4, 8 or 16 rows and columns that the matrix consists
/// of (`bsr`), or half of its elements do, beside the others in compressed rows (`parts`). No block has an
/// element that is not stored: results are those of compressed rows. Each is tuned for a quarter of the
/// budget. Calls that come before the choice is made run on compressed rows.
class format_choice {
 public:
  /// @param plain the kernel on compressed rows
  format_choice(const std::vector<any_kernel>& algorithms, const tuned_options& options,
                std::shared_ptr<dispatch::dispatcher> plain);
  ~format_choice();
  format_choice(const format_choice&) = delete;
  format_choice& operator=(const format_choice&) = delete;

  /// True where there is a choice: the options say over how many calls a conversion may pay, and tune
  /// now; one parameter is compressed, and nothing is stored on its pattern.
  static bool possible(const std::vector<any_kernel>& algorithms, const tuned_options& options);

  /// As dispatcher::call. The first call with a matrix chooses.
  void call(const dispatch::call_argument* arguments);
  /// The report of what runs, and a line for each format: its time, what it takes to convert, how much
  /// of it is padding, and after how many calls it has paid.
  std::string report(const dispatch::call_argument* arguments);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Null where there is no choice.
std::shared_ptr<format_choice> make_format_choice(const std::vector<any_kernel>& algorithms,
                                                  const tuned_options& options,
                                                  std::shared_ptr<dispatch::dispatcher> plain);

}  // namespace tilewright
