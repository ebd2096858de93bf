#include <tilewright/support/node_memory.hpp>

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/support/ref.hpp>

using tilewright::support::counted;
using tilewright::support::ref;

namespace {

template <std::size_t Bytes>
struct node : counted {
  char bytes[Bytes] = {};
};

/// Drops its node when its thread ends, after the nodes that the thread has kept went back.
struct late {
  ref<node<40>> held;
};

}  // namespace

TEST_CASE("a dropped node is the memory of the next one of its size") {
  if (TILEWRIGHT_ADDRESS_SANITIZER) return;
  const void* place = ref<node<40>>(new node<40>).get();
  const ref<node<200>> other(new node<200>);
  CHECK(static_cast<const void*>(other.get()) != place);
  const ref<node<40>> next(new node<40>);
  CHECK(static_cast<const void*>(next.get()) == place);
}

TEST_CASE("more nodes than a thread keeps, and larger ones, go back to the allocator") {
  std::vector<ref<node<40>>> many;
  std::vector<ref<node<4000>>> large;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2000; ++i) many.emplace_back(new node<40>);
    for (int i = 0; i < 10; ++i) large.emplace_back(new node<4000>);
    for (const auto& n : many) n->bytes[39] = 1;
    for (const auto& n : large) n->bytes[3999] = 1;
    many.clear();
    large.clear();
  }
  CHECK(many.empty());
}

TEST_CASE("nodes cross threads and outlive them") {
  std::vector<ref<node<40>>> made;
  for (int i = 0; i < 100; ++i) made.emplace_back(new node<40>);
  std::vector<ref<node<40>>> back;
  std::thread([&] {
    thread_local late last;
    last.held = made.back();
    made.clear();
    for (int i = 0; i < 100; ++i) back.emplace_back(new node<40>);
  }).join();
  for (const auto& n : back) n->bytes[39] = 1;
  CHECK(back.size() == 100);
}

TEST_CASE("a list in memory of nodes grows beyond what a thread keeps, and is given up whole") {
  using list = std::vector<int, tilewright::support::node_allocator<int>>;
  for (int round = 0; round < 2; ++round) {
    list numbers;
    for (int i = 0; i < 1000; ++i) numbers.push_back(i);
    const list copy = numbers;
    numbers = list(3, 7);
    CHECK(numbers == list({7, 7, 7}));
    CHECK(copy.size() == 1000);
    CHECK(copy.back() == 999);
  }
}
