// What a fleet and its workers say to each other over a socket.
#pragma once

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/impl/search/measurement/worker_message.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/measurement/worker_server.hpp>

namespace tilewright::search::detail {

/// Of the messages; code is compatible where backend::lowering_revision is the same.
inline constexpr std::uint64_t fleet_protocol = 3;
inline constexpr std::size_t most_fleet_message = std::size_t{1} << 28;  // bytes

/// A worker is told a workload, for which it makes up arguments, or arguments; then it times code on
/// them. A call brings its own arguments and gets the outputs.
enum class fleet_request : std::uint64_t { workload = 1, measure, build, arguments, call };

/// A descriptor that is closed.
class socket_handle {
 public:
  explicit socket_handle(int descriptor = -1) : descriptor_(descriptor) {}
  socket_handle(socket_handle&& from) noexcept : descriptor_(std::exchange(from.descriptor_, -1)) {}
  socket_handle& operator=(socket_handle&& from) noexcept {
    std::swap(descriptor_, from.descriptor_);
    return *this;
  }
  ~socket_handle() { close(); }

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

/// The addresses of a host. Calls `use(address)` until it gives true.
template <class Use>
std::string with_addresses(const worker_address& at, bool to_listen, const Use& use) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const std::string port = std::to_string(at.port);
  if (const int failed = ::getaddrinfo(at.host.c_str(), port.c_str(), &wanted, &found))
    return ::gai_strerror(failed);
  std::string problem = "no address";
  for (const addrinfo* a = found; a; a = a->ai_next) {
    problem = use(*a);
    if (problem.empty()) break;
  }
  ::freeaddrinfo(found);
  return problem;
}

/// Small messages go at once, and a host that is gone is noticed.
inline void prepare(int descriptor) {
  const int on = 1, idle = 20, apart = 10, times = 3;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &apart, sizeof apart);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

/// A connection, or why there is none.
inline socket_handle connected(const worker_address& at, double patience, std::string& problem) {
  socket_handle out;
  problem = with_addresses(at, false, [&](const addrinfo& a) -> std::string {
    socket_handle s(
        ::socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a.ai_protocol));
    if (!s) return std::strerror(errno);
    if (::connect(s.get(), a.ai_addr, a.ai_addrlen) != 0 && errno != EINPROGRESS)
      return std::strerror(errno);
    pollfd one{s.get(), POLLOUT, 0};
    if (::poll(&one, 1, static_cast<int>(patience * 1000)) <= 0) return "it does not answer";
    int failed = 0;
    socklen_t size = sizeof failed;
    if (::getsockopt(s.get(), SOL_SOCKET, SO_ERROR, &failed, &size) != 0 || failed != 0)
      return std::strerror(failed);
    prepare(s.get());
    out = std::move(s);
    return {};
  });
  return out;
}

// ---- what messages hold ----

/// The client speaks first: who it is, before it is told anything.
inline message fleet_hello(const std::string& token) {
  message out;
  out.add(fleet_protocol);
  out.add(static_cast<std::uint64_t>(backend::lowering_revision));
  out.add(std::string_view(token));
  return out;
}

/// Takes as long for every token of a length.
inline bool equal_tokens(const std::string& a, const std::string& b) {
  unsigned differ = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    differ |= static_cast<unsigned char>(a[i]) ^
              static_cast<unsigned char>(b.empty() ? '\0' : b[i % b.size()]);
  return differ == 0;
}

/// Why a client is turned away; empty: it is not.
/// @param token empty: none is asked for
inline std::string why_refused(const std::vector<std::byte>& hello, const std::string& token) {
  message_reader r(hello);
  const std::uint64_t protocol = r.word(), revision = r.word();
  const std::string theirs = r.text();
  if (!token.empty() && !equal_tokens(theirs, token)) return "the token is another one";
  if (protocol != fleet_protocol)
    return "it speaks version " + std::to_string(fleet_protocol) + " of the protocol, not " +
           std::to_string(protocol);
  if (revision != static_cast<std::uint64_t>(backend::lowering_revision))
    return "its code generation is of another version of tilewright";
  return {};
}

inline void write(message& m, const std::vector<argument_layout>& layouts) {
  m.add(std::uint64_t{layouts.size()});
  for (const argument_layout& l : layouts) {
    m.add(std::uint64_t{l.at.alignment});
    m.add(std::uint64_t{l.at.beyond});
    m.add(std::uint64_t{l.strides.size()});
    for (const std::int64_t s : l.strides) m.add(static_cast<std::uint64_t>(s));
  }
}

inline std::vector<argument_layout> read_layouts(message_reader& r) {
  std::vector<argument_layout> out(r.count(24));  // three words each
  for (argument_layout& l : out) {
    l.at.alignment = r.word();
    l.at.beyond = r.word();
    l.strides.resize(r.count(8));
    for (std::int64_t& s : l.strides) s = static_cast<std::int64_t>(r.word());
  }
  return out;
}

}  // namespace tilewright::search::detail
