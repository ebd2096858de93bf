// tilewright report: one self-contained page about what a tuning database holds.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>

#include <CLI/CLI.hpp>

#include <tilewright/cost/model.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/roofline.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/target/cpu.hpp>

#include "../command.hpp"
#include "../display/chart.hpp"
#include "../records/database.hpp"

namespace tool {
namespace {

using namespace tilewright;
using search::record;

/// All records of one key, oldest first, and what they are about.
struct chapter {
  std::vector<record> records;
  std::optional<ir::function> function;  // null: no script is stored, or it does not parse
  std::vector<search::failure_count> failures;
  double flops = 0, bytes = 0;  // of one call

  const record& best() const {
    const auto chosen =
        std::find_if(records.rbegin(), records.rend(), [](const record& r) { return r.chosen; });
    if (chosen != records.rend()) return *chosen;
    return *std::min_element(records.begin(), records.end(),
                             [](const record& a, const record& b) { return a.best() < b.best(); });
  }
  std::string name() const {
    return function ? function->name : records.front().key.workload.substr(0, 12);
  }
  /// The name with what tells it from other keys of one function.
  std::string title() const { return name() + " (" + shapes() + ")"; }
  std::string threads() const {
    const int n = records.front().key.threads;
    return std::to_string(n) + (n == 1 ? " thread" : " threads");
  }
  /// "A 128 x 96, B 96 x 64", or the bare extents.
  std::string shapes() const {
    if (!function) return search::write_numbers(records.front().extents);
    std::string out;
    for (const ir::param& p : function->params) {
      if (!p.buffer) continue;
      out += (out.empty() ? "" : ", ") + p.buffer->name;
      for (std::size_t d = 0; d < p.buffer->shape.size(); ++d)
        out += (d == 0 ? " " : " x ") + std::to_string(ir::as_int(p.buffer->shape[d]));
    }
    return out;
  }
  /// Kernels by name and size, and one kernel's keys side by side.
  auto place() const {
    const search::record_key& key = records.front().key;
    return std::tuple(name(), flops, shapes(), key.arguments, key.threads);
  }
};

std::vector<chapter> chapters_of(const search::database& db) {
  std::map<search::record_key, chapter> by_key;
  for (record& r : db.all()) by_key[r.key].records.push_back(std::move(r));
  std::vector<chapter> out;
  for (auto& [key, c] : by_key) {
    if (const auto script = db.workload(key.workload)) {
      try {
        c.function = ir::parse(*script);
        c.flops = search::operations_of(*c.function);
        for (const search::operand& o : search::operands(*c.function))
          c.bytes += static_cast<double>(o.elements() * tilewright::bytes(o.type));
      } catch (const std::exception& e) {
        complain("the script of " + key.workload + " is of no use: " + e.what());
        c.function.reset();
      }
    }
    c.failures = db.failures(key);
    out.push_back(std::move(c));
  }
  std::sort(out.begin(), out.end(),
            [](const chapter& a, const chapter& b) { return a.place() < b.place(); });
  return out;
}

std::string convergence(const chapter& c) {
  const double unit = c.best().best() < 1e-3 ? 1e6 : 1e3;
  chart out{"Convergence",
            "measured candidates",
            unit > 1e3 ? "time of a call in us" : "time of a call in ms",
            false,
            true,
            {}};
  chart_series each{"candidate", "b", false, {}}, best{"best so far", "a", true, {}};
  double least = INFINITY, n = 0;
  for (const record& r : c.records) {
    ++n;
    least = std::min(least, r.best());
    each.points.emplace_back(n, unit * r.best());
    best.points.emplace_back(n, unit * least);
  }
  out.series = {each, best};
  return svg(out);
}

/// Trees that learned one half of the records say what they think of the other half.
std::string prediction(const chapter& c) {
  if (!c.function || c.records.size() < 16) return {};
  std::vector<search::candidate> programs;
  std::vector<double> seconds;
  for (const record& r : c.records) {
    try {
      if (auto p = search::replay(trace::parse(r.trace), *c.function, 42)) {
        programs.push_back(std::move(*p));
        seconds.push_back(r.best());
      }
    } catch (const error&) {  // of another version of the library
    }
  }
  std::vector<cost::sample> known, asked;
  std::vector<double> truth;
  const support::hash128 workload = ir::workload_key(*c.function);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const cost::sample s{&programs[i].scheduled.function(), programs[i].identity, workload,
                         seconds[i]};
    if (i % 2 == 0) {
      known.push_back(s);
    } else {
      asked.push_back(s);
      truth.push_back(seconds[i]);
    }
  }
  if (asked.size() < 8) return {};
  cost::tree_model model;
  model.update(known);
  model.train();
  const std::vector<double> scores = model.predict(asked);
  chart out{"Predicted against measured",
            "measured: best time over time",
            "predicted score",
            false,
            false,
            {}};
  chart_series points{"candidate", "b", false, {}};
  const double best = *std::min_element(seconds.begin(), seconds.end());
  double agreeing = 0, pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    points.points.emplace_back(best / truth[i], scores[i]);
    for (std::size_t k = 0; k < i; ++k) {
      if (truth[i] == truth[k]) continue;
      ++pairs;
      agreeing += (truth[i] < truth[k]) == (scores[i] > scores[k]);
    }
  }
  out.series = {points};
  return svg(out) + "<p>Trees that learned one half of the records rank " +
         support::fixed_text(100 * agreeing / std::max(pairs, 1.0), 0) +
         " % of the pairs of the other half as measured.</p>\n";
}

