#include <tilewright/cost/prior_file.hpp>

#include <tilewright/cost/model_kind.hpp>
#include <tilewright/learning.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "cost/tiled_copies.hpp"

using namespace tilewright;
using namespace tilewright::cost;

namespace {

std::string trained_text() {
  const tiled_copies::measured_set all = tiled_copies::copies(1, 4);
  tree_model m;
  m.update(all.samples);
  m.train();
  return prior_text("trees", m);
}

/// A file that lives as long as this.
struct temporary {
  std::string path =
      (std::filesystem::temp_directory_path() / "tilewright_prior_test.prior").string();
  explicit temporary(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  ~temporary() { std::remove(path.c_str()); }
};

}  // namespace

TEST_CASE("a prior of every kind comes back from its text") {
  const tiled_copies::measured_set all = tiled_copies::copies(1, 4);
  for (const char* kind : {"trees", "graph_network", "mlp"}) {
    INFO(kind);
    const auto m = make_model(kind, 3);
    m->update(all.samples);
    const std::string text = prior_text(kind, *m);
    CHECK(model_of_prior(text)->save() == m->save());
    CHECK(prior_text(kind, *model_of_prior(text)) == text);
  }
}

TEST_CASE("what is damaged or foreign is a problem in words, and never a model") {
  const std::string text = trained_text();
  const temporary good(text);
  CHECK(load_prior(good.path).model);
  CHECK(load_prior(good.path).problem.empty());
  std::string flipped = text, kind = text, version = text;
  flipped[text.size() - 5] = flipped[text.size() - 5] == '1' ? '2' : '1';
  kind.replace(kind.find("trees"), 5, "treez");
  version.replace(version.find(" 1 "), 3, " 2 ");
  for (const std::string& bad : {std::string(), std::string("not a prior"), flipped, kind, version,
                                 text.substr(0, text.size() / 2), text + " "}) {
    const temporary file(bad);
    const loaded_prior p = load_prior(file.path);
    CHECK_FALSE(p.model);
    CHECK(p.problem.find(file.path) != std::string::npos);
  }
  CHECK_FALSE(load_prior("/nowhere/no.prior").problem.empty());
}

TEST_CASE("no cut and no changed byte of a prior is more than a refusal") {
  const std::string text = trained_text();
  support::random r(6);
  for (int n = 0; n < 400; ++n) {
    std::string bad = text.substr(0, r.below(2) == 0 ? text.size() : r.below(text.size()));
    for (std::uint64_t k = r.below(4); k > 0 && !bad.empty(); --k)
      bad[r.below(bad.size())] = static_cast<char>(r.below(256));
    if (bad == text) continue;
    CHECK_THROWS_AS(model_of_prior(bad), argument_error);
  }
}
