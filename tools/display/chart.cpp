#include "chart.hpp"

#include <algorithm>
#include <cmath>

#include <tilewright/support/numbers/number_text.hpp>

namespace tool {
namespace {

constexpr double height = 330, left = 84, right = 24, top = 14, bottom = 56;

/// Short enough for a tick: 20000 is 20k.
std::string number(double v) {
  if (std::abs(v) >= 1e6) return tilewright::support::general_text(v / 1e6, 4) + "M";
  if (std::abs(v) >= 1e4) return tilewright::support::general_text(v / 1e3, 4) + "k";
  return tilewright::support::general_text(v, 4);
}

std::string place(double v) { return tilewright::support::fixed_text(v, 1); }

/// One axis: from data units to the page.
class scale {
 public:
  scale(bool log, double from, double to) : log_(log), from_(from), to_(to) {}

  bool shows(double v) const { return std::isfinite(v) && (!log_ || v > 0); }
  void include(double v) {
    low_ = std::min(low_, measure(v));
    high_ = std::max(high_, measure(v));
  }
  bool empty() const { return low_ > high_; }
  void round() {
    if (high_ - low_ < 1e-12) low_ -= 0.5, high_ += 0.5;
    if (log_) {  // a decade at least, so that noise does not look like a mountain
      const double margin = std::max(0.04 * (high_ - low_), (1 - (high_ - low_)) / 2);
      low_ -= margin, high_ += margin;
    } else {
      const double s = step();
      low_ = std::floor(low_ / s) * s, high_ = std::ceil(high_ / s) * s;
    }
  }
  double at(double v) const { return from_ + (to_ - from_) * (measure(v) - low_) / (high_ - low_); }
  std::vector<double> ticks() const {
    std::vector<double> out;
    if (log_) {
      const double every = std::max(1.0, std::ceil((high_ - low_) / 6));
      for (double e = std::floor(low_); e <= high_; e += every)
        for (const double f : {1.0, 2.0, 5.0}) {
          const double at = e + std::log10(f);
          if (at >= low_ && at <= high_ && (f == 1 || high_ - low_ < 3))
            out.push_back(f * std::pow(10, e));
        }
      return out;
    }
    const double s = step();
    for (double v = std::ceil(low_ / s - 1e-9) * s; v <= high_ + 1e-9 * s; v += s)
      out.push_back(std::abs(v) < 1e-9 * s ? 0 : v);
    return out;
  }

 private:
  double measure(double v) const { return log_ ? std::log10(v) : v; }
  double step() const {
    const double rough = (high_ - low_) / 5, ten = std::pow(10, std::floor(std::log10(rough)));
    for (const double f : {1.0, 2.0, 5.0})
      if (f * ten >= rough) return f * ten;
    return 10 * ten;
  }
  bool log_;
  double from_, to_, low_ = INFINITY, high_ = -INFINITY;
};

std::string text(double x, double y, const char* anchor, const std::string& what,
                 const std::string& more = {}) {
  return "<text x=\"" + place(x) + "\" y=\"" + place(y) + "\" text-anchor=\"" + anchor + "\"" +
         more + ">" + escape_html(what) + "</text>\n";
}

std::string axes(const chart& c, const scale& x, const scale& y) {
  std::string out;
  for (const double v : x.ticks()) {
    out += "<path class=\"grid\" d=\"M" + place(x.at(v)) + " " + place(top) + "V" +
           place(height - bottom) + "\"/>\n";
    out += text(x.at(v), height - bottom + 20, "middle", number(v));
  }
  for (const double v : y.ticks()) {
    out += "<path class=\"grid\" d=\"M" + place(left) + " " + place(y.at(v)) + "H" +
           place(c.width - right) + "\"/>\n";
    out += text(left - 6, y.at(v) + 4, "end", number(v));
  }
  out += text((left + c.width - right) / 2, height - 8, "middle", c.x);
  const double middle = (top + height - bottom) / 2;
  return out +
         text(20, middle, "middle", c.y, " transform=\"rotate(-90 20 " + place(middle) + ")\"");
}

std::string drawn(const chart_series& s, const scale& x, const scale& y, double middle) {
  std::string out, path;
  for (std::size_t i = 0; i < s.points.size(); ++i) {
    const auto [a, b] = s.points[i];
    if (!x.shows(a) || !y.shows(b)) continue;
    if (i < s.names.size()) {
      const bool turn = x.at(a) > middle;  // names go towards the middle
      out += text(x.at(a) + (turn ? -7 : 7), y.at(b) - 7, turn ? "end" : "start", s.names[i]);
    }
    if (s.line)
      path += (path.empty() ? "M" : "L") + place(x.at(a)) + " " + place(y.at(b));
    else
      out += "<circle class=\"" + s.style + "\" cx=\"" + place(x.at(a)) + "\" cy=\"" +
             place(y.at(b)) + "\" r=\"3\"><title>" + number(a) + ", " + number(b) +
             "</title></circle>\n";
  }
  return path.empty() ? out : "<path class=\"line " + s.style + "\" d=\"" + path + "\"/>\n";
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string svg(const chart& c) {
  scale x(c.log_x, left, c.width - right), y(c.log_y, height - bottom, top);
  for (const chart_series& s : c.series)
    for (const auto& [a, b] : s.points)
      if (x.shows(a) && y.shows(b)) x.include(a), y.include(b);
  if (x.empty()) return {};
  x.round();
  y.round();
  std::string out = std::string(c.width > chart().width ? "<figure class=\"full\">" : "<figure>") +
                    "<figcaption>" + escape_html(c.title) + "</figcaption>\n<svg viewBox=\"0 0 " +
                    number(c.width) + " " + number(height) + "\" role=\"img\" aria-label=\"" +
                    escape_html(c.title) + "\">\n" + axes(c, x, y);
  for (const chart_series& s : c.series) out += drawn(s, x, y, (left + c.width - right) / 2);
  out += "</svg>\n<p class=\"legend\">";
  for (const chart_series& s : c.series)
    if (!s.points.empty())
      out += "<span><i class=\"" + s.style + "\"></i>" + escape_html(s.label) + "</span>";
  return out + "</p></figure>\n";
}

}  // namespace tool
