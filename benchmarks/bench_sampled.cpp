// Sampled products (SDDMM) and attention over a sparse pattern beside loops with Eigen, and sampled products beside
// what was written by hand in intrinsics and PyTorch's (BENCH_PYTHON names a Python that has it), on one thread.
//
// Benchmarks are named sampled/MATRIX/DEPTH/ENGINE and attention/MATRIX/DEPTH/ENGINE; outputs are compared
// with f64 before anything is timed; a round runs every engine twice, in turn, and the second time counts. Tuning
// takes BENCH_TUNE_SECONDS (default 5) per problem; `--matrices=NAME,..` and `--depths=32,128` choose some, "longformer" and "butterfly" among them,
// which are no part of the figures otherwise; `--only=sampled` or `--only=attention` leaves the other out, and
// `--report` prints what was found. `--lists` adds "one loop", over all elements, whose rows are listed once for a
// pattern, and "rows in calls", the same schedule with the list made in each call. Where all blocks of 16 are full, "blocks"
// computes in these, and puts a sampled product back in the order of elements; "chosen" is computed in the format that the
// call chooses for 1000 calls.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <tilewright/pass/pipeline.hpp>
#include <tilewright/search/pass_builder.hpp>
#include <tilewright/space/modules/fuse_elements.hpp>
#include <tilewright/tilewright.hpp>

#include "peers/sparse/sampled_peer.hpp"
#include "problems/sparse_statistics.hpp"
#include "turns.hpp"

namespace {

using tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::d;
constexpr tw::dim on_pattern = tw::stored_like<"N", "A">;
template <tw::dim Stored>
constexpr auto sampled_in = tw::kernel<"sampled">([](tw::in<"A", float, "M", Stored> A,
                                                     tw::in<"X", float, "M", "K"> X,
                                                     tw::in<"Y", float, "N", "K"> Y,
                                                     tw::out<"S", float, "M", on_pattern> S) {
  return S(i, j) = A(i, j) * tw::sum<k>(X(i, k) * Y(j, k));
});

template <tw::dim Stored>
constexpr auto attention_in = tw::kernel<"attention">([](tw::in<"A", float, "M", Stored> A,
                                                         tw::in<"X", float, "M", "K"> X,
                                                         tw::in<"Y", float, "N", "K"> Y,
                                                         tw::in<"V", float, "N", "D"> V,
                                                         tw::out<"O", float, "M", "D"> O) {
  tw::temp<"s", float, "M", on_pattern> s;
  tw::temp<"e", float, "M", on_pattern> e;
  tw::temp<"peak", float, "M"> peak;
  tw::temp<"total", float, "M"> total;
  return tw::blocks(s(i, j) = A(i, j) * tw::sum<k>(X(i, k) * Y(j, k)),
                    peak(i) = tw::max<j>(tw::where_stored(s)(i, j)),
                    e(i, j) = tw::exp(s(i, j) - peak(i)), total(i) = tw::sum<j>(e(i, j)),
                    O(i, d) = tw::sum<j>(e(i, j) * V(j, d)) / tw::max(total(i), 1e-30f));
});
constexpr tw::dim rows_of_elements = tw::compressed<"N">, blocks_of_elements = tw::bsr<"N", 16>;
constexpr auto sampled = sampled_in<rows_of_elements>;
constexpr auto attention = attention_in<rows_of_elements>;

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
  tw::tuned_options many_calls = tuning();
  many_calls.calls = 1000;
  many_calls.matrices_change = false;
  const tw::tuned<std::remove_const_t<decltype(sampled)>> chosen_product(sampled, many_calls);
  const tw::tuned<std::remove_const_t<decltype(attention)>> chosen_chain(attention, many_calls);
  const auto with_chosen = [&](const auto& use) {
    const auto left = tw::view(p.x, {a.rows, depth}), right = tw::view(p.y, {a.columns, depth});
    if (attends)
      use(chosen_chain, pattern, left, right, tw::view(p.v, {a.columns, depth}),
          tw::view(p.result, {a.rows, depth}));
    else
      use(chosen_product, pattern, left, right, result);
  };
  engines.push_back(
      {"chosen", [&] { with_chosen([](const auto& one, auto&&... all) { one(all...); }); }});
  if (reports)
    with_chosen(
        [](const auto& one, auto&&... all) { std::printf("%s\n", one.report(all...).c_str()); });
  std::shared_ptr<tw::bsr_matrix<float, 16>> whole;  // of masks, whose blocks are full
  try {
    whole = std::make_shared<tw::bsr_matrix<float, 16>>(pattern);
  } catch (const tw::argument_error&) {
  }
  if (whole && whole->padding() == 0) {
    const auto left = tw::view(p.x, {a.rows, depth}), right = tw::view(p.y, {a.columns, depth});
    if (attends) {
      using chain_type = tw::tuned<std::remove_const_t<decltype(attention_in<blocks_of_elements>)>>;
      const auto op = std::make_shared<chain_type>(attention_in<blocks_of_elements>, tuning());
      engines.push_back({"blocks", [=] {
                           (*op)(*whole, left, right, tw::view(p.v, {p.a->columns, p.depth}),
                                 tw::view(p.result, {p.a->rows, p.depth}));
                         }});
    } else {
      using product_type = tw::tuned<std::remove_const_t<decltype(sampled_in<blocks_of_elements>)>>;
      const auto op = std::make_shared<product_type>(sampled_in<blocks_of_elements>, tuning());
      const auto values = std::make_shared<tw::values_like<float, blocks_of_elements>>(*whole);
      engines.push_back({"blocks", [=, &result] {
                           (*op)(*whole, left, right, *values);
                           values->store(result);
                         }});
    }
  }
  tw::tuned_options in_one_loop = tuning(), in_calls = tuning();
  for (tw::tuned_options* one : {&in_one_loop, &in_calls}) {
    one->space = tw::space::design_space(fuse);
    one->mode = tw::mode::now;
    one->trials = 1;
  }
  // the passes alone take no inspector apart
  in_calls.measuring.build = tw::search::pass_builder(tw::pass::pipeline::standard());
  const tw::tuned<std::remove_const_t<decltype(sampled)>> one_loop(sampled, in_one_loop);
  const tw::tuned<std::remove_const_t<decltype(sampled)>> listing(sampled, in_calls);
  const auto fused = [&](const auto& op) {
    op(pattern, tw::view(p.x, {a.rows, depth}), tw::view(p.y, {a.columns, depth}), result);
  };
  if (!attends && lists) {
    engines.push_back({"one loop", [&] { fused(one_loop); }});
    engines.push_back({"rows in calls", [&] { fused(listing); }});
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
