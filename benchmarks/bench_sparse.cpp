// Products of a sparse matrix with a vector and a dense matrix beside Eigen, oneMKL, SciPy, PyTorch and
// plain loops, on one thread, or on several as `--threads=2` says, beside the peers that take them.
//
// Benchmarks are named spmm/MATRIX/COLUMNS/ENGINE, with one column spmv/MATRIX/ENGINE. The outputs of all engines are compared with f64
// before anything is timed; a round runs every engine of a problem several times, in turn, the last time counts, and the best
// of its rounds is an engine's time, so that what else runs on the machine meets all of them. Rates count
// the elements that are stored. Tuning takes BENCH_TUNE_SECONDS (default 5) per problem;
// `--matrices=NAME,..` and `--columns=1,32,128` choose some, "mixed" among them, which is no part of the
// figures otherwise; `--files=A.mtx,..` adds matrices from Matrix
// Market files; `--compressed` leaves the formats beside compressed rows out, `--formats=sell8,none` those but the choice that
// it does not name. `--matrices=pathological` and `densities` are groups that are no part of the figures either
// (problems/sparse_matrices.hpp); `--folder=DIR` takes every Matrix Market file of a folder. "chosen" is what a call takes that
// may convert the matrix for 1000 calls: one session over formats and schedules, of the same time as that of
// compressed rows. "unmeasured" is the format and the schedule that the pattern alone asks for. `--database=FILE`
// keeps what is found there, for a run that tunes nothing; the choice has a file of its own beside it. With
// `--one-database` the choice begins with what the session of compressed rows found, as in a program with one. Bytes per
// second count the arrays of compressed rows, the other operand and the result once, beside those of a loop that reads
// these and writes the result. What TACO reached elsewhere stands beside (peers/sparse/taco_figures.hpp).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <tilewright/interop/matrix_market.hpp>
#include <tilewright/tilewright.hpp>

#include "peers/sparse/sparse_peer.hpp"
#include "peers/sparse/taco_figures.hpp"
#include "problems/sparse_matrices.hpp"
#include "problems/sparse_statistics.hpp"
#include "turns.hpp"

