#include "search_data.hpp"

#include "../core_clock.hpp"
#include "search_tasks.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include <tilewright/backend/pool.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/target/cpu.hpp>

namespace bench {

using namespace tilewright;

namespace {

/// While it lives, no other process of this program measures: vector units and caches that
/// two programs share make both slow.
class turn {
 public:
  turn() : file_(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) {
    if (file_ >= 0) ::flock(file_, LOCK_EX);
  }
  ~turn() {
    if (file_ >= 0) ::close(file_);
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

 private:
  int file_;
};

}  // namespace

recorded_workload::recorded_workload(std::string name, ir::function f, bool held_out,
                                     const target::cpu& where)
    : name_(std::move(name)), held_out_(held_out), where_(&where) {
  const space::context place{where_, 1};
  task_.function = std::move(f);
  task_.generate = [function = task_.function, place](std::uint64_t seed) {
    return space::default_cpu().member(function, place, seed);
  };
  for (const schedule& s : space::default_cpu().sketches(task_.function, place, 1))
    task_.sketches.push_back(s.trace().without_decisions());
}

void recorded_workload::add(timed_trace t) {
  if (!times_.try_emplace(t.key, all_.size()).second) return;
  best_ = std::min(best_, t.seconds());
  all_.push_back(std::move(t));
}

timed_trace recorded_workload::measure(const search::candidate& c, bool drawn) {
  timed_trace out{c.identity, c.scheduled.trace().print(), {}, "", drawn};
  if (!runner_)
    runner_ = std::make_unique<search::runner>(
        task_.function, std::vector<search::argument_layout>{}, backend::serial_executor(), 1);
  const search::built b = search::build(c.scheduled.function(), *where_);
  if (!b.code) {
    out.failed = search::name(search::failure::build);
    return out;
  }
  const turn alone;
  search::measure_options options;
  options.best = best_;
  options.repeats = 3;
  options.budget = 0.002;
  // A faster clock makes a time shorter: times are those at a nominal clock, and count where it was
  // the same before and after, as far as a few more visits find it so.
  constexpr double nominal = 3;  // GHz
  for (int visit = 0; out.times.size() < timings; ++visit) {
    const double before = gigahertz();
    const search::measurement m = runner_->measure(*b.code, options);
    if (!m.ok()) {
      out.failed = search::name(m.failed);
      out.times.clear();
      return out;
    }
    const double after = gigahertz();
    const bool steady = std::abs(before - after) <= 0.01 * before;
    if (steady || visit >= 2 * static_cast<int>(timings))
      out.times.push_back(m.best() * (before + after) / (2 * nominal));
  }
  std::sort(out.times.begin(), out.times.end());
  return out;
}

double timed_trace::seconds() const {
  // what disturbs a time makes it longer, and luck makes it shorter: it counts when it came twice
  if (times.empty()) return std::numeric_limits<double>::infinity();
  return times[std::min<std::size_t>(1, times.size() - 1)];
}

double timed_trace::drawn_again(support::random& r) const {
  return times.empty() ? std::numeric_limits<double>::infinity() : times[r.below(times.size())];
}

void recorded_workload::write(const timed_trace& t, std::ostream& to) const {
  std::ostringstream line;
  std::string trace = t.trace;
  std::replace(trace.begin(), trace.end(), '\n', '|');
  line << name_ << '\t' << (t.drawn ? 1 : 0) << '\t';
  if (t.times.empty()) line << "failed " << t.failed;
  for (std::size_t i = 0; i < t.times.size(); ++i) line << (i > 0 ? "," : "") << t.times[i];
  line << '\t' << t.key.hex() << '\t' << trace << '\n';
  to << line.str() << std::flush;  // whole, since recording may be ended at any moment
}

void recorded_workload::write(std::ostream& to) const {
  for (const timed_trace& t : all_) write(t, to);
}

void recorded_workload::measure_again(std::size_t count) {
  std::vector<timed_trace*> fastest;
  for (timed_trace& t : all_) fastest.push_back(&t);
  std::sort(fastest.begin(), fastest.end(),
            [](const timed_trace* a, const timed_trace* b) { return a->seconds() < b->seconds(); });
  fastest.resize(std::min(fastest.size(), count));
  for (timed_trace* t : fastest) {
    if (t->times.empty()) continue;
    const auto c = search::replay(trace::parse(t->trace), task_.function, 1);
    if (!c) continue;
    // A burst of the clock makes a time too short: of two the longer one is right. Where they are
    // far apart, one was disturbed otherwise, and a third decides.
    std::array<timed_trace, 3> takes{*t, measure(*c, t->drawn), *t};
    if (takes[1].times.empty()) continue;
    const auto [shorter, longer] = std::minmax(takes[0].seconds(), takes[1].seconds());
    takes[2] = longer < 1.06 * shorter ? takes[takes[0].seconds() < takes[1].seconds() ? 1 : 0]
                                       : measure(*c, t->drawn);
    std::sort(takes.begin(), takes.end(),
              [](const timed_trace& a, const timed_trace& b) { return a.seconds() < b.seconds(); });
    *t = takes[1];
  }
}

const timed_trace* recorded_workload::find(const support::hash128& key) const {
  const auto at = times_.find(key);
  return at == times_.end() ? nullptr : &all_[at->second];
}

double recorded_workload::seconds(const search::candidate& c, bool drawn, std::ofstream& to) {
  if (const timed_trace* known = find(c.identity)) return known->seconds();
  timed_trace t = measure(c, drawn);
  write(t, to);
  const double out = t.seconds();
  add(std::move(t));
  return out;
}

namespace {

/// "1e-5,1.1e-5", or "failed build"; of older files one number, or "inf".
bool read_times(const std::string& text, timed_trace& to) {
  constexpr std::string_view mark = "failed ";
  if (text.compare(0, mark.size(), mark) == 0 || text == "inf") {
    to.failed = text == "inf" ? "unknown" : text.substr(mark.size());
    return true;
  }
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) {
    const auto seconds = support::read_number<double>(one);
    if (!seconds || !std::isfinite(*seconds) || !(*seconds > 0)) return false;
    to.times.push_back(*seconds);
  }
  std::sort(to.times.begin(), to.times.end());
  return !to.times.empty();
}

}  // namespace

std::vector<recorded_workload> recorded_workloads(const std::string& file, selection which,
                                                  const target::cpu& where) {
  std::vector<recorded_workload> out;
  for (const search_workload& w : search_workloads())
    if (which == selection::all || (which == selection::curves && w.curves) ||
        (which == selection::training && w.use == task_use::train) ||
        (which == selection::held_out && w.use == task_use::held_out))
      out.emplace_back(std::string(w.name), w.make(), w.use == task_use::held_out, where);
  std::map<std::string, recorded_workload*> by_name;
  for (recorded_workload& w : out) by_name[w.name()] = &w;
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (in.eof()) break;  // the last line has no end: recording was ended there
    std::istringstream parts(line);
    std::string name, drawn, seconds, key, text;
    if (!std::getline(parts, name, '\t') || !std::getline(parts, drawn, '\t') ||
        !std::getline(parts, seconds, '\t') || !std::getline(parts, key, '\t') ||
        !std::getline(parts, text))
      continue;
    const auto hash = support::hash128::from_hex(key);
    const auto at = by_name.find(name);
    if (!hash || at == by_name.end()) continue;
    std::replace(text.begin(), text.end(), '|', '\n');
    timed_trace t{*hash, text, {}, "", drawn == "1"};
    if (read_times(seconds, t)) at->second->add(std::move(t));
  }
  return out;
}

std::ofstream appended(const std::string& file) {
  bool whole = true;
  if (std::ifstream in(file, std::ios::binary | std::ios::ate); in && in.tellg() > 0) {
    in.seekg(-1, std::ios::end);
    whole = in.get() == '\n';
  }
  std::ofstream out(file, std::ios::app);
  if (!whole) out << '\n';
  return out;
}

}  // namespace bench