/// Operations per byte from which arithmetic bounds a kernel and not memory.
double knee(const search::roofline& core, int threads) {
  double out = 1;
  while (out < 1e4 && search::bound_seconds(core, 1, 1 / out, threads) >
                          1.01 * search::bound_seconds(core, 1, 0, threads))
    out *= 1.1;
  return out;
}

std::string roofline_chart(const std::vector<chapter>& all) {
  chart out{"Roofline", "operations per byte of the arguments", "GFLOP/s", true, true, {}};
  chart_series points{"best schedule", "a", false, {}};
  double low = INFINITY, high = 0;
  std::set<int> threads;
  std::multiset<std::string> names;
  for (const chapter& c : all) names.insert(c.name());
  for (const chapter& c : all) {
    if (c.flops <= 0 || c.bytes <= 0 || c.best().from.cpu != target::host().model) continue;
    const double intensity = c.flops / c.bytes;
    low = std::min(low, intensity);
    high = std::max(high, intensity);
    threads.insert(c.best().key.threads);
    points.points.emplace_back(intensity, c.flops / c.best().best() * 1e-9);
    points.names.push_back(names.count(c.name()) > 1 ? c.name() + " " + c.shapes() : c.name());
  }
  if (points.points.empty()) return {};
  constexpr std::size_t legible = 12;
  if (points.names.size() > legible) points.names.clear();
  if (const search::roofline* core = search::measured_roofline()) {
    for (const int n : threads) high = std::max(high, knee(*core, n));
    for (const int n : threads) {
      chart_series roof{"bound on " + std::to_string(n) + (n == 1 ? " thread" : " threads"),
                        n == 1 ? "b" : "c",
                        true,
                        {}};
      for (int i = 0; i <= 60; ++i) {
        const double x = low / 2 * std::pow(4 * high / low, i / 60.0);
        roof.points.emplace_back(x, 1e-9 / search::bound_seconds(*core, 1, 1 / x, n));
      }
      out.series.push_back(roof);
    }
  }
  out.series.push_back(points);
  out.width = 1200;
  return svg(out) +
         "<p>The slope is the rate at which this machine reads memory, the top its arithmetic. "
         "Arguments that stay in the caches from call to call lift a kernel above the slope.</p>\n";
}

