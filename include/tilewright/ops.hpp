// Ready-made operators, written with the front end alone.
//
// Each is a constexpr kernel with its options as template arguments, to be called through `tuned`
// or reified. T is the element type of the inputs, R that of the result, in which sums are
// computed. Extents that follow from others (the P and Q of a convolution) are taken from the
// output that is handed over and checked against the inputs.
#pragma once

#include <tilewright/ops/attention.hpp>
#include <tilewright/ops/convolution.hpp>
#include <tilewright/ops/matrix.hpp>
#include <tilewright/ops/normalization.hpp>
#include <tilewright/ops/pooling.hpp>
#include <tilewright/ops/shape.hpp>
#include <tilewright/ops/winograd.hpp>
