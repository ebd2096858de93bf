// Calls of `tuned` with arrays of a device that is a fake one. What is launched is emulated with the
// arguments of the launches, so that results are compared with those of calls on the host.
#include <tilewright/cuda.hpp>
#include <tilewright/tuned.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/dispatch/layout.hpp>
#include <tilewright/dispatch/zero_extents.hpp>
#include <tilewright/interop/dlpack.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

#include "backend/cuda/cases.hpp"
#include "backend/cuda/emulated_launches.hpp"
#include "backend/cuda/fake/fake.hpp"

namespace {

std::atomic<long> allocations{0};

}  // namespace

// Of the whole program, so that calls which shall allocate nothing can be watched.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* out = std::malloc(size > 0 ? size : 1)) return out;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

using namespace tilewright;
namespace cu = tilewright::backend::cuda;
using fake::emulated_launches;

namespace {

bool ready() { return fake::here() && cases::have_nvrtc(); }

constexpr auto rows_softmax =
    kernel<"rows_softmax">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      temp<"peak", float, "M"> peak;
      temp<"e", float, "M", "N"> e;
      temp<"total", float, "M"> total;
      return blocks(peak(i) = max<j>(X(i, j)), e(i, j) = exp(X(i, j) - peak(i)),
                    total(i) = sum<j>(e(i, j)), Y(i, j) = e(i, j) / total(i));
    });

constexpr auto scaled_product =
    kernel<"scaled_product">([](in<"alpha", float> alpha, in<"A", float, "M", "K"> A,
                                weight<"W", float, "K", "N"> W, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = alpha * sum<k>(A(i, k) * W(k, j));
    });

constexpr auto gather = kernel<"gather">(
    [](in<"T", float, "R", "N"> T, in<"at", std::int32_t, "M"> at, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      return Y(i, j) = T(at(i), j);
    });

constexpr auto total = kernel<"total">([](in<"X", float, "N"> X, out<"s", float> s) {
  using axes::i;
  return s() = sum<i>(X(i));
});

tuned_options untuned() {
  tuned_options o;
  o.mode = mode::off;
  o.own_database = std::make_shared<search::database>(":memory:");
  return o;
}

/// Dense elements that start at a multiple of 16 bytes, as those of a device do.
template <class T = float>
class elements {
 public:
  explicit elements(std::int64_t count, T value = T())
      : count_(static_cast<std::size_t>(count)),
        data_(static_cast<T*>(std::aligned_alloc(256, (count_ * sizeof(T) / 256 + 1) * 256))) {
    for (std::size_t i = 0; i < count_; ++i) data_.get()[i] = value;
  }
  T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  struct release {
    void operator()(T* at) const { std::free(at); }
  };
  std::size_t count_;
  std::unique_ptr<T, release> data_;
};

elements<> drawn(std::int64_t count) {
  elements<> out(count);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>((i * 7 + i / 5) % 19) / 8 - 1;
  return out;
}

double distance(const elements<>& a, const elements<>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    out = std::max(out, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return out;
}

bool emulated() {
  if (!ready()) return false;
  const std::string missing = cu::why_no_emulator();
  if (!missing.empty()) MESSAGE("skipped, kernels cannot be emulated: " << missing);
  return missing.empty();
}

}  // namespace

TEST_CASE("a call with arrays of a device computes what a call on the host does") {
  if (!emulated()) return;
  const tuned op{rows_softmax, untuned()};
  const elements<> x = drawn(6 * 40), y(6 * 40), expected(6 * 40);
  op(view(x.data(), {6, 40}), view(expected.data(), {6, 40}));
  const auto dx = on_device(static_cast<const float*>(x.data()), {6, 40});
  const auto dy = on_device(y.data(), {6, 40});
  const std::string report = op.report(dx, dy);
  CAPTURE(report);
  CHECK(report.find("rows_softmax at 6 40 6 40 on fake") == 0);
  CHECK(report.find("the default schedule") != std::string::npos);
  emulated_launches here(reify(rows_softmax, {{"M", 6}, {"N", 40}}), report);
  op(dx, dy);
  CHECK(here.runs == 1);
  CHECK(distance(y, expected) < 1e-6);
  CHECK(support::all(here.streams, [](void* s) { return s == nullptr; }));
}

