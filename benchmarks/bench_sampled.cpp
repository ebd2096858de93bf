// Sampled products (SDDMM) and attention over a sparse pattern beside loops with Eigen, and sampled products beside
// what was written by hand in intrinsics and PyTorch's (BENCH_PYTHON names a Python that has it), on one thread.
//
// Benchmarks are named sampled/MATRIX/DEPTH/ENGINE and attention/MATRIX/DEPTH/ENGINE; outputs are compared
// with f64 before anything is timed; a round runs every engine twice, in turn, and the second time counts. Tuning
// takes BENCH_TUNE_SECONDS (default 5) per problem; `--matrices=NAME,..` and `--depths=32,128` choose some, "longformer" and "butterfly" among them,
// which are no part of the figures otherwise; `--only=sampled` or `--only=attention` leaves the other out, and
// `--report` prints what was found. `--lists` adds "one loop", over all elements, whose rows are listed once for a
// pattern, and "rows in calls", the same schedule with the list made in each call.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/space/modules/fuse_elements.hpp>
#include <tilewright/tilewright.hpp>

#include "peers/sparse/sampled_peer.hpp"
#include "problems/sparse_statistics.hpp"
#include "turns.hpp"

namespace {

using tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::d;
constexpr auto sampled = tw::kernel<"sampled">(
    [](tw::in<"A", float, "M", tw::compressed<"N">> A, tw::in<"X", float, "M", "K"> X,
       tw::in<"Y", float, "N", "K"> Y, tw::out<"S", float, "M", tw::stored_like<"N", "A">> S) {
      return S(i, j) = A(i, j) * tw::sum<k>(X(i, k) * Y(j, k));
    });

constexpr auto attention =
    tw::kernel<"attention">([](tw::in<"A", float, "M", tw::compressed<"N">> A,
                               tw::in<"X", float, "M", "K"> X, tw::in<"Y", float, "N", "K"> Y,
                               tw::in<"V", float, "N", "D"> V, tw::out<"O", float, "M", "D"> O) {
      tw::temp<"s", float, "M", tw::stored_like<"N", "A">> s;
      tw::temp<"e", float, "M", tw::stored_like<"N", "A">> e;
      tw::temp<"peak", float, "M"> peak;
      tw::temp<"total", float, "M"> total;
      return tw::blocks(s(i, j) = A(i, j) * tw::sum<k>(X(i, k) * Y(j, k)),
                        peak(i) = tw::max<j>(tw::where_stored(s)(i, j)),
                        e(i, j) = tw::exp(s(i, j) - peak(i)), total(i) = tw::sum<j>(e(i, j)),
                        O(i, d) = tw::sum<j>(e(i, j) * V(j, d)) / tw::max(total(i), 1e-30f));
    });

bool reports = false, lists = false;

/// All elements in one loop.
void fuse(tw::schedule& s, const tw::space::context& where) {
  tw::space::chooser choices;
  (void)tw::space::fuse_elements(s, where, choices);
}

tw::tuned_options tuning() {
  const char* text = std::getenv("BENCH_TUNE_SECONDS");
  tw::tuned_options options;
  options.seconds = text ? std::atof(text) : 5.0;
  options.threads = 1;
  options.database = ":memory:";
  if (*options.seconds <= 0) options.mode = tw::mode::off;
  return options;
}

/// What each element of the result is, and the sum of the magnitudes of its terms.
/// A sampled product in one loop over all elements, which lists the row of each in every call.
class listing_in_calls {
 public:
  listing_in_calls(const bench::sampled_problem& p, std::vector<float>& result) {
    const bench::sparse_matrix& a = *p.a;
    const auto argument = [&](const void* data, std::vector<std::int64_t> extents,
                              std::size_t rank) {
      extents_.push_back(std::move(extents));
      strides_.emplace_back(rank, 1);
      if (rank == 2) strides_.back()[0] = extents_.back()[1];
      flat_.insert(flat_.end(), strides_.back().begin(), strides_.back().end());
      data_.push_back(const_cast<void*>(data));
    };
    const auto elements = static_cast<std::int64_t>(a.indices.size());
    argument(a.offsets.data(), {a.rows + 1}, 1);
    argument(a.indices.data(), {elements, a.columns}, 1);
    argument(a.values.data(), {elements}, 1);
    argument(p.x, {a.rows, p.depth}, 2);
    argument(p.y, {a.columns, p.depth}, 2);
    argument(result.data(), {elements}, 1);
    std::vector<tw::dispatch::call_argument> arguments;
    for (std::size_t n = 0; n < data_.size(); ++n)
      arguments.push_back({data_[n], extents_[n].data(), strides_[n].data()});
    const auto op = tw::make_dispatcher(tw::any_kernel(sampled), tuning());
    const tw::search::workload& task = op->task(arguments.data());
    tw::schedule s(task.function);
    fuse(s, {task.machine, 1});
    const tw::target::cpu& cpu = tw::target::host();
    code_ = tw::backend::load(tw::backend::compile(tw::pass::lower(s.function(), cpu), cpu));
    workspace_.resize(static_cast<std::size_t>(code_->workspace_bytes()) / sizeof(cache_line) + 1);
  }
  void operator()() {
    const tw::backend::call c{
        data_.data(), flat_.data(), workspace_.data()->bytes, &tw::backend::pool::shared().view(1),
        nullptr,      nullptr};
    (*code_)(c);
  }

