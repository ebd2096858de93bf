#pragma once

#include <utility>

#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/search/strategies/given_traces.hpp>

namespace tilewright::search {
namespace detail {

class given_strategy final : public drawing_strategy {
 public:
  explicit given_strategy(std::vector<trace> traces) : traces_(std::move(traces)) {}

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    std::vector<candidate> out;
    while (out.size() < count && next_ < traces_.size() && !(over && over())) {
      std::optional<candidate> c = replay(traces_[next_++], task_.function, random_.split().next());
      if (!c)
        ++refused_;
      else if (seen_.insert(c->identity).second)
        out.push_back(std::move(*c));
    }
    return out;
  }

 private:
  std::vector<trace> traces_;
  std::size_t next_ = 0;
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> given_traces(std::vector<trace> traces) {
  return std::make_unique<detail::given_strategy>(std::move(traces));
}

}  // namespace tilewright::search
