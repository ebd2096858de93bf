#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <numeric>
#include <tuple>

#include <tilewright/search/database/record.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search {
namespace detail {

template <class T>
inline std::vector<T> read_list(std::string_view text) {
  std::vector<T> out;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    T value{};
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || (next != end && *next != ' ')) return {};
    out.push_back(value);
    at = next == end ? end : next + 1;
  }
  return out;
}

template <class T>
inline std::string write_list(const std::vector<T>& values) {
  std::string out;
  char digits[40];
  for (const T& v : values) {
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, v);
    if (!out.empty()) out += ' ';
    out.append(digits, end);
  }
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::strong_ordering operator<=>(const record_key& a, const record_key& b) {
  return std::tie(a.workload, a.isa, a.arguments, a.threads) <=>
         std::tie(b.workload, b.isa, b.arguments, b.threads);
}

TILEWRIGHT_INLINE std::string arguments_by_position(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t colon = word.rfind(':');
    out += word.substr(colon == std::string_view::npos ? 0 : colon + 1);
    if (end < text.size()) out += ' ';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

TILEWRIGHT_INLINE std::string on_device(std::string_view arguments, int index_bits) {
  std::string out;
  while (!arguments.empty()) {
    const std::size_t end = std::min(arguments.find(' '), arguments.size());
    out += std::string(arguments.substr(0, end)) + "@g16 ";
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
  }
  return out + "i" + std::to_string(index_bits);
}

TILEWRIGHT_INLINE record_key by_position(record_key key) {
  key.arguments = arguments_by_position(key.arguments);
  return key;
}

TILEWRIGHT_INLINE double record::best() const {
  return seconds.empty() ? INFINITY : *std::min_element(seconds.begin(), seconds.end());
}

TILEWRIGHT_INLINE double record::mean() const {
  if (seconds.empty()) return INFINITY;
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

TILEWRIGHT_INLINE std::string record::check() const { return checked.empty() ? "tested" : checked; }

TILEWRIGHT_INLINE std::string record::digest() const {
  support::hasher h;
  for (const std::string* s : {&key.workload, &key.isa, &key.arguments, &family, &trace, &from.cpu,
                               &from.llvm, &from.date})
    h.add(std::string_view(*s));
  h.add(static_cast<std::uint64_t>(key.threads));
  h.add(static_cast<std::uint64_t>(from.revision));
  h.add(std::string_view(write_numbers(extents)));
  h.add(std::string_view(write_numbers(seconds)));
  if (!checked.empty()) h.add(std::string_view(checked));  // digests of before have none
  return h.finish().hex();  // `chosen` is left out: it changes when a better record comes
}

TILEWRIGHT_INLINE std::string failed_candidate::digest() const {
  support::hasher h;
  for (const std::string* s : {&key.workload, &key.isa, &key.arguments, &trace, &kind, &detail,
                               &from.cpu, &from.llvm, &from.date})
    h.add(std::string_view(*s));
  h.add(static_cast<std::uint64_t>(key.threads));
  h.add(static_cast<std::uint64_t>(from.revision));
  return h.finish().hex();
}

TILEWRIGHT_INLINE double extent_distance(const std::vector<std::int64_t>& a,
                                         const std::vector<std::int64_t>& b) {
  if (a.size() != b.size()) return INFINITY;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (a[i] <= 0 || b[i] <= 0) return INFINITY;
    sum += std::abs(std::log2(static_cast<double>(a[i])) - std::log2(static_cast<double>(b[i])));
  }
  return sum;
}

TILEWRIGHT_INLINE std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  const support::fork_pass inside;  // the C library holds a lock of its own
  gmtime_r(&now, &parts);
  const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return std::to_string(1900 + parts.tm_year) + "-" + two(1 + parts.tm_mon) + "-" +
         two(parts.tm_mday) + "T" + two(parts.tm_hour) + ":" + two(parts.tm_min) + ":" +
         two(parts.tm_sec) + "Z";
}

TILEWRIGHT_INLINE std::string write_numbers(const std::vector<double>& values) {
  return detail::write_list(values);
}
TILEWRIGHT_INLINE std::string write_numbers(const std::vector<std::int64_t>& values) {
  return detail::write_list(values);
}
TILEWRIGHT_INLINE std::vector<double> read_reals(std::string_view text) {
  return detail::read_list<double>(text);
}
TILEWRIGHT_INLINE std::vector<std::int64_t> read_integers(std::string_view text) {
  return detail::read_list<std::int64_t>(text);
}

}  // namespace tilewright::search
