// Engines of one problem, timed in turns on a machine that others use, too.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench {

struct engine {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds{};       // of each round, ascending once all are done
  std::function<double()> timed = {};  // instead of `run`, where it tells what a run took; s
  double best() const { return seconds.front(); }
  double median() const { return seconds[seconds.size() / 2]; }
};

/// Runs each engine once a round, in turn, so that what else runs on the machine meets all of them:
/// five rounds, and more until two seconds are spent. Each finds the threads of the one before asleep.
/// @param warm each time after calls that do not count, four where they are short, so that an engine finds what it alone
/// reads in the caches, as what it shares with others: lines get into a cache of victims once they are read again
void take_turns(std::vector<engine>& engines, bool warm = false);

/// Waits until no other thread of this program runs, at most 0.3 s: libraries' threads go on asking for work for
/// up to 200 ms after a call, and hold the cores that the next engine's threads need.
void wait_for_workers();

/// Geometric means of our speed over each peer's.
class summary {
 public:
  void add(const std::string& peer, double ratio);
  void print() const;

 private:
  struct entry {
    double logs = 0, least = 0;
    int count = 0;
  };
  std::map<std::string, entry> all_;
};

/// "a,b" -> {"a", "b"}
std::vector<std::string> words(const std::string& list);

}  // namespace bench
