// Launches of GPUs: which kernels are one, and how long blocks of several take side by side.
#include <tilewright/impl/cost/gpu/gpu_launch.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using namespace tilewright;
using cost::detail::gpu_launch, cost::detail::kernel_work;

namespace {

const target::gpu& hopper() {
  static const target::gpu out = target::named_gpu("sm_90a");
  return out;
}

double seconds(const gpu_launch& parts) {
  static const cost::detail::gpu_rates rates = cost::detail::rates_of(hopper());
  return cost::detail::launch_seconds(hopper(), rates)(parts);
}

/// Blocks of 256 threads that each have so many instructions of warps to issue.
kernel_work computing(double blocks, double issues) {
  kernel_work out;
  out.blocks = blocks;
  out.threads = 256;
  out.issues = issues;
  return out;
}

kernel_work with_shared(kernel_work k, double bytes) {
  k.shared[0] = bytes;
  return k;
}

}  // namespace

TEST_CASE("gpu_launch: two small kernels in one launch take less than one after the other") {
  const kernel_work a = computing(40, 1e5), b = computing(60, 1e5);
  const double apart = seconds({&a}) + seconds({&b}), fused = seconds({&a, &b});
  CHECK(fused < 0.7 * apart);  // they stand on multiprocessors of their own
  CHECK(fused >= seconds({&a}));
}

TEST_CASE("gpu_launch: a wave lasts as long as its longest part") {
  const kernel_work few = computing(20, 1e7), many = computing(100, 1e4);
  CHECK(seconds({&few, &many}) < 1.05 * seconds({&few}));
  CHECK(seconds({&few, &many}) >= seconds({&few}));
  // what comes behind a full device waits for it
  const kernel_work full = computing(132 * 8 * 3, 1e6);
  CHECK(seconds({&full, &few}) > 1.2 * seconds({&full}));
}

TEST_CASE("gpu_launch: a part with much shared memory holds up the blocks of the others") {
  const kernel_work light = computing(132 * 64, 1e4);
  const kernel_work heavy = with_shared(computing(132, 1e4), 200 << 10);
  CHECK(seconds({&light, &heavy}) > 1.2 * (seconds({&light}) + seconds({&heavy})));
}

TEST_CASE("gpu_launch: additions to one element come one after the other") {
  kernel_work spread = computing(1024, 1e3), met = spread;
  spread.added = met.added = 64;
  spread.terms[0] = 16;
  met.terms[0] = 1024 * 256;
  CHECK(seconds({&met}) > 5 * seconds({&spread}));
  // additions of two parts to one result add up, those to two results do not
  kernel_work other = met;
  other.terms = {{1, 1024 * 256}};
  CHECK(seconds({&met, &met}) > 1.5 * seconds({&met, &other}));
  kernel_work more = spread;
  more.added = 1e5;
  CHECK(seconds({&more}) > 10 * seconds({&spread}));
}

TEST_CASE("gpu_launch: kernels are one launch where none waits for another") {
  kernel_work a = computing(4, 1), b = a, c = a, d = a;
  a.reads = {0}, a.writes = {1};
  b.reads = {1}, b.writes = {2};  // waits for a
  c.reads = {0}, c.writes = {3};
  d.reads = {0}, d.adds = {3};  // waits for c
  const auto sizes = [](const std::vector<const kernel_work*>& kernels) {
    std::vector<std::size_t> out;
    for (const gpu_launch& l : cost::detail::fused_launches(kernels, hopper()))
      out.push_back(l.size());
    return out;
  };
  CHECK(sizes({&a, &b}) == std::vector<std::size_t>{1, 1});
  CHECK(sizes({&a, &b, &c}) == std::vector<std::size_t>{2, 1});
  CHECK(sizes({&c, &d}) == std::vector<std::size_t>{1, 1});
  CHECK(sizes({&d, &d}) == std::vector<std::size_t>{2});  // both add
  kernel_work narrow = c;
  narrow.threads = 64;
  CHECK(sizes({&a, &narrow}) == std::vector<std::size_t>{2});
  narrow.shared[9] = 1024;  // its threads wait for each other
  CHECK(sizes({&a, &narrow}) == std::vector<std::size_t>{1, 1});
}
