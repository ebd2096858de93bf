// A program whose floats are integers modulo a prime.
//
// Sums and products of them are exact, so that it does not matter in which order a reduction adds
// up: two programs that differ in nothing else have equal results, and two that differ in more have
// equal results on random numbers by an accident of about one in 2^61. Functions such as exp give
// numbers of which nothing is known but that equal arguments give equal ones; comparisons, maxima
// and minima go by an arbitrary order.
#pragma once

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// `f` for the interpreter, with elements of type u64 where `f` has floats: any number below
/// 2^61 - 1. Integers, indices and conditions on them are as they are. What rounds does nothing:
/// casts between floats.
/// @throws argument_error for vectors, and for calls whose result is no float though an argument is
function modular(const function& f);

/// Whether equal sums and products make equal results: false where a reducer of its own calls
/// functions, such as the fold of a softmax, which relies on exp(a) exp(b) = exp(a + b).
bool has_modular_meaning(const function& f);

}  // namespace tilewright::ir
