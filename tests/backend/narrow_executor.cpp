#include <tilewright/backend/narrow_executor.hpp>

#include <doctest/doctest.h>
#include <tilewright/backend/pool.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

using namespace tilewright;

TEST_CASE("narrow_executor: every chunk runs once, on workers that nobody else is at the time") {
  constexpr int workers = 2;
  backend::pool threads(4);
  const backend::narrow_executor narrow(threads.view(), workers);
  CHECK(narrow.view().threads == workers);
  struct loop {
    std::vector<std::atomic<int>> runs;
    std::atomic<int> busy[workers] = {}, errors{0};
  };
  for (const std::int64_t chunks : {0, 1, 2, 1000}) {
    loop l{std::vector<std::atomic<int>>(static_cast<std::size_t>(chunks))};
    const auto body = [](void* context, std::int64_t chunk, int worker) {
      auto& own = *static_cast<loop*>(context);
      if (worker < 0 || worker >= workers || own.busy[worker]++ != 0) ++own.errors;
      ++own.runs[static_cast<std::size_t>(chunk)];
      --own.busy[worker];
    };
    narrow.view().run(narrow.view().self, chunks, body, &l);
    CHECK(l.errors == 0);
    for (const std::atomic<int>& n : l.runs) CHECK(n == 1);
  }
}
