#pragma once

#include <algorithm>
#include <vector>

#include <tilewright/search/shrink.hpp>
#include <tilewright/search/verify.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail {

class shrinker {
 public:
  shrinker(const std::function<ir::function(const extent_map&)>& make, extent_map extents)
      : make_(make), now_(std::move(extents)) {}

  /// Brings every extent that allows it to at most `size`; false when the attempts are used up.
  void reduce(std::int64_t size) {
    for (const std::string& name : largest_first()) {
      if (now_[name] <= size || alone(name, size)) continue;
      for (const std::string& other : largest_first())
        if (other != name && with(name, other, size)) break;
    }
  }

  std::optional<ir::function> function;  // of the extents reached, once something was reduced

 private:
  static constexpr int most_attempts = 800;

  std::vector<std::string> largest_first() const {
    std::vector<std::string> out;
    for (const auto& [name, extent] : now_) out.push_back(name);
    support::stable_sort(out, [&](const std::string& a, const std::string& b) {
      return now_.find(a)->second > now_.find(b)->second;
    });
    return out;
  }

  bool attempt(const extent_map& wanted) {
    if (++attempts_ > most_attempts) return false;
    try {
      function = make_(wanted);
      now_ = wanted;
      return true;
    } catch (const argument_error&) {
      return false;
    }
  }

  bool alone(const std::string& name, std::int64_t size) {
    extent_map wanted = now_;
    wanted[name] = size;
    return attempt(wanted);
  }

  /// The other extent is not larger than some multiple of this one, so the smallest that fits is near.
  bool with(const std::string& name, const std::string& other, std::int64_t size) {
    extent_map wanted = now_;
    wanted[name] = size;
    const std::int64_t most = std::min(now_[other], 4 * size + 16);
    for (wanted[other] = 1; wanted[other] <= most; ++wanted[other])
      if (attempt(wanted)) return true;
    return false;
  }

  const std::function<ir::function(const extent_map&)>& make_;
  extent_map now_;
  int attempts_ = 0;
};

}  // namespace detail

TILEWRIGHT_INLINE std::optional<ir::function> shrink(
    const std::function<ir::function(const extent_map&)>& make, extent_map extents, double work) {
  detail::shrinker s(make, std::move(extents));
  for (const std::int64_t size : {19, 11, 7, 5, 3, 2}) {
    s.reduce(size);
    if (s.function && work_of(*s.function) <= work) return s.function;
  }
  return std::nullopt;
}

}  // namespace tilewright::search