/// @param anchor where the first cell leads to; empty: nowhere
std::string row(const std::vector<std::string>& cells, const char* kind = "td",
                const std::string& anchor = {}) {
  std::string out = "<tr>";
  for (const std::string& c : cells) {
    const bool link = !anchor.empty() && &c == &cells.front();
    const std::string text = escape_html(c);
    out += std::string("<") + kind + ">" +
           (link ? "<a href=\"#" + anchor + "\">" + text + "</a>" : text) + "</" + kind + ">";
  }
  return out + "</tr>\n";
}

std::string failures(const chapter& c) {
  if (c.failures.empty()) return "<p>No candidate failed.</p>\n";
  std::string out =
      "<h3>Failures</h3><div class=\"wide\"><table>" + row({"kind", "count", "the last one"}, "th");
  for (const search::failure_count& f : c.failures)
    out += row({f.kind, std::to_string(f.count), f.detail.substr(0, 300)});
  return out + "</table></div>\n";
}

std::string code(const std::string& title, const std::string& text, bool open) {
  return std::string("<details") + (open ? " open" : "") + "><summary>" + title +
         "</summary><pre>" + escape_html(text) + "</pre></details>\n";
}

std::string schedule_of(const chapter& c) {
  const std::string& stored = c.best().trace;
  const std::string trace_text = c.function ? search::trace_by_name(stored, *c.function) : stored;
  std::string out = "<h3>Best schedule</h3>" + code("Trace", trace_text, false);
  if (!c.function) return out;
  out += "<div class=\"pair\">" + code("Before", ir::print(*c.function), true);
  try {
    std::string why;
    const auto after = search::replay(trace::parse(trace_text), *c.function, 42, &why);
    out += after ? code("After", ir::print(after->scheduled.function()), true)
                 : "<p>The trace does not replay: " + escape_html(why) + "</p>\n";
  } catch (const error& e) {
    out += "<p>The trace does not replay: " + escape_html(e.what()) + "</p>\n";
  }
  return out + "</div>\n";
}

/// Best time, and what it is compared with: a session measures the default schedule first.
std::string result_of(const chapter& c) {
  const record &best = c.best(), &first = c.records.front();
  std::string out =
      search::time_text(best.best()) + (best.chosen ? ", the chosen schedule, " + best.check()
                                                    : ", the fastest; none was chosen yet");
  if (c.records.size() > 1)
    out += "; the first one measured took " + search::time_text(first.best()) + " (" +
           support::fixed_text(first.best() / best.best(), 2) + " times as long)";
  return out + "; " + best.from.cpu;
}

std::string rate_text(const chapter& c) {
  return c.flops > 0 ? support::general_text(c.flops / c.best().best() * 1e-9, 3) : "";
}

constexpr const char* style = R"(<style>
:root{color-scheme:light dark;--a:#0b62c4;--b:#c8640a;--c:#2f8f4e;--grid:#8884}
@media(prefers-color-scheme:dark){:root{--a:#6db1ff;--b:#ffab5e;--c:#7fd99a}}
body{font:16px/1.5 system-ui,sans-serif;max-width:88rem;margin:0 auto;padding:1rem}
h1{line-height:1.2;margin:.5rem 0}h2{margin:.8rem 0 0}h3{margin:1.2rem 0 .3rem}p{margin:.3rem 0;overflow-wrap:anywhere}
section{border-top:1px solid var(--grid);margin-top:1.5rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem;margin-top:1rem}
figure{margin:0;max-width:37rem}figure.full{max-width:none}figcaption{font-weight:600}svg{width:100%;height:auto;display:block;overflow:visible}
svg text{font-size:14px;fill:currentColor}.grid{stroke:var(--grid);fill:none}
.line{fill:none;stroke-width:2}circle.a{fill:var(--a)}circle.b{fill:var(--b);fill-opacity:.7}circle.c{fill:var(--c)}
path.a{stroke:var(--a)}path.b{stroke:var(--b)}path.c{stroke:var(--c)}
.legend span{margin-right:1rem}.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:50%}
i.a{background:var(--a)}i.b{background:var(--b)}i.c{background:var(--c)}
.wide,pre{overflow:auto}table{border-collapse:collapse;margin:.5rem 0}
td,th{border:1px solid var(--grid);padding:.2rem .6rem;text-align:left;white-space:nowrap}
td:last-child{white-space:normal;min-width:10rem}
.contents td:nth-child(2){white-space:normal}.contents td:last-child{white-space:nowrap;min-width:0}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:1rem}.pair>*{min-width:0}
pre{padding:.6rem;border:1px solid var(--grid);font-size:13px;max-height:34rem}summary{cursor:pointer}
.pair pre{font-size:12px;max-height:none;overflow:visible;white-space:pre-wrap;overflow-wrap:anywhere}
@media(max-width:34rem){body{padding:.6rem}svg text{font-size:19px}h1{font-size:1.5rem}pre{font-size:12px}
.contents :is(td,th):nth-child(n+6){display:none}.contents :is(td,th){padding:.2rem .35rem;font-size:.85rem}}
</style>
)";

