// Runs objects for one client on arguments that it sends. Nothing here knows programs, nor how to
// compile one: a machine on which the library is not built serves with this alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/search/measurement/fleet/fleet_message.hpp>
#include <tilewright/impl/search/measurement/fleet/sent_arguments.hpp>
#include <tilewright/search/measurement/timer.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search::detail {

class object_service {
 public:
  /// @throws build_error for what is no request
  message answer(const std::vector<std::byte>& request) {
    message_reader r(request);
    switch (static_cast<fleet_request>(r.word())) {
      case fleet_request::arguments: return prepared(r);
      case fleet_request::measure: return measured(r);
      case fleet_request::call: return called(r);
      case fleet_request::workload:
      case fleet_request::build: break;
    }
    throw build_error("this worker runs objects, and knows no programs");
  }

  /// Whether a measurement is of arguments that were sent.
  bool has_arguments() const { return clock_ != nullptr; }
  /// Forgets them.
  void clear() {
    clock_.reset();
    arguments_.reset();
  }

 private:
  /// Why code for a CPU cannot be run here; empty: it can.
  static std::string why_not(const target::cpu& code) {
    return target::runs_on(code, target::host())
               ? std::string()
               : "its processor does not run code for " + code.name;
  }

  /// Answers with a text: why the arguments cannot be used here; empty: they can.
  message prepared(message_reader& r) {
    message out;
    clear();
    try {
      const auto threads = static_cast<int>(std::clamp<std::uint64_t>(r.word(), 1, 4096));
      const std::string wrong = why_not(read_cpu(r));
      if (!wrong.empty()) throw build_error(wrong);
      std::vector<std::size_t> weights(r.count(8));
      for (std::size_t& w : weights) w = r.word();
      arguments_ = read_arguments(r);
      for (const std::size_t w : weights)
        if (w >= arguments_->places().size()) throw build_error("a weight is no argument");
      pool_.emplace(threads);
      clock_ = std::make_unique<timer>(*arguments_, pool_->view());
      clock_->take_from_memory(std::move(weights));
      out.add(std::string_view());
    } catch (const error& e) {
      clear();
      out.add(std::string_view(e.what()).substr(0, 1000));
    }
    return out;
  }

  /// @param use makes a measurement of loaded code
  template <class Use>
  static measurement tried(const std::vector<std::byte>& code, Use use) {
    try {
      return use(*backend::load(backend::deserialize(code.data(), code.size())));
    } catch (const error& e) {
      measurement out;
      out.failed = failure::build;
      out.detail = e.what();
      return out;
    }
  }

  message measured(message_reader& r) {
    if (!clock_) throw build_error("a request before the arguments");
    const measure_options options = read_options(r);
    message out;
    write(out, tried(r.bytes(),
                     [&](const backend::loaded& code) { return clock_->measure(code, options); }));
    return out;
  }

  /// One call on arguments that come with it. Answers with the measurement, and with the outputs
  /// where it went well.
  static message called(message_reader& r) {
    const double deadline = r.real();
    const auto threads = static_cast<int>(std::clamp<std::uint64_t>(r.word(), 1, 4096));
    const std::vector<std::byte> code = r.bytes();
    const std::unique_ptr<argument_memory> arguments = read_arguments(r);
    backend::pool pool(threads);
    timer clock(*arguments, pool.view());
    const measurement m =
        tried(code, [&](const backend::loaded& c) { return clock.run(c, deadline); });
    message times, out;
    write(times, m);
    out.add(times.bytes().data(), times.bytes().size());
    if (m.ok()) write_outputs(out, *arguments);
    return out;
  }

  std::unique_ptr<argument_memory> arguments_;
  std::optional<backend::pool> pool_;
  std::unique_ptr<timer> clock_;
};

}  // namespace tilewright::search::detail
