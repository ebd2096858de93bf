// Layers of networks whose weights, or whose graphs, are sparse, on one thread, beside their peers.
//
// pruned/ZEROS: a layer of 768 x 768 whose weights were pruned by size, 60 to 95 % of them, times 128 columns;
// beside oneMKL, Eigen, plain loops and the dense layer. blocks/ZEROS: the same pruned in blocks of 16 x 16.
// relations/KINDS and points: a relational graph convolution and a sparse convolution, from 32 features to 32,
// beside Eigen with a product of a sparse matrix for each kind of edge and a dense one with its weights. Outputs are compared with
// f64 before anything is timed, and engines take turns. Tuning takes BENCH_TUNE_SECONDS (default 5) per engine;
// `--database=FILE` keeps what is found; `--only=pruned,blocks,relations,points` chooses some.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/tilewright.hpp>

#include "peers/sparse/sparse_peer.hpp"
#include "problems/sparse_matrices.hpp"
#include "problems/sparse_statistics.hpp"
#include "turns.hpp"

namespace {

using tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::d;
constexpr auto layer = tw::kernel<"layer">(
    [](tw::in<"W", float, "M", tw::compressed<"K">> W, tw::in<"X", float, "K", "N"> X,
       tw::out<"Y", float, "M", "N"> Y) { return Y(i, j) = tw::sum<k>(W(i, k) * X(k, j)); });
constexpr auto dense_layer = tw::kernel<"dense_layer">(
    [](tw::in<"W", float, "M", "K"> W, tw::in<"X", float, "K", "N"> X,
       tw::out<"Y", float, "M", "N"> Y) { return Y(i, j) = tw::sum<k>(W(i, k) * X(k, j)); });
constexpr auto relational =
    tw::kernel<"relational">([](tw::in<"A", float, "M", tw::compressed<"N">> A,
                                tw::in<"kind", std::int32_t, "M", tw::stored_like<"N", "A">> kind,
                                tw::in<"X", float, "N", "K"> X, tw::in<"W", float, "R", "K", "D"> W,
                                tw::out<"Y", float, "M", "D"> Y) {
      return Y(i, d) = tw::sum<j, k>(A(i, j) * X(j, k) * W(kind(i, j), k, d));
    });

std::string database;  // file; empty: none

tw::tuned_options tuning(const std::string& apart = {}) {
  const char* text = std::getenv("BENCH_TUNE_SECONDS");
  tw::tuned_options options;
  options.seconds = text ? std::atof(text) : 5.0;
  options.threads = 1;
  options.database = database.empty() ? ":memory:" : database + apart;
  return options;
}

std::vector<float> some_values(std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t at = 0; at < count; ++at)
    out[at] = static_cast<float>(static_cast<int>(at * 2654435761u % 2001) - 1000) * 1e-3f;
  return out;
}

/// Adds `value` times a row of `x` to one of `to`.
void add_row(double value, const float* x, double* to, int columns) {
  for (int c = 0; c < columns; ++c) to[c] += value * static_cast<double>(x[c]);
}

/// False where an engine's `y` differs by more than rounding.
bool all_right(const std::string& name, const std::vector<bench::engine>& engines,
               std::vector<float>& y, const std::vector<double>& expected) {
  double largest = 1e-30;
  for (const double e : expected) largest = std::max(largest, std::abs(e));
  for (const bench::engine& e : engines) {
    std::fill(y.begin(), y.end(), 99.0f);
    e.run();
    double error = 0;
    for (std::size_t at = 0; at < y.size(); ++at)
      error = std::max(error, std::abs(static_cast<double>(y[at]) - expected[at]) / largest);
    if (error <= 1e-5) continue;
    std::printf("%s: %s computes something else: error %g\n", name.c_str(), e.name.c_str(), error);
    return false;
  }
  return true;
}

/// @param work of the stored elements // 1e9 operations
void tell(const std::string& name, std::vector<bench::engine>& engines, double work,
          bench::summary& total, const std::string& group) {
  bench::take_turns(engines, true);
  const double ours = engines.front().best();
  for (const bench::engine& e : engines) {
    std::printf("%s/%-12s %8.3f ms  %8.2f GFLOP/s of what is stored (median %.2f)  %.2f\n",
                name.c_str(), e.name.c_str(), 1e3 * e.best(), work / e.best(), work / e.median(),
                e.best() / ours);
    if (&e != &engines.front()) total.add(group + "/" + e.name, e.best() / ours);
  }
  std::fflush(stdout);
}