namespace {

using tw::axes::i, tw::axes::j, tw::axes::k;
constexpr auto spmm = tw::kernel<"spmm">(
    [](tw::in<"A", float, "M", tw::compressed<"K">> A, tw::in<"B", float, "K", "N"> B,
       tw::out<"C", float, "M", "N"> C) { return C(i, j) = tw::sum<k>(A(i, k) * B(k, j)); });

constexpr auto spmv = tw::kernel<"spmv">(
    [](tw::in<"A", float, "M", tw::compressed<"K">> A, tw::in<"B", float, "K"> B,
       tw::out<"C", float, "M"> C) { return C(i) = tw::sum<k>(A(i, k) * B(k)); });

template <class Kernel>
using tuned_of = tw::tuned<std::remove_const_t<Kernel>>;

int threads = 1;            // of ours and of those peers that take several
std::string database;       // file; empty: none
bool one_database = false;  // in memory, for all sessions of a problem
std::shared_ptr<tw::search::database> of_problem;
std::vector<std::string> alone;  // formats that are measured alone; empty: all

/// @param apart what keeps its own file; empty: not
tw::tuned_options tuning(double budget, const std::string& apart = {}) {
  tw::tuned_options options;
  options.seconds = budget;
  options.threads = threads;
  options.database = database.empty() ? ":memory:" : database + apart;
  options.own_database = of_problem;
  if (budget <= 0) options.mode = tw::mode::off;
  return options;
}

/// Our call of a problem, tuned at the first.
/// @param calls over which a conversion may pay; 0: none
std::function<void()> prepare_tilewright(const bench::spmm_problem& p, double budget,
                                         double calls = 0,
                                         tw::effort effort = tw::effort::measure) {
  tw::tuned_options options = tuning(budget, calls > 0 ? ".chosen" : "");
  if (effort == tw::effort::estimate) {
    options.database = ":memory:";
    options.own_database = nullptr;
  }
  options.calls = calls;
  options.effort = effort;
  options.matrices_change = false;
  const bench::sparse_matrix& a = *p.a;
  const auto left = tw::csr(a.offsets, a.indices, a.values, a.columns);
  const auto tell = [&](const std::string& report) {  // of the formats
    for (std::size_t at = 0; calls > 0 && at < report.size();) {
      const std::size_t end = std::min(report.find('\n', at), report.size());
      if (report.compare(at, 10, "  format  ") == 0)
        std::printf("%s\n", report.substr(at, end - at).c_str());
      at = end + 1;
    }
  };
  if (p.columns == 1) {
    const auto op = std::make_shared<tuned_of<decltype(spmv)>>(spmv, options);
    tell(op->report(left, tw::view(p.b, {a.columns}), tw::view(p.c, {a.rows})));
    return [=] { (*op)(left, tw::view(p.b, {a.columns}), tw::view(p.c, {a.rows})); };
  }
  const auto op = std::make_shared<tuned_of<decltype(spmm)>>(spmm, options);
  tell(op->report(left, tw::view(p.b, {a.columns, p.columns}), tw::view(p.c, {a.rows, p.columns})));
  return [=] {
    (*op)(left, tw::view(p.b, {a.columns, p.columns}), tw::view(p.c, {a.rows, p.columns}));
  };
}

template <tw::dim Columns>
constexpr auto product_in = tw::kernel<"product">([](tw::in<"A", float, "M", Columns> A,
                                                     tw::in<"B", float, "K", "N"> B,
                                                     tw::out<"C", float, "M", "N"> C) {
  return C(i, j) = tw::sum<k>(A(i, k) * B(k, j));
});
template <tw::dim Columns>
constexpr auto vector_product_in = tw::kernel<"vector_product">(
    [](tw::in<"A", float, "M", Columns> A, tw::in<"B", float, "K"> B, tw::out<"C", float, "M"> C) {
      return C(i) = tw::sum<k>(A(i, k) * B(k));
    });

/// The product with a matrix in another format; it tells what it took to make that.
struct converted_product {
  std::string name;
  std::function<void()> run;
  double conversion = 0;  // s
};

template <tw::dim Columns, class Matrix>
void add_format(const std::string& name, const bench::spmm_problem& p, double budget,
                std::vector<converted_product>& to) {
  const bench::sparse_matrix& a = *p.a;
  if (!alone.empty() && std::find(alone.begin(), alone.end(), name) == alone.end()) return;
  try {
    const auto left = tw::csr(a.offsets, a.indices, a.values, a.columns);
    std::shared_ptr<Matrix> m;
    if constexpr (std::is_constructible_v<Matrix, decltype(left), tw::parted_options>)
      m = std::make_shared<Matrix>(left, tw::parted_options{.least_share = 0.5});
    else
      m = std::make_shared<Matrix>(left);
    std::printf("%s: %s in %.2f ms, %.0f %% padding\n", a.name.c_str(), name.c_str(),
                1e3 * m->conversion_seconds(), 100 * m->padding());
    to.push_back({name, {}, m->conversion_seconds()});
    if (p.columns == 1) {
      const auto op = std::make_shared<tuned_of<decltype(vector_product_in<Columns>)>>(
          vector_product_in<Columns>, tuning(budget));
      to.back().run = [=] { (*op)(*m, tw::view(p.b, {a.columns}), tw::view(p.c, {a.rows})); };
    } else {
      const auto op = std::make_shared<tuned_of<decltype(product_in<Columns>)>>(product_in<Columns>,
                                                                                tuning(budget));
      to.back().run = [=] {
        (*op)(*m, tw::view(p.b, {a.columns, p.columns}), tw::view(p.c, {a.rows, p.columns}));
      };
    }
  } catch (const tw::argument_error& e) {
    std::printf("%s: no %s: %s\n", a.name.c_str(), name.c_str(), e.what());
  }
}

/// What suits the matrix beside compressed rows.
std::vector<converted_product> prepare_formats(const bench::spmm_problem& p, double budget) {
  std::vector<converted_product> out;
  add_format<tw::sell<"K", 8>, tw::sell_matrix<float, 8>>("sell8", p, budget, out);
  add_format<tw::ell<"K", 27>, tw::ell_matrix<float, 27>>("ell27", p, budget, out);
  add_format<tw::bsr<"K", 4>, tw::bsr_matrix<float, 4>>("bsr4", p, budget, out);
  add_format<tw::bsr<"K", 16>, tw::bsr_matrix<float, 16>>("bsr16", p, budget, out);
  add_format<tw::dcsr<"K">, tw::dcsr_matrix<float>>("dcsr", p, budget, out);
  add_format<tw::csc<"K">, tw::csc_matrix<float>>("csc", p, budget, out);
  add_format<tw::dia<"K">, tw::dia_matrix<float>>("dia", p, budget, out);
  constexpr tw::dim parts = tw::parts<tw::bsr<"K", 16>, tw::dcsr<"K">>;
  add_format<parts, tw::parted_matrix<float, parts>>("parts", p, budget, out);
  return out;
}

/// Largest difference of a product from f64, as a share of the sum of its terms' magnitudes.
double error_of(const bench::spmm_problem& p) {
  const bench::sparse_matrix& a = *p.a;
  const auto columns = static_cast<std::size_t>(p.columns);
  std::vector<double> sum(columns), magnitude(columns);
  double worst = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
    std::fill(sum.begin(), sum.end(), 0);
    std::fill(magnitude.begin(), magnitude.end(), 1e-30);
    for (auto at = static_cast<std::size_t>(a.offsets[row]);
         at < static_cast<std::size_t>(a.offsets[row + 1]); ++at)
      for (std::size_t c = 0; c < columns; ++c) {
        const double term =
            static_cast<double>(a.values[at]) *
            static_cast<double>(p.b[static_cast<std::size_t>(a.indices[at]) * columns + c]);
        sum[c] += term;
        magnitude[c] += std::abs(term);
      }
    for (std::size_t c = 0; c < columns; ++c)
      worst = std::max(
          worst, std::abs(static_cast<double>(p.c[row * columns + c]) - sum[c]) / magnitude[c]);
  }
  return worst;
}

