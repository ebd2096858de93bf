#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <tilewright/search/measurement/measurement.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE const char* name(failure f) {
  switch (f) {
    case failure::none: return "none";
    case failure::schedule: return "schedule";
    case failure::build: return "build";
    case failure::fault: return "fault";
    case failure::timeout: return "timeout";
    case failure::cancelled: return "cancelled";
    case failure::wrong_result: return "wrong result";
    case failure::worker: return "worker";
    case failure::resources: return "resources";
    case failure::veto: return "veto";
  }
  return "";
}

TILEWRIGHT_INLINE const char* name(caches c) {
  switch (c) {
    case caches::warm: return "warm";
    case caches::cold: return "cold";
    case caches::rotating: return "rotating";
  }
  return "";
}

TILEWRIGHT_INLINE std::string key_suffix(caches c) {
  return c == caches::warm ? std::string() : std::string(" ") + name(c);
}

TILEWRIGHT_INLINE double measurement::best() const {
  return seconds.empty() ? INFINITY : *std::min_element(seconds.begin(), seconds.end());
}

TILEWRIGHT_INLINE double measurement::median() const {
  if (seconds.empty()) return INFINITY;
  std::vector<double> s = seconds;
  std::sort(s.begin(), s.end());
  return s[s.size() / 2];
}

TILEWRIGHT_INLINE double measurement::spread() const {
  if (seconds.size() < 3) return 1;
  std::vector<double> s = seconds;
  std::sort(s.begin(), s.end());
  const std::size_t n = s.size();
  return (s[std::min(n - 1, n * 3 / 4)] - s[n / 4]) / s[n / 2];
}

}  // namespace tilewright::search
