#pragma once

#include <cmath>
#include <utility>

#include <tilewright/impl/search/measurement/command_connection.hpp>
#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/impl/search/strategies/line_connection.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/strategies/outside.hpp>
#include <tilewright/support/json.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::search {
namespace detail {

/// Elements of a JSON list, one after the other.
class json_list {
 public:
  explicit json_list(std::string start) : text_(std::move(start)) {}
  void add(const std::string& element) {
    text_ += (empty_ ? "" : ", ") + element;
    empty_ = false;
  }
  bool empty() const { return empty_; }
  std::string closed(std::string_view end) const { return text_ + std::string(end); }

 private:
  std::string text_;
  bool empty_ = true;
};

class outside_strategy final : public drawing_strategy {
 public:
  outside_strategy(std::string command, const outside_options& options)
      : command_(std::move(command)), options_(options) {}
  ~outside_strategy() override {
    connection_.close();
  }  // the command sees its end before it is killed

  void start(const search_task& task, std::uint64_t seed) override {
    drawing_strategy::start(task, seed);
    std::string problem;
    connection_ = line_connection(process_.start(command_, problem));
    if (!connection_) return leave("it cannot be started: " + problem);
    json_list sketches("{\"version\": 1, \"program\": " +
                       support::json_text(ir::print(task_.function)) + ", \"sketches\": [");
    for (const trace& t : task_.sketches) sketches.add(support::json_text(t.print()));
    tell(sketches.closed("], \"seed\": " + std::to_string(seed) + "}"));
  }

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    for (int attempt = 0; attempt < attempts && connection_; ++attempt) {
      if (over && over()) return {};
      const std::optional<std::vector<std::string>> traces = ask(count, over);
      if (!traces) break;
      if (traces->empty()) return {};
      std::vector<candidate> out = accepted(*traces, count, over);
      if (!out.empty()) return out;
    }
    if (over && over()) return {};
    // a list of nothing but known and refused traces, time after time: draws go on beside it
    return collect(count, over, [&](support::random r) { return fresh(r); });
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    drawing_strategy::learn(measured, seconds);
    if (!connection_ || measured.empty()) return;
    json_list out("{\"measured\": [");
    for (std::size_t i = 0; i < measured.size(); ++i)
      out.add("{\"trace\": " + support::json_text(measured[i].scheduled.trace().print()) +
              ", \"seconds\": " +
              (std::isfinite(seconds[i]) ? support::general_text(seconds[i], 9) : "null") + "}");
    tell(out.closed("]}"));
  }

  std::string remark() const override { return remark_; }

 private:
  static constexpr int attempts = 4;

  void leave(const std::string& why) {
    connection_.close();
    process_.end();
    remark_ = "the proposer `" + command_ + "` was left, and draws went on: " + why;
  }

  void tell(const std::string& line) {
    if (!connection_) return;
    if (const std::string problem = connection_.send(line, options_.patience, {}); !problem.empty())
      leave(problem);
  }

  /// Its traces as texts; nothing where it was left, or the time is over.
  std::optional<std::vector<std::string>> ask(std::size_t count,
                                              const std::function<bool()>& over) {
    // a request that the end of a session left without its answer is still the one to be answered
    if (!asked_) tell("{\"propose\": " + std::to_string(count) + "}");
    if (!connection_) return std::nullopt;
    asked_ = true;
    std::string line;
    const std::string problem =
        connection_.receive(line, options_.most_line, options_.patience, over);
    if (!problem.empty()) {
      if (!(over && over())) leave(problem);
      return std::nullopt;
    }
    asked_ = false;
    try {
      const support::json answer = support::parse_json(line);
      const support::json* traces = answer.find("traces");
      if (!traces || traces->is != support::json::kind::list)
        throw argument_error("its answer has no list \"traces\"");
      std::vector<std::string> out;
      for (const support::json& t : traces->items) {
        if (t.is != support::json::kind::text)
          throw argument_error("a member of its \"traces\" is no text");
        out.push_back(t.text);
      }
      return out;
    } catch (const argument_error& e) {
      leave(e.what());
    }
    return std::nullopt;
  }

  /// Those that replay and are new; it is told why others do not.
  std::vector<candidate> accepted(const std::vector<std::string>& traces, std::size_t count,
                                  const std::function<bool()>& over) {
    std::vector<candidate> out;
    json_list refusals("{\"refused\": [");
    for (const std::string& text : traces) {
      if (out.size() == count || (over && over())) break;
      std::string why;
      std::optional<candidate> c = parsed(text, why);
      if (c && seen_.insert(c->identity).second) {
        out.push_back(std::move(*c));
        continue;
      }
      if (c) why = "its program was proposed before";
      refusals.add("{\"trace\": " + support::json_text(text) +
                   ", \"reason\": " + support::json_text(why) + "}");
    }
    if (!refusals.empty()) tell(refusals.closed("]}"));
    return out;
  }

  std::optional<candidate> parsed(const std::string& text, std::string& why) {
    support::random r = random_.split();
    std::optional<candidate> out;
    try {
      out = replayed(trace::parse(text), r);
      if (!out) why = last_refusal_;
    } catch (const internal_error&) {
      throw;
    } catch (const error& e) {
      why = last_refusal_ = e.what();
    }
    refused_ += out ? 0 : 1;
    return out;
  }

  std::string command_;
  outside_options options_;
  running_command process_;
  line_connection connection_;  // closed where the program was left
  bool asked_ = false;          // for traces, and not answered
  std::string remark_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> outside(std::string command,
                                                    const outside_options& options) {
  return std::make_unique<detail::outside_strategy>(std::move(command), options);
}

}  // namespace tilewright::search
