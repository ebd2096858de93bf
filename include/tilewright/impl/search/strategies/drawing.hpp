// What strategies share: the task, the stream of draws, and the programs met before.
#pragma once

#include <set>
#include <utility>

#include <tilewright/impl/support/stage_clock.hpp>
#include <tilewright/search/strategy.hpp>

namespace tilewright::search::detail {

class drawing_strategy : public strategy {
 public:
  void start(const search_task& task, std::uint64_t seed) override {
    task_ = task;
    random_ = support::random(seed);
  }
  void learn(std::span<const candidate> measured, std::span<const double>) override {
    for (const candidate& c : measured) seen_.insert(c.identity);
  }
  std::size_t refused() const override { return refused_; }
  std::string last_refusal() const override { return last_refusal_; }

 protected:
  /// Proposes what `draw` gives, until there are enough or nothing new comes.
  template <class Draw>
  std::vector<candidate> collect(std::size_t count, const std::function<bool()>& over, Draw draw) {
    std::vector<candidate> out;
    for (std::size_t attempt = 0; out.size() < count && attempt < 12 * count; ++attempt) {
      if (over && over()) break;
      std::optional<candidate> c = draw(random_.split());
      if (!c)
        ++refused_;
      else if (seen_.insert(c->identity).second)
        out.push_back(std::move(*c));
    }
    return out;
  }

  std::optional<candidate> replayed(const trace& t, support::random& r) {
    const support::stage at("replay");
    return replay(t, task_.function, r.next(), &last_refusal_, task_.finish);
  }

  /// The next sketch in turn, its decisions drawn.
  std::optional<candidate> fresh(support::random r) {
    const trace& sketch = task_.sketches[next_sketch_++ % task_.sketches.size()];
    return replayed(task_.drawn(sketch, r), r);
  }

  search_task task_;
  support::random random_{0};
  std::set<support::hash128> seen_;
  std::size_t next_sketch_ = 0;
  std::size_t refused_ = 0;
  std::string last_refusal_;
};

}  // namespace tilewright::search::detail
