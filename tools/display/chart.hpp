// Charts of points and lines as inline SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tool {

/// Points that belong together; x and y in data units.
struct chart_series {
  std::string label;
  std::string style;  // a class of the page: "a", "b", ...
  bool line = false;  // connected instead of dots
  std::vector<std::pair<double, double>> points;
  std::vector<std::string> names{};  // of the points, written beside them; empty: none
};

struct chart {
  std::string title, x, y;  // of the axes, with units
  bool log_x = false, log_y = false;
  std::vector<chart_series> series;
  double width = 560;  // of the view box; what is wider takes the width of the page
};

/// `text` with what HTML would read as markup replaced.
std::string escape_html(const std::string& text);
/// Empty when no series has a point that the axes can show.
std::string svg(const chart& c);

}  // namespace tool