TEST_CASE("a stream is handed on, and every kernel of a call goes there") {
  if (!emulated()) return;
  const tuned op{rows_softmax, untuned()};
  const elements<> x = drawn(6 * 40), y(6 * 40);
  const auto dx = on_device(x.data(), {6, 40}), dy = on_device(y.data(), {6, 40});
  op.warm(dx, dy);
  emulated_launches here(reify(rows_softmax, {{"M", 6}, {"N", 40}}), op.report(dx, dy));
  void* const stream = x.data();  // any address does for the fake
  const auto on_stream = op.on(stream);
  on_stream(dx, dy);
  on_stream(dx, dy);
  CHECK(here.runs == 2);
  CHECK(support::all(here.streams, [&](void* s) { return s == stream; }));
}

TEST_CASE("scalars and bound weights come from the host, arrays in any order of dimensions") {
  if (!emulated()) return;
  constexpr std::int64_t m = 8, k = 12, n = 16;
  const elements<> w = drawn(k * n), a = drawn(m * k), c(m * n), expected(m * n);
  const auto op = tuned{scaled_product, untuned()}.with<"W">(view(w.data(), {k, n}));
  // a is stored by columns
  op(0.5f, view(a.data(), {m, k}, {1, m}), view(expected.data(), {m, n}));
  const auto da = on_device(a.data(), {m, k}, {1, m}), dc = on_device(c.data(), {m, n});
  const std::string report = op.report(0.5f, da, dc);
  std::vector<dispatch::layout_class> layouts;
  for (const auto& [extents, strides] :
       {std::pair{std::array<std::int64_t, 2>{}, std::array<std::int64_t, 2>{}},
        std::pair{da.elements.extents, da.elements.strides},
        std::pair{std::array{k, n}, std::array{n, std::int64_t{1}}},
        std::pair{dc.elements.extents, dc.elements.strides}})
    layouts.push_back(dispatch::classify(layouts.empty() ? 0 : 2, extents.data(), strides.data()));
  emulated_launches here(
      dispatch::with_layouts(reify(scaled_product, {{"M", m}, {"K", k}, {"N", n}}), layouts),
      report);
  op(0.5f, da, dc);
  CHECK(here.runs == 1);
  CHECK(distance(c, expected) < 1e-5);
}

TEST_CASE("an output without dimensions, spans, buffers, and tensors of other frameworks") {
  if (!emulated()) return;
  const tuned op{total, untuned()};
  const elements<> x = drawn(64);
  elements<> s(1, 7.0f);
  const auto dx = on_device(std::span<const float>(x.data(), 64));
  const auto ds = on_device(s.data());
  emulated_launches here(reify(total, {{"N", 64}}), op.report(dx, ds));
  op(dx, ds);
  double expected = 0;
  for (std::size_t i = 0; i < 64; ++i) expected += static_cast<double>(x[i]);
  CHECK(static_cast<double>(s[0]) == doctest::Approx(expected));

  cuda::device_buffer<float, 1> own({64});
  own.copy_from(x.data());
  s[0] = 7;
  op(own, ds);
  own.synchronize();
  CHECK(static_cast<double>(s[0]) == doctest::Approx(expected));
  std::vector<float> back(64);
  std::as_const(own).copy_to(back.data());
  CHECK(std::equal(back.begin(), back.end(), x.data()));
  s[0] = 7;
  op(std::as_const(own), ds);
  CHECK(static_cast<double>(s[0]) == doctest::Approx(expected));

  std::int64_t shape[] = {64};
  dlpack::managed_tensor managed{
      {x.data(), {2, 0}, 1, {2, 32, 1}, shape, nullptr, 0}, nullptr, nullptr};
  const dlpack_array<const float, 1> theirs(&managed);
  s[0] = 7;
  op(theirs.on_device(), ds);
  CHECK(static_cast<double>(s[0]) == doctest::Approx(expected));
  CHECK(here.runs == 4);
}

TEST_CASE("extents of zero: nothing is started, and a sum over nothing is zero") {
  if (!emulated()) return;
  const tuned op{scaled_product, untuned()};
  const elements<> any = drawn(64);
  elements<> c(32, 7.0f);
  float* const nowhere = nullptr;
  const auto w = on_device(any.data(), {8, 4});
  const auto no_rows = on_device(nowhere, {0, 8}), no_sums = on_device(nowhere, {0, 4});
  op(1.0f, no_rows, w, no_sums);
  CHECK(op.report(1.0f, no_rows, w, no_sums).find("every output is empty") != std::string::npos);
  const auto a = on_device(nowhere, {8, 0}), b = on_device(nowhere, {0, 4});
  const auto dc = on_device(c.data(), {8, 4});
  op.warm(1.0f, a, b, dc);
  constexpr std::int64_t stands_for_zero = 97;
  emulated_launches here(
      dispatch::without_iterations(
          reify(scaled_product, {{"M", 8}, {"K", stands_for_zero}, {"N", 4}}), stands_for_zero),
      op.report(1.0f, a, b, dc));
  op(1.0f, a, b, dc);
  CHECK(here.runs == 1);
  for (std::size_t i = 0; i < c.size(); ++i) CHECK(c[i] == 0);
}

