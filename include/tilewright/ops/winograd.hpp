// Winograd's algorithm beside a convolution with windows of 3x3, for whoever allows its rounding.
//
// An image is cut into tiles of m x m results. Each tile reads (m + 2) x (m + 2) elements, which become
// as many sums of them; products of these with sums of the filter are added up over the channels, and
// what comes out becomes the m x m results. That is (m + 2)^2 multiplications for m^2 results, where
// the convolution has 9 m^2: 2.25, 4 and 5.06 times fewer for m = 2, 4 and 6.
//
// The price is rounding. Carried through, a result of C channels is off by at most (C + 4 m + 12) u
// times what the algorithm computes with all numbers and all factors made positive, u being half of
// the distance from 1 to the next value of the type: for elements of one size that is 7.2, 84 and 510
// times the bound of the convolution itself. Such sums are rare; see winograd_error for what comes out.
//
// Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016. Points as there for
// m = 2 and 6, and of smaller rounding for 4: Barabasz, Anderson, Soodhalter and Gregg, Error Analysis
// and Improving the Accuracy of Winograd Convolution for Deep Neural Networks, TOMS 2020.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/expr/alternatives.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::ops {

/// What results of the algorithm with tiles of m x m results may differ by from the exact convolution, over the
/// root mean square of all results: three times the largest difference of 200,704 results of 64 channels in
/// f32, of elements that are drawn evenly around zero, from double precision. That is 5e-6, 2.5e-5 and 1.5e-4
/// for m = 2, 4 and 6, measured 1.7e-6, 7.8e-6 and 4.9e-5, where the convolution itself has 5.2e-6; it
/// grows with the root of the channels beyond 64 (benchmarks/results/kernels.md). A bound for all elements is
/// in the head of this file.
/// Requires: 1. m is 2, 4 or 6; 2. the type is f32 or f64.
/// @throws argument_error
double winograd_error(int tile, std::int64_t channels, dtype type = dtype::f32);

/// `f` with Winograd's algorithm beside it (ir/alternatives.hpp), once for each extent of tiles whose
/// `winograd_error` is at most `error`; the whole is marked with the error, so that it has records of
/// its own, and candidates are compared within it. The first convolution of `f` is meant; what is
/// computed before and after it, such as borders, bias and activation, stays.
///
/// Requires:
/// 1. `f` has a sum of products of an image and a filter over windows of two dimensions, in f32 or f64,
///    which overwrites its result;
/// 2. windows are 3 x 3;
/// 3. they move in steps of 1;
/// 4. their elements lie side by side: no dilation;
/// 5. every result reads all channels: no groups;
/// 6. `error` is not below what tiles of 2 x 2 have.
/// @throws argument_error naming the function, what it has, and what to write instead
ir::function with_winograd(const ir::function& f, double error);
/// The same with tiles of the given extents alone, and marked with the largest of their errors.
/// Requires: 1. to 5. as above; 7. extents are 2, 4 or 6, each once, and one at least.
/// @throws argument_error as above
ir::function with_winograd_tiles(const ir::function& f, const std::vector<std::int64_t>& tiles);

/// A convolution with windows of 3x3 in steps of 1, and Winograd's algorithm as alternatives to it:
///
///     tuned op{ops::winograd(ops::conv2d<float>, 1e-4), {.seconds = 5}};
///
/// Search takes the fastest of those whose rounding is within `error`, of which the convolution itself
/// is one. Filters of a bound weight are transformed once.
/// @param error of a result, over the larger of the result and the root mean square of all results
/// @throws argument_error at the first call as `with_winograd`
template <class Kernel>
dsl::algorithms<Kernel> winograd(const Kernel& convolution, double error) {
  return {{any_kernel(convolution)},
          [error](const ir::function& f) { return with_winograd(f, error); }};
}

}  // namespace tilewright::ops
