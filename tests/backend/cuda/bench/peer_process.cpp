// Peers in processes of their own: what they answer, and what becomes of those that do not.
#include "gpu/peers/peer_process.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using gpu_peers::peer_lost, gpu_peers::peer_process, gpu_peers::python_peers;

namespace {

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

/// Answers as gpu_peers.py does; `round` is what it does when it is asked for one.
std::vector<std::string> answering(const std::string& round) {
  return shell(
      "echo 'peers pytorch=1 triton=2'; while read -r what rest; do case $what in prepare) case "
      "$rest in "
      "*GMM*) echo 'ready 0.5' ;; *) echo 'none no program' ;; esac ;; round) " +
      round + " ;; drop) echo dropped ;; esac; done");
}

}  // namespace

TEST_CASE("a peer's process answers line by line, and is heard in whole lines") {
  peer_process p(shell(
      "printf 'be'; sleep 0.05; printf 'gin\\nnext\\n'; while read -r x; do echo \"<$x>\"; done"));
  CHECK(p.hear(10) == "begin");
  CHECK(p.hear(10) == "next");
  CHECK(p.ask("one", 10) == "<one>");
  CHECK(p.ask("two words", 10) == "<two words>");
}

TEST_CASE("a peer that ends, stays silent or does not exist is lost") {
  peer_process ends(shell("echo begin"));
  CHECK(ends.hear(10) == "begin");
  CHECK_THROWS_WITH_AS(ends.hear(10), "a peer has ended", peer_lost);
  CHECK_THROWS_AS(ends.ask("still there?", 10), peer_lost);  // and no signal
  peer_process silent(shell("trap '' HUP TERM; cat >/dev/null; sleep 1000"));
  CHECK_THROWS_WITH_AS(silent.ask("hello", 0.05), "a peer does not answer", peer_lost);
  CHECK_THROWS_WITH_AS(peer_process({"/nonexistent/python3"}),
                       doctest::Contains("cannot be started"), peer_lost);
}  // the silent one is ended here

TEST_CASE("peers of Python: who is there, cases that are ready, rounds") {
  python_peers p(answering("echo 'seconds 0.25'"));
  CHECK(p.names() == std::vector<std::string>{"pytorch", "triton"});
  CHECK(p.prepare("f32", "GMM", "pytorch", 10) == "");
  CHECK(p.round(10) == 0.25);
  CHECK(p.round(10) == 0.25);
  p.drop();
  CHECK(p.prepare("f32", "C1D", "triton", 10) == "no program");
}

TEST_CASE("peers of Python: none, and why") {
  python_peers nobody({});
  CHECK(nobody.names().empty());
  CHECK(nobody.missing() == "no script of peers was named");
  python_peers absent(shell("echo 'peers none PyTorch: not found'"));
  CHECK(absent.names().empty());
  CHECK(absent.missing() == "PyTorch: not found");
  CHECK(absent.prepare("f32", "GMM", "pytorch", 10) == "PyTorch: not found");
  python_peers broken(shell("echo what"));
  CHECK(broken.names().empty());
  CHECK(broken.missing() == "a peer begins with \"what\"");
}

TEST_CASE("peers of Python: a process that is lost is replaced, three are not") {
  for (const char* round : {"exit", "echo seconds 0", "echo nonsense", "sleep 1000"}) {
    CAPTURE(round);
    python_peers p(answering(round));
    for (int lost = 0; lost < 3; ++lost) {
      CHECK(p.prepare("f32", "GMM", "pytorch", 10) == "");
      CHECK_THROWS_AS(p.round(0.2), peer_lost);
    }
    CHECK(p.names().empty());
    CHECK(p.prepare("f32", "GMM", "pytorch", 10) == "peers were lost too often");
  }
}

TEST_CASE(
    "peers of Python: a case over which a process is lost is readied carefully in another one") {
  // the answer to what is asked the usual way is a signal
  python_peers p(
      shell("echo 'peers pytorch=1'; while read -r what rest; do case \"$what $rest\" in *careful) "
            "echo 'ready 0.5 of "
            "16 bits' ;; prepare*) kill -SEGV $$ ;; round*) echo 'seconds 0.25' ;; esac; done"));
  CHECK(p.prepare("f32", "C3D", "pytorch", 10) == "");
  CHECK(p.note() == "of 16 bits; readied carefully: a peer has ended, by signal 11");
  CHECK(p.round(10) == 0.25);
  // and where that is lost, too, the reason is told
  python_peers q(shell("echo 'peers pytorch=1'; read -r x; exit 3"));
  CHECK(q.prepare("f32", "C3D", "pytorch", 10) == "a peer has ended, with status 3");
}