TEST_CASE("calls after the first allocate nothing, on the device or the host") {
  if (!ready()) return;
  const tuned op{rows_softmax, untuned()};
  const elements<> x = drawn(6 * 40), y(6 * 40);
  const auto dx = on_device(x.data(), {6, 40}), dy = on_device(y.data(), {6, 40});
  op(dx, dy);
  const auto on_stream = op.on(x.data());
  on_stream(dx, dy);
  const fake::setting no_memory("FAKE_CUDA_ALLOC", "2");
  const fake::setting recorded("FAKE_CUDA_CAPTURING", "1");
  const long before = allocations;
  for (int i = 0; i < 100; ++i) {
    op(dx, dy);
    on_stream(dx, dy);
  }
  CHECK(allocations == before);
}

TEST_CASE("what a call on a device refuses names the argument and the remedy") {
  if (!ready()) return;
  const tuned op{rows_softmax, untuned()};
  const elements<> x = drawn(8 * 40), y(8 * 40);
  const auto dx = on_device(x.data(), {6, 40}), dy = on_device(y.data(), {6, 40});
  const auto refuses = [&](const char* text, const auto& a, const auto& b) {
    CHECK_THROWS_WITH_AS(op(a, b), doctest::Contains(text), argument_error);
  };
  {
    const fake::setting s("FAKE_CUDA_CAPTURING", "1");
    refuses("which a graph cannot record; call warm() before", dx, dy);
  }
  {
    const fake::setting s("FAKE_CUDA_POINTER", "1");
    refuses("rows_softmax: argument X lies in the host's memory; copy it to the device", dx, dy);
  }
  {
    const fake::setting s("FAKE_CUDA_POINTER_DEVICE", "1");
    refuses("argument X lies on device 1, and the kernel runs on device 0", dx, dy);
  }
  refuses("argument Y is not aligned to 16 bytes; copy it to memory of its own", dx,
          on_device(y.data() + 1, {6, 40}));
  refuses("the elements of \"X\" do not lie side by side; a GPU takes dense arrays",
          on_device(x.data(), {6, 40}, {48, 1}), dy);
  refuses("\"N\" is 40 at dimension 1 of \"X\" and 39", dx, on_device(y.data(), {6, 39}));
  refuses("\"X\" are a null pointer", on_device(static_cast<float*>(nullptr), {6, 40}), dy);
  refuses("output \"Y\" overlaps \"X\"", dx, on_device(x.data() + 4, {6, 40}));
  {
    const fake::setting s("FAKE_CUDA_STREAM_ELSEWHERE", "1");
    CHECK_THROWS_WITH_AS(op.on(x.data())(dx, dy),
                         doctest::Contains("the stream belongs to another context"),
                         argument_error);
  }
  {
    const fake::setting s("FAKE_CUDA_STREAM", "400");
    CHECK_THROWS_WITH_AS(op.on(x.data())(dx, dy),
                         doctest::Contains("refused by the driver with error 400"), argument_error);
  }
  {
    const fake::setting s("FAKE_CUDA_LAUNCH", "719");
    CHECK_THROWS_WITH_AS(op(dx, dy), doctest::Contains("error 719"), build_error);
  }
  op(dx, dy);  // nothing was lost

  const tuned other{rows_softmax, untuned()};
  {
    const fake::setting s("FAKE_CUDA_LOAD", "209");
    CHECK_THROWS_AS(other(dx, dy), build_error);
  }
  other(dx, dy);
  const tuned stored{rows_softmax, [] {
                       tuned_options o = untuned();
                       o.mode = mode::miss_error;
                       return o;
                     }()};
  CHECK_THROWS_WITH_AS(stored(dx, dy), doctest::Contains("miss_error"), argument_error);
}