void compare(const bench::sparse_matrix& a, int columns,
             const std::vector<bench::sparse_peer>& peers, double budget, bool with_formats,
             bench::summary& total) {
  const auto n = static_cast<std::size_t>(columns);
  std::vector<float> b(static_cast<std::size_t>(a.columns) * n),
      c(static_cast<std::size_t>(a.rows) * n);
  for (std::size_t at = 0; at < b.size(); ++at)
    b[at] = static_cast<float>(static_cast<int>(at * 2654435761u % 2001) - 1000) * 1e-3f;
  const bench::spmm_problem p{&a, columns, b.data(), c.data(), threads};
  if (one_database) of_problem = std::make_shared<tw::search::database>(":memory:");
  const std::string name =
      columns == 1 ? "spmv/" + a.name : "spmm/" + a.name + "/" + std::to_string(columns);
  std::vector<bench::engine> engines{{"tilewright", prepare_tilewright(p, budget)}};
  const std::vector<converted_product> formats =
      with_formats ? prepare_formats(p, budget) : std::vector<converted_product>{};
  for (const converted_product& f : formats) engines.push_back({f.name, f.run});
  if (with_formats) {
    engines.push_back({"chosen", prepare_tilewright(p, budget, 1000)});
    engines.push_back({"unmeasured", prepare_tilewright(p, budget, 1000, tw::effort::estimate)});
  }
  for (const bench::sparse_peer& peer : peers)
    if (!peer.missing.empty() || (threads > 1 && !peer.threaded) ||
        (peer.takes && !peer.takes(p))) {
      continue;
    } else if (peer.prepare_timed) {
      const std::function<double()> timed = peer.prepare_timed(p);
      engines.push_back({peer.name, [timed] { timed(); }, {}, timed});
    } else {
      engines.push_back({peer.name, peer.prepare(p)});
    }
  for (const bench::engine& e : engines) {
    std::fill(c.begin(), c.end(), 99.0f);
    e.run();
    const double error = error_of(p);
    if (!(error <= 1e-5)) {
      std::printf("%s: %s computes something else: error %g\n", name.c_str(), e.name.c_str(),
                  error);
      return;
    }
  }
  if (a.nonzeros() == 0) {
    std::printf("%s: no element, and zeros from all engines\n", name.c_str());
    return;
  }
  engines.push_back({"reads", bench::read_once(p)});
  bench::take_turns(engines, true);
  const double work = 2e-9 * static_cast<double>(a.nonzeros()) * columns;
  const double rows = engines.front().best();  // of compressed rows
  const double chosen = with_formats ? engines[formats.size() + 1].best() : rows;
  if (with_formats) {
    double found = rows;
    for (std::size_t e = 1; e <= formats.size() + 1; ++e)
      found = std::min(found, engines[e].best());
    total.add("unmeasured/" + std::to_string(columns) + ", of the best found",
              engines[formats.size() + 2].best() / found);
  }
  const double bytes = 8 * static_cast<double>(a.nonzeros()) + 4.0 * a.rows +
                       4.0 * columns * (static_cast<double>(a.columns) + a.rows);
  const double read = engines.back().best();
  engines.pop_back();
  std::printf("%s: %.1f GB/s, chosen %.1f GB/s, read alone %.1f GB/s\n", name.c_str(),
              1e-9 * bytes / rows, 1e-9 * bytes / chosen, 1e-9 * bytes / read);
  const std::string of_columns = "/" + std::to_string(columns);
  total.add("reading alone" + of_columns, read / rows);
  if (with_formats) total.add("reading alone, of the choice" + of_columns, read / chosen);
  for (std::size_t e = 0; e < engines.size(); ++e) {
    const double best = engines[e].best();
    const std::string what = engines[e].name + "/" + std::to_string(columns);
    std::printf("%s/%-12s %8.2f GFLOP/s  (median %.2f)  %.2f\n", name.c_str(),
                engines[e].name.c_str(), work / best, work / engines[e].median(), best / rows);
    if (e > 0) total.add(what, best / rows);
    if (with_formats && e != formats.size() + 1) total.add(what + ", of the choice", best / chosen);
    if (e > 0 && e <= formats.size() && best < rows)
      std::printf("%s: %s pays after %.0f calls\n", name.c_str(), engines[e].name.c_str(),
                  std::ceil(formats[e - 1].conversion / (rows - best)));
  }
  for (const bench::taco_figures& t : bench::taco_elsewhere)
    if (t.matrix == a.name && (columns == 32 || columns == 128)) {
      const std::size_t wide = columns == 128;
      std::printf(
          "%s/taco, elsewhere: %.1f GFLOP/s, by its recipe %.1f; there Eigen %.1f, plain %.1f\n",
          name.c_str(), t.taco[wide], t.recipe[wide], t.eigen[wide], t.plain[wide]);
    }
  std::fflush(stdout);
}

