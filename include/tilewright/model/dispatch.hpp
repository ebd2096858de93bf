// The dispatcher of a kernel: where what expressions say meets search.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/dispatcher.hpp>
#include <tilewright/expr/alternatives.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/search/options.hpp>
#include <tilewright/sparse/format_rule.hpp>

namespace tilewright {

/// The dispatcher of a kernel whose types are erased, or of several algorithms for it.
/// @param derive adds algorithms to a program of given extents; null: none
/// @throws argument_error for options that make no sense
std::shared_ptr<dispatch::dispatcher> make_dispatcher(const std::vector<any_kernel>& algorithms,
                                                      tuned_options options,
                                                      const dsl::algorithm_deriver& derive = {});
std::shared_ptr<dispatch::dispatcher> make_dispatcher(const any_kernel& kernel,
                                                      tuned_options options);

/// The dispatcher of a kernel that is called with the arrays of one parameter, of compressed rows, in the format that
/// `options.format` makes: offsets and indices of the sparse axes in their order, then the values, whose extents end
/// with rows and columns of the matrix.
/// @param like the format at the extents of some call; others have axes of the same names and kinds
std::shared_ptr<dispatch::dispatcher> make_dispatcher(const std::vector<any_kernel>& algorithms,
                                                      std::string parameter,
                                                      sparse::format_rule like,
                                                      tuned_options options);

}  // namespace tilewright
