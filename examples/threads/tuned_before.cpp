// A thread with a deadline: the energies of a sound in bands of frequencies, block after block. Three kernels are
// tuned before it begins; the thread runs what was found, and is refused what was not.
#include <tilewright/tilewright.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using namespace tw;

namespace {

constexpr int width = 400, hop = 160, bins = 201, bands = 40;  // samples of a frame, between frames
constexpr axis<"t"> t;
constexpr axis<"n"> n;
constexpr axis<"f"> f;
constexpr axis<"b"> b;
constexpr axis<"c"> c;

constexpr auto framed =
    kernel<"framed">([](in<"sound", float, "S"> sound, in<"window", float, width> window,
                        out<"frames", float, "T", width> frames) {
      return frames(t, n) = sound(t * hop + n) * window(n);
    });

constexpr auto spectrum = kernel<"spectrum">([](in<"frames", float, "T", width> frames,
                                                weight<"waves", float, width, bins, 2> waves,
                                                out<"X", float, "T", bins, 2> X) {
  return X(t, f, c) = sum<n>(frames(t, n) * waves(n, f, c));
});

constexpr auto energies = kernel<"energies">([](in<"X", float, "T", bins, 2> X,
                                                weight<"shares", float, bands, bins> shares,
                                                out<"E", float, "T", bands> E) {
  return E(t, b) = log(max(
             sum<f>(shares(b, f) * (X(t, f, 0) * X(t, f, 0) + X(t, f, 1) * X(t, f, 1))), 1e-9f));
});

/// What the kernels multiply by.
struct tables {
  std::vector<float> window = std::vector<float>(width),
                     waves = std::vector<float>(std::size_t{width} * bins * 2),
                     shares = std::vector<float>(std::size_t{bands} * bins);
  tables() {
    constexpr double turn = 2 * 3.14159265358979323846;
    for (int i = 0; i < width; ++i) {
      window[static_cast<std::size_t>(i)] =
          static_cast<float>(0.5 - 0.5 * std::cos(turn * i / width));
      for (int k = 0; k < bins; ++k) {
        const auto at = static_cast<std::size_t>((i * bins + k) * 2);
        waves[at] = static_cast<float>(std::cos(turn * i * k / width));
        waves[at + 1] = static_cast<float>(-std::sin(turn * i * k / width));
      }
    }
    for (int i = 0; i < bands; ++i)
      for (int k = 0; k < bins; ++k)
        shares[static_cast<std::size_t>(i * bins + k)] =
            std::max(0.0f, 1 - std::abs(static_cast<float>(k - 5 * i)) / 5);
  }
};

constexpr std::int64_t samples(std::int64_t frames) { return (frames - 1) * hop + width; }

/// The three kernels for blocks of `frames` frames, as one function of a block of the sound and its energies.
auto analyzer(const tables& of, std::int64_t frames, const tuned_options& how) {
  const tuned cut{framed, how};
  const auto transform =
      tuned{spectrum, how}.with<"waves">(view(of.waves.data(), {width, bins, 2}));
  const auto gather = tuned{energies, how}.with<"shares">(view(of.shares.data(), {bands, bins}));
  cut.warm_at({{"S", samples(frames)}, {"T", frames}});
  transform.warm_at({{"T", frames}});
  gather.warm_at({{"T", frames}});
  std::vector<float> cuts(static_cast<std::size_t>(frames * width));
  std::vector<std::complex<float>> spectra(static_cast<std::size_t>(frames * bins));
  return [=, window = of.window](const std::vector<float>& sound, std::vector<float>& out) mutable {
    const auto C = view(cuts.data(), {frames, width});
    const auto X = view(reinterpret_cast<float*>(spectra.data()), {frames, bins, 2});
    cut(sound, window, C);
    transform(C, X);
    gather(X, view(out.data(), {frames, bands}));
  };
}

}  // namespace

int main() {
  const tables all;
  const std::string file = "tuned_before.db";
  // when the program is installed: searches what the file does not have yet
  analyzer(all, 8, {.trials = 8, .database = file, .threads = 1});
  // when it begins: reads what was found, or refuses
  auto analyze = analyzer(all, 8, {.database = file, .mode = mode::miss_error, .threads = 1});

  std::vector<float> sound(static_cast<std::size_t>(samples(8))), out(8 * bands);
  for (std::size_t i = 0; i < sound.size(); ++i)
    sound[i] = static_cast<float>(std::sin(2 * 3.14159265 * 1000 * static_cast<double>(i) / 16000));
  double longest = 0;  // s
  std::thread deadline([&] {
    for (int block = 0; block < 50; ++block) {
      const auto begin = std::chrono::steady_clock::now();
      analyze(sound, out);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      longest = std::max(longest, took.count());
    }
  });
  deadline.join();
  const auto loudest = std::max_element(out.begin(), out.begin() + bands) - out.begin();
  std::printf("8 frames take %.0f us at most; 1 kHz is in band %d\n", longest * 1e6,
              static_cast<int>(loudest));

  bool refused = false;
  try {
    analyzer(all, 9, {.database = file, .mode = mode::miss_error, .threads = 1});
  } catch (const argument_error& e) {
    std::printf("%s\n", e.what());
    refused = true;
  }
  return loudest == 5 && refused ? 0 : 1;
}