 private:
  struct alignas(64) cache_line {
    std::byte bytes[64];
  };
  std::vector<std::vector<std::int64_t>> extents_, strides_;
  std::vector<std::int64_t> flat_;
  std::vector<void*> data_;
  std::shared_ptr<const tw::backend::loaded> code_;
  std::vector<cache_line> workspace_;
};

struct exact {
  std::vector<double> value, magnitude;
};

exact compute(const bench::sampled_problem& p) {
  const bench::sparse_matrix& a = *p.a;
  const auto depth = static_cast<std::size_t>(p.depth);
  exact out;
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
    exact scores;
    const auto begin = static_cast<std::size_t>(a.offsets[row]),
               end = static_cast<std::size_t>(a.offsets[row + 1]);
    for (std::size_t at = begin; at < end; ++at) {
      double sum = 0, size = 1e-30;
      for (std::size_t q = 0; q < depth; ++q) {
        const double term =
            static_cast<double>(p.x[row * depth + q]) *
            static_cast<double>(p.y[static_cast<std::size_t>(a.indices[at]) * depth + q]);
        sum += term;
        size += std::abs(term);
      }
      scores.value.push_back(sum * static_cast<double>(a.values[at]));
      scores.magnitude.push_back(size * std::abs(static_cast<double>(a.values[at])) + 1e-30);
    }
    if (!p.v) {
      out.value.insert(out.value.end(), scores.value.begin(), scores.value.end());
      out.magnitude.insert(out.magnitude.end(), scores.magnitude.begin(), scores.magnitude.end());
      continue;
    }
    double total = 0;
    for (const double s : scores.value) total += std::exp(s);
    for (std::size_t c = 0; c < depth; ++c) {
      double sum = 0;
      for (std::size_t at = begin; at < end; ++at)
        sum += std::exp(scores.value[at - begin]) *
               static_cast<double>(p.v[static_cast<std::size_t>(a.indices[at]) * depth + c]);
      out.value.push_back(begin == end ? 0 : sum / total);
      out.magnitude.push_back(1);
    }
  }
  return out;
}