void compare_layer(const bench::sparse_matrix& a, const std::string& group, double zeros,
                   bench::summary& total) {
  constexpr int columns = 128;
  const std::string name = group + "/" + std::to_string(std::lround(100 * zeros));
  const auto rows = static_cast<std::size_t>(a.rows), inner = static_cast<std::size_t>(a.columns);
  std::vector<float> whole(rows * inner, 0.0f), x = some_values(inner * columns), y(rows * columns);
  std::vector<double> expected(rows * columns, 0.0);
  for (std::size_t row = 0; row < rows; ++row)
    for (auto at = static_cast<std::size_t>(a.offsets[row]);
         at < static_cast<std::size_t>(a.offsets[row + 1]); ++at) {
      const auto column = static_cast<std::size_t>(a.indices[at]);
      whole[row * inner + column] = a.values[at];
      add_row(static_cast<double>(a.values[at]), &x[column * columns], &expected[row * columns],
              columns);
    }
  const bench::spmm_problem p{&a, columns, x.data(), y.data(), 1};
  tw::tuned_options options = tuning(".chosen");
  options.calls = 1000;
  options.matrices_change = false;
  const tw::tuned chosen{layer, options};
  const tw::tuned in_rows{layer, tuning()};
  const tw::tuned dense{dense_layer, tuning()};
  const auto w = tw::csr(a.offsets, a.indices, a.values, a.columns);
  const auto right = tw::view(p.b, {a.columns, columns});
  const auto result = tw::view(p.c, {a.rows, columns});
  const auto as_dense = tw::view(std::as_const(whole).data(), {a.rows, a.columns});
  std::vector<bench::engine> engines{{"chosen", [&] { chosen(w, right, result); }},
                                     {"rows", [&] { in_rows(w, right, result); }},
                                     {"dense", [&] { dense(as_dense, right, result); }}};
  for (const bench::sparse_peer& peer : {bench::mkl_sparse_peer(), bench::eigen_sparse_peer(),
                                         bench::libxsmm_sparse_peer(), bench::plain_sparse_peer()})
    if (peer.missing.empty())
      engines.push_back({peer.name, peer.prepare(p)});
    else
      std::printf("missing: %s: %s\n", peer.name.c_str(), peer.missing.c_str());
  if (!all_right(name, engines, y, expected)) return;
  const std::string report = chosen.report(w, right, result);
  const std::size_t at = report.find("  format    chosen: ");
  std::printf("%s: %s\n", name.c_str(),
              report.substr(at + 12, report.find('\n', at) - at - 12).c_str());
  const double work = 2e-9 * static_cast<double>(a.nonzeros()) * columns;
  tell(name, engines, work, total, group);
  const double density = static_cast<double>(a.nonzeros()) / static_cast<double>(rows * inner);
  const double scaled = engines[2].best() * density / engines[0].best();
  std::printf("%s: %.2f of the dense layer's speed on what is stored\n", name.c_str(), scaled);
  total.add(group + ", of the dense speed", scaled);
}

/// @param a with kinds in the place of values
void compare_relations(const bench::sparse_matrix& a, std::int32_t kinds, bench::summary& total) {
  constexpr int in = 32, out = 32;
  const auto rows = static_cast<std::size_t>(a.rows), columns = static_cast<std::size_t>(a.columns);
  const std::vector<std::int32_t> kind(a.values.begin(), a.values.end());
  const std::vector<float> ones(a.indices.size(), 1.0f);
  const std::vector<float> x = some_values(columns * in),
                           w = some_values(static_cast<std::size_t>(kinds) * in * out);
  std::vector<float> y(rows * out);
  std::vector<double> expected(rows * out, 0.0);
  for (std::size_t row = 0; row < rows; ++row)
    for (auto at = static_cast<std::size_t>(a.offsets[row]);
         at < static_cast<std::size_t>(a.offsets[row + 1]); ++at)
      for (std::size_t q = 0; q < in; ++q)
        add_row(static_cast<double>(x[static_cast<std::size_t>(a.indices[at]) * in + q]),
                &w[(static_cast<std::size_t>(kind[at]) * in + q) * out], &expected[row * out], out);
  const tw::tuned op{relational, tuning()};
  const auto edges = tw::csr(a.offsets, a.indices, ones, a.columns);
  const auto features = tw::view(x.data(), {a.columns, in});
  const auto weights = tw::view(w.data(), {kinds, in, out});
  const auto result = tw::view(y.data(), {a.rows, out});
  const bench::relation_problem p{&a, kinds, in, out, x.data(), w.data(), y.data()};
  std::vector<bench::engine> engines{
      {"tilewright", [&] { op(edges, kind, features, weights, result); }},
      {"eigen", bench::relations_by_eigen(p, false)},
      {"eigen_xw", bench::relations_by_eigen(p, true)}};
  const std::string name = a.name + "/" + std::to_string(kinds);
  if (!all_right(name, engines, y, expected)) return;
  tell(name, engines, 2e-9 * static_cast<double>(a.nonzeros()) * in * out, total, name);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> only{"pruned", "blocks", "relations", "points"};
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (word.rfind("--only=", 0) == 0) only = bench::words(word.substr(7));
    if (word.rfind("--database=", 0) == 0) database = word.substr(11);
  }
  const auto wanted = [&](const char* what) {
    return std::find(only.begin(), only.end(), what) != only.end();
  };
  bench::summary total;
  for (const double zeros : {0.6, 0.7, 0.8, 0.9, 0.95}) {
    if (wanted("pruned"))
      compare_layer(bench::pruned_elements(768, 768, zeros), "pruned", zeros, total);
    if (wanted("blocks"))
      compare_layer(bench::pruned_blocks(768, 768, zeros), "blocks", zeros, total);
  }
  for (const std::int32_t kinds : {8, 48, 133})
    if (wanted("relations")) {
      const bench::sparse_matrix a = bench::relations(16384, kinds);
      std::printf("%s: %s\n", a.name.c_str(), bench::statistics(a).c_str());
      compare_relations(a, kinds, total);
    }
  if (wanted("points")) {
    const bench::sparse_matrix a = bench::surface_points();
    std::printf("%s: %s\n", a.name.c_str(), bench::statistics(a).c_str());
    compare_relations(a, 27, total);
  }
  total.print();
}
