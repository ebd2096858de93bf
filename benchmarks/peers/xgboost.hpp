// XGBoost as TVM uses it: squared error of the sum over the rows of a candidate, weighted by label.
#pragma once

#include <vector>

#include <tilewright/cost/gbt.hpp>

namespace bench {

/// False where the benchmarks were built without libxgboost-dev.
bool have_xgboost();
/// Trains on one set and scores the samples of another.
std::vector<double> xgboost_scores(const tilewright::cost::dataset& train,
                                   const tilewright::cost::dataset& test);

}  // namespace bench
