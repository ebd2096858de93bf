#include <tilewright/support/kept.hpp>

#include <thread>
#include <vector>

#include <doctest/doctest.h>

using tilewright::support::answer;
using tilewright::support::kept_answer;
using tilewright::support::kept_bits;

namespace {

struct number final : answer {
  number(int v, int& ends) : value(v), ended(&ends) {}
  ~number() override { ++*ended; }
  int value;
  int* ended;
};

int value_of(const kept_answer& kept) { return static_cast<const number*>(kept.get())->value; }

}  // namespace

TEST_CASE("kept: bits stay until they are copied or assigned to") {
  kept_bits bits;
  CHECK(bits.get() == 0);
  bits.keep(5);
  CHECK(bits.get() == 5);
  const kept_bits copy = bits;
  CHECK(copy.get() == 0);
  bits = copy;
  CHECK(bits.get() == 0);
}

TEST_CASE("kept: the first answer stays, a copy begins with none, and each ends once") {
  int ends = 0;
  {
    kept_answer kept;
    CHECK(kept.get() == nullptr);
    const answer& first = kept.keep(new number(1, ends));
    CHECK(kept.get() == &first);
    CHECK(&kept.keep(new number(2, ends)) == &first);
    CHECK(ends == 1);
    CHECK(value_of(kept) == 1);
    kept_answer copy = kept;
    CHECK(copy.get() == nullptr);
    copy.keep(new number(3, ends));
    CHECK(value_of(copy) == 3);
    copy = kept;  // what is overwritten has other parts from now on
    CHECK(copy.get() == nullptr);
    CHECK(ends == 2);
  }
  CHECK(ends == 3);
}

TEST_CASE("kept: threads that ask at once see one answer") {
  for (int round = 0; round < 200; ++round) {
    int ends[2] = {0, 0};
    {
      kept_answer kept;
      const answer* seen[2] = {};
      const auto ask = [&](int i) { seen[i] = &kept.keep(new number(i, ends[i])); };
      std::thread other(ask, 1);
      ask(0);
      other.join();
      CHECK(seen[0] == seen[1]);
      CHECK(kept.get() == seen[0]);
      CHECK(ends[0] + ends[1] == 1);
    }
    CHECK(ends[0] == 1);
    CHECK(ends[1] == 1);
  }
}