bench::sparse_matrix matrix_in(const std::string& path) {
  const auto m = tw::read_matrix_market<float>(path);
  return {path.substr(path.rfind('/') + 1),
          static_cast<std::int32_t>(m.rows()),
          static_cast<std::int32_t>(m.columns()),
          m.offsets(),
          m.indices(),
          m.values()};
}

/// The Matrix Market files of a folder, by name.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".mtx") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const char* text = std::getenv("BENCH_TUNE_SECONDS");
  const double budget = text ? std::atof(text) : 5.0;
  std::vector<std::string> chosen, files, columns{"1", "32", "128"};
  bool with_formats = true;
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (word.rfind("--matrices=", 0) == 0) chosen = bench::words(word.substr(11));
    if (word.rfind("--files=", 0) == 0) files = bench::words(word.substr(8));
    if (word.rfind("--folder=", 0) == 0)
      for (const std::string& path : files_in(word.substr(9))) files.push_back(path);
    if (word.rfind("--columns=", 0) == 0) columns = bench::words(word.substr(10));
    if (word == "--compressed") with_formats = false;
    if (word == "--one-database") one_database = true;
    if (word.rfind("--formats=", 0) == 0) alone = bench::words(word.substr(10));
    if (word.rfind("--database=", 0) == 0) database = word.substr(11);
    if (word.rfind("--threads=", 0) == 0) threads = std::atoi(word.c_str() + 10);
  }
  const std::vector<bench::sparse_peer> peers{
      bench::plain_sparse_peer(),         bench::eigen_sparse_peer(),
      bench::mkl_sparse_peer(threads),    bench::python_sparse_peer("scipy"),
      bench::python_sparse_peer("torch"), bench::libxsmm_sparse_peer()};
  for (const bench::sparse_peer& p : peers)
    if (!p.missing.empty()) std::printf("missing: %s: %s\n", p.name.c_str(), p.missing.c_str());
  std::printf("missing: taco: no package has it; what it reached elsewhere stands beside\n");
  bench::summary total;
  std::vector<bench::sparse_matrix> matrices = bench::sparse_matrices();
  const auto take_group = [&](const char* name, std::vector<bench::sparse_matrix> group) {
    for (bench::sparse_matrix& a : group) {
      if (std::find(chosen.begin(), chosen.end(), name) != chosen.end()) chosen.push_back(a.name);
      if (std::find(chosen.begin(), chosen.end(), a.name) != chosen.end())
        matrices.push_back(std::move(a));
    }
  };
  take_group("mixed", {bench::mixed()});
  take_group("pathological", bench::pathological());
  take_group("densities", bench::densities());
  for (const std::string& path : files) {
    matrices.push_back(matrix_in(path));
    if (!chosen.empty()) chosen.push_back(matrices.back().name);
  }
  for (const bench::sparse_matrix& a : matrices) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), a.name) == chosen.end())
      continue;
    std::printf("%s: %s\n", a.name.c_str(), bench::statistics(a).c_str());
    for (const std::string& n : columns)
      compare(a, std::atoi(n.c_str()), peers, budget, with_formats, total);
  }
  total.print();
}
