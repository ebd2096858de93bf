#include "xgboost.hpp"

#include <stdexcept>
#include <string>

#ifdef BENCH_HAVE_XGBOOST
#include <xgboost/c_api.h>
#endif

namespace bench {

using tilewright::cost::dataset;

#ifdef BENCH_HAVE_XGBOOST

namespace {

void check(int result) {
  if (result != 0) throw std::runtime_error(std::string("XGBoost: ") + XGBGetLastError());
}

DMatrixHandle matrix(const dataset& d) {
  DMatrixHandle out = nullptr;
  check(XGDMatrixCreateFromMat(d.x.data(), d.rows(), d.columns, -1e30F, &out));
  return out;
}

std::vector<double> sums(BoosterHandle booster, DMatrixHandle m, const dataset& d) {
  bst_ulong count = 0;
  const float* rows = nullptr;
  check(XGBoosterPredict(booster, m, 1 /* margins */, 0, 0, &count, &rows));
  std::vector<double> out(d.y.size(), 0.0);
  for (std::size_t r = 0; r < d.rows(); ++r) out[d.sample[r]] += static_cast<double>(rows[r]);
  return out;
}

}  // namespace

bool have_xgboost() { return true; }

std::vector<double> xgboost_scores(const dataset& train, const dataset& test) {
  const DMatrixHandle known = matrix(train), asked = matrix(test);
  BoosterHandle booster = nullptr;
  check(XGBoosterCreate(&known, 1, &booster));
  const char* parameters[][2] = {{"max_depth", "10"}, {"gamma", "0.001"}, {"min_child_weight", "0"},
                                 {"eta", "0.2"},      {"seed", "43"},     {"nthread", "1"},
                                 {"base_score", "0"}, {"verbosity", "0"}};
  for (const auto& p : parameters) check(XGBoosterSetParam(booster, p[0], p[1]));
  std::vector<float> first(train.rows()), second(train.rows());
  for (int round = 0; round < 100; ++round) {
    const std::vector<double> scores = sums(booster, known, train);
    for (std::size_t r = 0; r < train.rows(); ++r) {
      const std::size_t s = train.sample[r];
      first[r] = (static_cast<float>(scores[s]) - train.y[s]) * train.y[s];
      second[r] = train.y[s];
    }
    check(XGBoosterBoostOneIter(booster, known, first.data(), second.data(), train.rows()));
  }
  std::vector<double> out = sums(booster, asked, test);
  XGBoosterFree(booster);
  XGDMatrixFree(known);
  XGDMatrixFree(asked);
  return out;
}

#else

bool have_xgboost() { return false; }
std::vector<double> xgboost_scores(const dataset&, const dataset&) { return {}; }

#endif

}  // namespace bench