void compare(const bench::sparse_matrix& a, int depth, bool attends, bench::summary& total) {
  const auto fill = [](std::vector<float>& to) {
    for (std::size_t at = 0; at < to.size(); ++at)
      to[at] = static_cast<float>(static_cast<int>(at * 2654435761u % 2001) - 1000) * 1e-3f;
  };
  const auto rows = static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(depth);
  const auto columns = static_cast<std::size_t>(a.columns) * static_cast<std::size_t>(depth);
  std::vector<float> x(rows), y(columns), v(columns), result(attends ? rows : a.indices.size());
  for (auto* one : {&x, &y, &v}) fill(*one);
  const bench::sampled_problem p{
      &a, depth, x.data(), y.data(), attends ? v.data() : nullptr, result.data()};
  const tw::tuned<std::remove_const_t<decltype(sampled)>> product(sampled, tuning());
  const tw::tuned<std::remove_const_t<decltype(attention)>> chain(attention, tuning());
  const auto pattern = tw::csr(a.offsets, a.indices, a.values, a.columns);
  const auto ours = [&] {
    const auto left = tw::view(p.x, {a.rows, depth}), right = tw::view(p.y, {a.columns, depth});
    if (attends)
      chain(pattern, left, right, tw::view(p.v, {a.columns, depth}),
            tw::view(p.result, {a.rows, depth}));
    else
      product(pattern, left, right, result);
  };
  std::vector<bench::engine> engines{
      {"tilewright", ours},
      {"eigen", [&] { attends ? bench::attention_by_eigen(p) : bench::sampled_by_eigen(p); }}};
  if (!attends && bench::sampled_by_hand(p))
    engines.push_back({"by hand", [&] { bench::sampled_by_hand(p); }});
  tw::tuned_options in_one_loop = tuning();
  in_one_loop.space = tw::space::design_space(fuse);
  in_one_loop.mode = tw::mode::off;
  const tw::tuned<std::remove_const_t<decltype(sampled)>> one_loop(sampled, in_one_loop);
  std::unique_ptr<listing_in_calls> in_calls;
  if (!attends && lists) {
    in_calls = std::make_unique<listing_in_calls>(p, result);
    engines.push_back({"one loop", [&] {
                         one_loop(pattern, tw::view(p.x, {a.rows, depth}),
                                  tw::view(p.y, {a.columns, depth}), result);
                       }});
    engines.push_back({"rows in calls", [&] { (*in_calls)(); }});
  }
  std::string missing;
  const std::function<double()> torch =
      attends ? std::function<double()>() : bench::sampled_by_torch(p, missing);
  if (torch) engines.push_back({"torch", [torch] { torch(); }, {}, torch});
  if (!missing.empty()) std::printf("missing: torch: %s\n", missing.c_str());
  const std::string name =
      (attends ? "attention/" : "sampled/") + a.name + "/" + std::to_string(depth);
  const exact expected = compute(p);
  for (const bench::engine& e : engines) {
    std::fill(result.begin(), result.end(), 99.0f);
    e.run();
    double error = 0;
    for (std::size_t n = 0; n < result.size(); ++n)
      error = std::max(error, std::abs(static_cast<double>(result[n]) - expected.value[n]) /
                                  expected.magnitude[n]);
    if (!(error <= 1e-4)) {
      std::printf("%s: %s computes something else: error %g\n", name.c_str(), e.name.c_str(),
                  error);
      return;
    }
  }
  bench::take_turns(engines, true);
  if (reports && !attends)
    std::printf("%s\n", product
                            .report(pattern, tw::view(p.x, {a.rows, depth}),
                                    tw::view(p.y, {a.columns, depth}), result)
                            .c_str());
  const double work = (attends ? 4e-9 : 2e-9) * static_cast<double>(a.nonzeros()) * depth;
  for (const bench::engine& e : engines)
    std::printf("%s/%-12s %8.2f GFLOP/s  (median %.2f)  %.2f\n", name.c_str(), e.name.c_str(),
                work / e.best(), work / e.median(), e.best() / engines.front().best());
  for (std::size_t other = 1; other < engines.size(); ++other)
    total.add((attends ? "attention/" : "sampled/") + std::to_string(depth) + " over " +
                  engines[other].name,
              engines[other].best() / engines[0].best());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> chosen, depths{"32", "128"}, only{"sampled", "attention"};
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (word.rfind("--matrices=", 0) == 0) chosen = bench::words(word.substr(11));
    if (word.rfind("--depths=", 0) == 0) depths = bench::words(word.substr(9));
    if (word == "--report") reports = true;
    if (word == "--lists") lists = true;
    if (word.rfind("--only=", 0) == 0) only = bench::words(word.substr(7));
  }
  bench::summary total;
  std::vector<bench::sparse_matrix> matrices = bench::sparse_matrices();
  for (const auto& masks : {bench::longformer(), bench::butterfly()})
    if (std::find(chosen.begin(), chosen.end(), masks.name) != chosen.end())
      matrices.push_back(masks);
  for (const bench::sparse_matrix& a : matrices) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), a.name) == chosen.end())
      continue;
    std::printf("%s: %s\n", a.name.c_str(), bench::statistics(a).c_str());
    for (const std::string& n : depths)
      for (const std::string& what : only)
        compare(a, std::atoi(n.c_str()), what == "attention", total);
  }
  total.print();
}
