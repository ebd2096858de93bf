#include <tilewright/support/ref.hpp>

#include <utility>

#include <doctest/doctest.h>

using tilewright::support::counted;
using tilewright::support::ref;

namespace {

struct node : counted {
  explicit node(int& drops) : dropped(&drops) {}
  ~node() { ++*dropped; }
  int* dropped;
};

}  // namespace

TEST_CASE("the last handle drops a node") {
  int dropped = 0;
  ref<node> a(new node(dropped));
  {
    const ref<node> b = a;
    CHECK(a == b);
    ref<node> c = std::move(a);
    CHECK_FALSE(a);
    CHECK(c == b);
    a = c;
  }
  CHECK(dropped == 0);
  a = ref<node>(new node(dropped));
  CHECK(dropped == 1);
  a = {};
  CHECK(dropped == 2);
}

TEST_CASE("what is kept for ever is not dropped with its last handle") {
  int dropped = 0;
  ref<node> a(new node(dropped));
  node* const kept = a.get();
  kept->keep_forever();
  {
    const ref<node> b = a;
    a = {};
    CHECK(b.get() == kept);
  }
  CHECK(dropped == 0);
  a = ref<node>(kept);  // whoever finds it again is no first owner
  a = {};
  CHECK(dropped == 0);
  delete kept;
}