TEST_CASE("without a device a call on one says so, and calls on the host go on") {
  if (!ready()) return;
  const tuned op{rows_softmax, untuned()};
  const elements<> x = drawn(6 * 40), y(6 * 40);
  const auto dx = on_device(x.data(), {6, 40}), dy = on_device(y.data(), {6, 40});
  for (const auto& [name, value] :
       {std::pair{"FAKE_CUDA_DEVICES", "0"}, std::pair{"FAKE_CUDA_INIT", "100"}}) {
    const fake::setting s(name, value);
    CHECK_THROWS_WITH_AS(op(dx, dy),
                         doctest::Contains("rows_softmax: its arrays are said to lie on a GPU, and "
                                           "this process may use none; pass arrays of the host"),
                         build_error);
  }
  {
    const fake::setting s("FAKE_CUDA_INIT", "34");
    CHECK_THROWS_WITH_AS(op(dx, dy), doctest::Contains("the toolkit's stub for linking"),
                         build_error);
  }
  {
    const fake::setting s("FAKE_CUDA_INIT", "3");
    CHECK_THROWS_WITH_AS(op(dx, dy), doctest::Contains("does not start: error 3"), build_error);
  }
  op(view(x.data(), {6, 40}), view(y.data(), {6, 40}));
  CHECK(static_cast<double>(y[0]) > 0);
  op(dx, dy);
}

TEST_CASE("arrays on the second device run there") {
  if (!ready()) return;
  const fake::setting two("FAKE_CUDA_DEVICES", "2");
  const tuned op{rows_softmax, untuned()};
  const elements<> x = drawn(6 * 40), y(6 * 40);
  const auto dx = on_device(x.data(), {6, 40}), dy = on_device(y.data(), {6, 40});
  op(dx, dy);
  const fake::setting second("FAKE_CUDA_POINTER_DEVICE", "1");
  op(dx, dy);  // a kernel of its own: that of the first device would refuse
  CHECK(op.report(dx, dy).find("on fake") != std::string::npos);
}

TEST_CASE("indices that lie on a device are looked at when their address is new") {
  if (!ready()) return;
  const auto make = [](pattern_check when) {
    tuned_options o = untuned();
    o.patterns = when;
    return tuned{gather, o};
  };
  const elements<> t = drawn(5 * 8), y(3 * 8);
  elements<std::int32_t> good(3, 4), bad(3, 5);
  const auto dt = on_device(t.data(), {5, 8}), dy = on_device(y.data(), {3, 8});
  const auto dgood = on_device(good.data(), {3}), dbad = on_device(bad.data(), {3});
  const char* const said = "\"at\"[0] is 5; as an index it must be in [0, 4]";
  {
    const auto op = make(pattern_check::once);
    CHECK_THROWS_WITH_AS(op(dt, dbad, dy), doctest::Contains(said), argument_error);
    op(dt, dgood, dy);
    CHECK_THROWS_WITH_AS(op(dt, dbad, dy), doctest::Contains(said), argument_error);
    const fake::setting recorded("FAKE_CUDA_CAPTURING", "1");
    op(dt, dgood, dy);  // they were looked at
    CHECK_THROWS_WITH_AS(op(dt, dbad, dy),
                         doctest::Contains("cannot be looked at while a graph records the stream"),
                         argument_error);
  }
  {
    const auto op = make(pattern_check::every_call);
    op(dt, dgood, dy);
    good[2] = -1;
    CHECK_THROWS_WITH_AS(op(dt, dgood, dy),
                         doctest::Contains("\"at\"[2] is -1; as an index it must be in [0, 4]"),
                         argument_error);
    good[2] = 4;
  }
  const auto op = make(pattern_check::never);
  op(dt, dbad, dy);  // the program says that it knows
}

TEST_CASE("a forked child is told to start another program") {
  if (!ready()) return;
  const tuned op{rows_softmax, untuned()};
  const elements<> x = drawn(6 * 40), y(6 * 40), z(8 * 40);
  const auto dx = on_device(x.data(), {6, 40}), dy = on_device(y.data(), {6, 40});
  op(dx, dy);
  const pid_t child = ::fork();
  if (child == 0) {
    int out = 0;
    for (const std::int64_t rows : {6, 7}) {  // one that is there, and one that is not
      try {
        op(on_device(z.data(), {rows, 40}), on_device(y.data(), {rows, 40}));
        out = 1;
      } catch (const argument_error& e) {
        if (std::string(e.what()).find("forked child") == std::string::npos) out = 2;
      }
    }
    ::_exit(out);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("in the background a call goes on when tuning fails, which the events tell") {
  if (!ready()) return;
  std::atomic<int> failures{0};
  tuned_options o = untuned();
  o.mode = mode::background;
  o.trials = 1;
  o.events = [&](const search::event& e) {
    if (e.what == search::event::kind::failure) ++failures;
  };
  const tuned op{rows_softmax, o};
  const elements<> x = drawn(6 * 40), y(6 * 40);
  const auto dx = on_device(x.data(), {6, 40}), dy = on_device(y.data(), {6, 40});
  op(dx, dy);
  op.wait();  // the fake computes nothing, which a session finds
  CHECK(failures == 1);
  op(dx, dy);
}
