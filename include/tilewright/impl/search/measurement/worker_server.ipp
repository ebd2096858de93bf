#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <memory>
#include <optional>

#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/search/measurement/fleet/client_service.hpp>
#include <tilewright/impl/search/measurement/fleet/fleet_message.hpp>
#include <tilewright/impl/search/measurement/fleet/object_service.hpp>
#include <tilewright/impl/search/measurement/worker_process.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/measurement/worker_server.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search {
namespace detail {

/// What one client asked for, in the process that serves it.
class fleet_service {
 public:
  /// @throws build_error for what is no request
  message answer(const std::vector<std::byte>& request) {
    message_reader r(request);
    switch (static_cast<fleet_request>(r.word())) {
      case fleet_request::workload: objects_.clear(); return prepared(r);
      case fleet_request::arguments: runner_.reset(); return objects_.answer(request);
      case fleet_request::measure:
        return objects_.has_arguments() ? objects_.answer(request) : measured(r);
      case fleet_request::call: return objects_.answer(request);
      case fleet_request::build: return built_and_measured(r);
    }
    throw build_error("no request of a fleet");
  }

 private:
  /// Answers with a text: why the workload cannot be run here; empty: it can.
  message prepared(message_reader& r) {
    message out;
    try {
      const auto threads = static_cast<int>(std::clamp<std::uint64_t>(r.word(), 1, 4096));
      const target::cpu code = read_cpu(r);
      const std::string text = r.text();
      std::vector<argument_layout> layouts = read_layouts(r);
      runner_.reset();
      pool_.emplace(threads);
      if (!target::runs_on(code, target::host()))
        throw build_error("its processor does not run code for " + code.name);
      target_ = code;
      runner_ = std::make_unique<runner>(ir::parse(text), std::move(layouts), pool_->view(), 1);
      out.add(std::string_view());
    } catch (const std::exception& e) {
      out.add(std::string_view(e.what()).substr(0, 1000));
    }
    return out;
  }

  message measured(message_reader& r) {
    if (!runner_) throw build_error("a request before the workload");
    const measure_options options = read_options(r);
    const std::vector<std::byte> code = r.bytes();
    measurement m;
    try {
      m = runner_->measure(*backend::load(backend::deserialize(code.data(), code.size())), options);
    } catch (const error& e) {
      m.failed = failure::build;
      m.detail = e.what();
    }
    message out;
    write(out, m);
    return out;
  }

  /// Answers with why there is no code, the code, and its times.
  message built_and_measured(message_reader& r) {
    if (!runner_) throw build_error("a request before the workload");
    const measure_options options = read_options(r);
    const std::string text = r.text();
    built b;
    try {
      b = build(ir::parse(text), *target_);
    } catch (const error& e) {
      b.error = e.what();
    }
    message out;
    out.add(std::string_view(b.error).substr(0, 1000));
    const std::vector<std::byte> code =
        b.code ? backend::serialize(b.artifact) : std::vector<std::byte>();
    out.add(code.data(), code.size());
    measurement m;
    if (b.code)
      m = runner_->measure(*b.code, options);
    else
      m.failed = failure::build;
    write(out, m);
    return out;
  }

  std::optional<target::cpu> target_;
  std::optional<backend::pool> pool_;
  std::unique_ptr<runner> runner_;
  object_service objects_;
};

}  // namespace detail

TILEWRIGHT_INLINE bool serve_pipes(int input, int output) {
  return detail::serve_pipes_with<detail::fleet_service>(input, output);
}

TILEWRIGHT_INLINE worker_address worker_address::parse(const std::string& text) {
  if (text.find(' ') != std::string::npos) return {{}, 0, text};
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : support::read_number<std::uint16_t>(text.substr(colon + 1));
  std::string host = text.substr(0, std::min(colon, text.size()));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (!port || host.empty())
    throw argument_error("worker: \"" + text + "\" is no address; write one as 127.0.0.1:7000");
  return {host, *port, {}};
}

TILEWRIGHT_INLINE std::string worker_address::text() const {
  if (!command.empty()) return command;
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(port);
}

TILEWRIGHT_INLINE worker_server::worker_server(const worker_address& at, std::string token)
    : address_(at), token_(std::move(token)) {
  if (!at.command.empty())
    throw argument_error("worker: it cannot listen at a command, " + at.command);
  if (token_.empty())
    throw argument_error("worker: it has no token (requirement 1), and so would serve anybody");
  const std::string problem = detail::with_addresses(at, true, [&](const addrinfo& a) {
    detail::socket_handle s(::socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC, a.ai_protocol));
    const int on = 1;
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (!s || ::setsockopt(s.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(s.get(), a.ai_addr, a.ai_addrlen) != 0 || ::listen(s.get(), 16) != 0 ||
        ::getsockname(s.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
      return std::string(std::strerror(errno));
    address_.port =
        ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                          : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
    listening_ = ::dup(s.get());
    return std::string();
  });
  if (listening_ < 0) throw build_error("worker cannot listen at " + at.text() + ": " + problem);
}

TILEWRIGHT_INLINE worker_server::~worker_server() {
  if (listening_ >= 0) ::close(listening_);
}

TILEWRIGHT_INLINE std::string worker_server::serve_one() {
  const detail::socket_handle client(::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC));
  if (!client) return std::string("no client: ") + std::strerror(errno);
  detail::prepare(client.get());
  const pid_t server = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return std::string("no process for a client: ") + std::strerror(errno);
  if (child == 0) {
    ::close(listening_);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // who ends a worker ends what it runs
    if (::getppid() != server) ::_exit(1);
    int code = 1;
    try {
      code = detail::serve_client<detail::fleet_service>(client.get(), token_);
    } catch (const std::exception&) {  // what was sent is no message
    }
    ::_exit(code);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::string(hung_up)
                                                       : "ended with " + detail::end_text(status);
}

}  // namespace tilewright::search