std::string count_text(const std::vector<chapter>& all) {
  return std::to_string(all.size()) + (all.size() == 1 ? " tuned key" : " tuned keys");
}

std::string anchor(std::size_t n) { return "key" + std::to_string(n + 1); }

/// A line for each chapter, with what does not fit a phone at its end.
std::string contents(const std::vector<chapter>& all) {
  std::string out =
      "<table class=\"contents\">" +
      row({"kernel", "shapes", "threads", "best", "GFLOP/s", "arguments", "records", "measured"},
          "th");
  for (std::size_t n = 0; n < all.size(); ++n) {
    const chapter& c = all[n];
    const record& best = c.best();
    out += row({c.name(), c.shapes(), std::to_string(best.key.threads),
                search::time_text(best.best()), rate_text(c), best.key.arguments,
                std::to_string(c.records.size()), best.from.date.substr(0, 10)},
               "td", anchor(n));
  }
  return out + "</table>\n";
}

std::string page(const search::database& db, const std::vector<chapter>& all) {
  std::string files;
  for (const std::string& path : db.paths()) files += (files.empty() ? "" : ", ") + path;
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<title>Tilewright tuning report</title>\n" +
      std::string(style) + "</head><body>\n<h1>Tilewright tuning report</h1>\n<p>" +
      escape_html(files) + ", " + count_text(all) + ", written " + search::date_now() + "</p>\n" +
      contents(all) + roofline_chart(all);
  for (std::size_t n = 0; n < all.size(); ++n) {
    const chapter& c = all[n];
    out += "<section id=\"" + anchor(n) + "\"><h2>" + escape_html(c.title()) + "</h2>\n<p>" +
           c.threads() + "; arguments " + escape_html(c.best().key.arguments) + "</p>\n<p>" +
           escape_html(result_of(c)) + "</p>\n<div class=\"charts\"><div>" + convergence(c) +
           "</div><div>" + prediction(c) + "</div></div>\n" + failures(c) + schedule_of(c) +
           "</section>\n";
  }
  return out + "</body></html>\n";
}

struct report_options {
  std::string database, output;
};

int report(const report_options& o) {
  const auto db = database_to_read(o.database);
  const std::vector<chapter> all = chapters_of(*db);
  if (all.empty()) throw input_error(db->path(), "no record to report on");
  const std::string text = page(*db, all);
  if (o.output == "-") {
    say(text);
    return fine;
  }
  std::ofstream to(o.output, std::ios::binary);
  to << text;
  to.close();
  if (!to) throw std::runtime_error(o.output + " cannot be written");
  say(o.output + ": " + count_text(all) + "\n");
  return fine;
}

}  // namespace

std::function<int()> declare_report(CLI::App& app) {
  const auto o = std::make_shared<report_options>();
  app.add_option("--db", o->database, "Database file; default: the user's");
  app.add_option("-o,--output", o->output, "HTML file; - is the standard output")->required();
  return [o] { return report(*o); };
}

}  // namespace tool
