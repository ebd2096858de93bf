// How well scores rank: what matters in a search is the order, above all at the top.
#pragma once

#include <cstddef>
#include <span>

#include <tilewright/config.hpp>

namespace tilewright::cost {

/// Share of the pairs with different `truth` that `scores` put into the same order; ties of scores
/// count half. 0.5 when there is no such pair.
double pairwise_accuracy(std::span<const double> scores, std::span<const double> truth);

/// The same of the pairs whose truth differs by more than two standard errors: what was measured to differ.
/// Requires: there are as many errors as truths, each of its truth's own unit.
double pairwise_accuracy(std::span<const double> scores, std::span<const double> truth,
                         std::span<const double> errors);

/// Best truth among the k highest scores, relative to the best of all; truth is positive, larger is
/// better. Of equal scores the first ones are taken. 0 when there is nothing.
double top_score(std::span<const double> scores, std::span<const double> truth, std::size_t k);

}  // namespace tilewright::cost
