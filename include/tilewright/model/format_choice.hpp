// In which format a sparse matrix is walked: the first decision of a search over schedules, or what the user states.
//
// A kernel that takes compressed rows is made again for each format that suits the pattern at hand; they
// are algorithms of one session, each with arguments of its own (search/argument_forms.hpp). What is
// converted is kept with the place of the user's matrix.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/dispatcher.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/search/options.hpp>
#include <tilewright/support/owned.hpp>

namespace tilewright {

/// Calls a kernel with the matrix of a call in the format that is worth its conversion over
/// `tuned_options::calls` calls. Any number of threads may call at once.
///
/// Formats beside compressed rows are
/// - `sell<C, W>`: 8 and 16 rows side by side, sorted within 256 and 4096 of them;
/// - `bsr<b>`: blocks of 4, 8 and 16 rows and columns of which the matrix consists;
/// - `bsr_and_rows<b>`: such that half of its elements are in, beside the others in compressed rows;
/// - `hyb<c, w>`: the first 4 and 16 elements of each row, in all columns or in each half of them, beside the
///   others in compressed rows of which those with elements are there.
/// No block has an element that is not stored: results are those of compressed rows. The numbers are drawn in the
/// trace. Left out before anything is made is what would leave more than three places of four unused, or take more
/// than four times the bytes of compressed rows, or more than `tuned_options::most_format_bytes`, and not measured
/// what is expected to take half as long again as the best. A format has to gain 3 % of a call beside its share of
/// the conversion.
///
/// What was found is stored for the numbers of the pattern (model/pattern_fingerprint.hpp) and for the
/// calls; a matrix with the same pattern, or nearly the same, begins with it and nothing is measured.
/// Where `effort` is `estimate`, the pattern alone decides, within milliseconds. Calls that come before
/// the choice is made run on compressed rows.
///
/// Where `tuned_options::format` is set, a matrix is stored by that rule at its first call, checked before, and kept in
/// the same way; nothing is chosen. No more bytes than `most_format_bytes` are taken.
class format_choice {
 public:
  /// @throws argument_error for a stated format where the kernel has not one parameter in compressed rows that is read
  /// in no other way than along its rows, and where reductions stay in order
  format_choice(const std::vector<any_kernel>& algorithms, const tuned_options& options);
  ~format_choice();
  format_choice(const format_choice&) = delete;
  format_choice& operator=(const format_choice&) = delete;

  /// True where there is a choice: the options state a format; or they say over how many calls a conversion may pay,
  /// and tune now; one parameter is compressed, and other sparse tensors are stored like it.
  static bool possible(const std::vector<any_kernel>& algorithms, const tuned_options& options);

  /// As dispatcher::call. The first call with a matrix chooses, or converts.
  /// @throws argument_error also for a stated format that is not proved, has no place for an element, or takes more
  /// bytes than it may
  void call(const dispatch::call_argument* arguments);
  /// Does what a first call does, except running the kernel.
  void warm(const dispatch::call_argument* arguments);
  /// The report of what runs, and a line for each format: its time, what it takes to convert, how much
  /// of it is padding, and after how many calls it has paid; or why it was left out.
  std::string report(const dispatch::call_argument* arguments);
  /// As those of a dispatcher.
  void cancel();
  void wait();

 private:
  struct state;
  support::owned<state> state_;
};

/// Null where there is no choice.
std::shared_ptr<format_choice> make_format_choice(const std::vector<any_kernel>& algorithms,
                                                  const tuned_options& options);
std::shared_ptr<format_choice> make_format_choice(const any_kernel& kernel,
                                                  const tuned_options& options);

}  // namespace tilewright
