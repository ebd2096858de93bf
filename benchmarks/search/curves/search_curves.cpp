#include "search_curves.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include <tilewright/support/random.hpp>

namespace bench {

using namespace tilewright;

namespace {

constexpr const char* random_replay = "replay_traces";
constexpr const char* guided = "evolutionary";
constexpr const char* strategies[] = {random_replay, "evolutionary_random", guided};
constexpr std::size_t grid = 8, batch_size = 16;

std::vector<double> drawn_curve(const recorded_workload& w, std::size_t trials,
                                std::uint64_t seed) {
  std::vector<double> times;
  for (const timed_trace& t : w.all())
    if (t.drawn) times.push_back(t.seconds());
  support::random r(seed);
  for (std::size_t i = times.size(); i-- > 1;) std::swap(times[i], times[r.below(i + 1)]);
  if (times.size() > trials) times.resize(trials);
  for (std::size_t i = 1; i < times.size(); ++i) times[i] = std::min(times[i], times[i - 1]);
  return times;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string part_of(const std::string& file, int process) {
  return file + "." + std::to_string(process);
}

/// Calls `work` with each number below `processes`, in a process of its own.
template <class Work>
bool in_processes(int processes, const Work& work) {
  std::fflush(stdout);
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      work(p);
      std::fflush(stdout);
      _exit(0);
    }
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    good &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return good;
}

/// Every `of`-th workload from `first` on.
std::vector<recorded_workload*> share(std::vector<recorded_workload>& all, int first, int of) {
  std::vector<recorded_workload*> out;
  for (std::size_t i = static_cast<std::size_t>(first); i < all.size();
       i += static_cast<std::size_t>(of))
    out.push_back(&all[i]);
  return out;
}

/// The workloads that have programs for a long search: where a few hundred are all, every strategy
/// meets them all.
std::vector<recorded_workload> searchable(const std::string& file, std::size_t trials) {
  std::vector<recorded_workload> all = recorded_workloads(file, selection::curves), out;
  for (recorded_workload& w : all) {
    const std::size_t drawn = static_cast<std::size_t>(std::count_if(
        w.all().begin(), w.all().end(), [](const timed_trace& t) { return t.drawn; }));
    std::printf("%-10s %zu random programs%s\n", w.name().c_str(), drawn,
                drawn < trials * 3 / 4 ? ": left out, too few" : "");
    if (drawn >= trials * 3 / 4) out.push_back(std::move(w));
  }
  return out;
}

void search_share(const std::vector<recorded_workload*>& mine, const curve_options& o,
                  std::ofstream& times, std::ofstream& curves,
                  std::chrono::steady_clock::time_point start) {
  for (std::uint64_t seed = o.first_seed; seed < o.first_seed + o.seeds; ++seed)
    for (recorded_workload* w : mine)
      for (const char* name : strategies) {
        const int n = static_cast<int>(seed);
        if (seconds_since(start) > o.seconds) {
          std::printf("%-10s %-20s seed %d: skipped, the time is over\n", w->name().c_str(), name,
                      n);
          continue;
        }
        const std::vector<double> curve = best_times(*w, name, o.trials, seed, times);
        write_curve(curves, w->name(), name, seed, o.trials, curve);
        std::printf("%-10s %-20s seed %d: %.4g us after %zu trials (%.0f s)\n", w->name().c_str(),
                    name, n, curve.empty() ? 0.0 : curve.back() * 1e6, curve.size(),
                    seconds_since(start));
        std::fflush(stdout);
      }
}

void append_file(const std::string& from, const std::string& to) {
  std::ifstream in(from, std::ios::binary);
  std::ofstream out(to, std::ios::binary | std::ios::app);
  if (in.peek() != std::ifstream::traits_type::eof()) out << in.rdbuf();
  std::remove(from.c_str());
}

/// [workload][strategy][seed][trials] in seconds
using curve_table =
    std::map<std::string,
             std::map<std::string, std::map<std::uint64_t, std::map<std::size_t, double>>>>;

curve_table read_curves(const std::string& path) {
  curve_table out;
  std::ifstream in(path);
  std::string workload, strategy, seed, trials, seconds;
  while (std::getline(in, workload, ',') && std::getline(in, strategy, ',') &&
         std::getline(in, seed, ',') && std::getline(in, trials, ',') && std::getline(in, seconds))
    out[workload][strategy][std::stoull(seed)][std::stoull(trials)] = std::stod(seconds);
  return out;
}

double best_known(
    const std::map<std::string, std::map<std::uint64_t, std::map<std::size_t, double>>>&
        strategies_of) {
  double out = INFINITY;
  for (const auto& [name, seeds] : strategies_of)
    for (const auto& [seed, curve] : seeds)
      for (const auto& [n, t] : curve) out = std::min(out, t);
  return out;
}

void print_quality(const curve_table& all) {
  std::printf("\nbest known time / best time so far, mean over workloads and seeds (worst run)\n");
  for (const std::size_t n : {16u, 64u, 128u, 256u, 512u, 1024u}) {
    std::printf("%5zu trials", n);
    for (const char* name : strategies) {
      double sum = 0, worst = 1;
      int runs = 0;
      for (const auto& [workload, of] : all) {
        const double best = best_known(of);
        const auto found = of.find(name);
        if (found == of.end()) continue;
        for (const auto& [seed, curve] : found->second) {
          if (!curve.count(n)) continue;
          sum += best / curve.at(n);
          worst = std::min(worst, best / curve.at(n));
          ++runs;
        }
      }
      if (runs > 0)
        std::printf("   %s %.4f (%.3f)", name, sum / runs, worst);
      else
        std::printf("   %s -", name);
    }
    std::printf("\n");
  }
}

/// Trials until a curve is at most `goal`; 0 when it never is.
std::size_t reached(const std::map<std::size_t, double>& curve, double goal) {
  for (const auto& [n, t] : curve)
    if (t <= goal) return n;
  return 0;
}

/// @param slack share by which the goal may be missed, for the noise of the recorded times
void print_reached(const curve_table& all, double slack) {
  double sum = 0;
  int runs = 0, never = 0;
  std::string each;
  for (const auto& [workload, of] : all) {
    const auto random = of.find(random_replay), trees = of.find(guided);
    if (random == of.end() || trees == of.end()) continue;
    double own = 0;
    int count = 0;
    for (const auto& [seed, curve] : trees->second) {
      const auto goal = random->second.find(seed);
      if (goal == random->second.end() || curve.empty()) continue;
      std::size_t n = reached(curve, goal->second.rbegin()->second * (1 + slack));
      if (n == 0) {
        ++never;
        n = curve.rbegin()->first;
      }
      own += static_cast<double>(n);
      ++count;
    }
    if (count == 0) continue;
    sum += own;
    runs += count;
    char text[64];
    std::snprintf(text, sizeof text, "  %s %.0f", workload.c_str(), own / count);
    each += text;
  }
  if (runs == 0) return;
  std::printf(
      "\nevolution with trees reaches the final best of random replay to within %.1f %% after %.0f "
      "trials on average over %d runs; %d never did and count in full\n ",
      100 * slack, sum / runs, runs, never);
  std::printf("%s\n", each.c_str());
}

}  // namespace

void record_drawn(recorded_workload& w, std::size_t count, std::ofstream& to) {
  std::set<support::hash128> met;
  auto s = search::make_strategy(random_replay);
  s->start(w.task(), 77);
  while (met.size() < count) {
    const auto batch =
        s->propose(std::min<std::size_t>(32, count - met.size()), [] { return false; });
    if (batch.empty()) break;
    for (const search::candidate& c : batch) {
      w.seconds(c, true, to);
      met.insert(c.identity);
    }
  }
}

std::vector<double> best_times(recorded_workload& w, const std::string& strategy,
                               std::size_t trials, std::uint64_t seed, std::ofstream& to) {
  if (strategy == random_replay) return drawn_curve(w, trials, seed);
  const std::size_t mark = std::min(strategy.find(':'), strategy.size());
  auto s = search::make_strategy(strategy.substr(0, mark), seed,
                                 strategy.substr(std::min(mark + 1, strategy.size())));
  s->start(w.task(), seed);
  std::vector<double> out;
  double best = INFINITY;
  while (out.size() < trials) {
    const auto batch = s->propose(std::min(batch_size, trials - out.size()), [] { return false; });
    if (batch.empty()) break;
    std::vector<double> seconds;
    for (const search::candidate& c : batch) {
      seconds.push_back(w.seconds(c, false, to));
      best = std::min(best, seconds.back());
      out.push_back(best);
    }
    s->learn(batch, seconds);
  }
  return out;
}

void write_curve(std::ofstream& to, const std::string& workload, const std::string& strategy,
                 std::uint64_t seed, std::size_t trials, const std::vector<double>& curve) {
  for (std::size_t n = grid; n <= trials && !curve.empty(); n += grid)
    to << workload << ',' << strategy << ',' << seed << ',' << n << ','
       << curve[std::min(n, curve.size()) - 1] << '\n';
  to.flush();
}

int run_curves(const std::string& file, const std::string& out, const curve_options& o) {
  const auto start = std::chrono::steady_clock::now();
  bool good = in_processes(o.processes, [&](int p) {
    std::vector<recorded_workload> all = recorded_workloads(file, selection::curves);
    std::ofstream times(part_of(file, p));
    for (recorded_workload* w : share(all, p, o.processes)) record_drawn(*w, o.drawn, times);
  });
  for (int p = 0; p < o.processes; ++p) append_file(part_of(file, p), file);
  std::vector<recorded_workload> all = searchable(file, o.trials);
  std::printf("recorded after %.0f s\n", seconds_since(start));
  good &= in_processes(o.processes, [&](int p) {
    std::ofstream times(part_of(file, p)), curves(part_of(out, p));
    search_share(share(all, p, o.processes), o, times, curves, start);
  });
  for (int p = 0; p < o.processes; ++p) {
    append_file(part_of(file, p), file);
    append_file(part_of(out, p), out);
  }
  if (!good) std::fprintf(stderr, "a process ended early; what it measured is kept\n");
  std::printf("\n%.0f s\n", seconds_since(start));
  return summarize(out) + (good ? 0 : 1);
}

int summarize(const std::string& curves) {
  const curve_table all = read_curves(curves);
  if (all.empty()) {
    std::fprintf(stderr, "%s has no curves\n", curves.c_str());
    return 2;
  }
  print_quality(all);
  for (const double slack : {0.0, 0.003, 0.01}) print_reached(all, slack);
  return 0;
}

}  // namespace bench
