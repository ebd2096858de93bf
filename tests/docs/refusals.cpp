// Sections of docs/primitives/ end with a program of at most five lines for every requirement, which
// breaks it; what is said then stands there word for word.
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

#include "requirements.hpp"
#include "sections.hpp"

using namespace tilewright;

namespace {

/// The function that all programs of the page stand in: its first block of code.
std::string head_of(const std::string& page) {
  const std::string text = docs::read_file(page), fence = "```python\n";
  const std::size_t from = text.find(fence) + fence.size();
  return text.substr(from, text.find("```", from) - from);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// The quoted lines of a section, without their marks.
std::vector<std::string> quotes_of(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(text))
    if (line.rfind("> ", 0) == 0) out.push_back(line.substr(2));
  return out;
}

using requirement_number = std::pair<std::string, int>;

/// What no trace can break: it has loops from blocks, and so a block below each.
const std::set<requirement_number> out_of_reach{{"loop_partition", 6}};

/// Requirements of another primitive that one calls: a refusal has the number that they have there.
const std::set<requirement_number> of_others{{"tensorize", 2}};

/// The requirement that the trace breaks; checks who says so, and how. A draw without sense is an
/// argument_error, which has no number: it gives `unnumbered`.
int broken(const ir::function& f, const std::string& steps, const std::string& primitive,
           const std::string& sentence, int unnumbered) {
  schedule s(f);
  const auto says = [&](const std::exception& e) {
    CHECK_MESSAGE(std::string(e.what()).find(sentence) != std::string::npos, "said is: ", e.what());
  };
  try {
    trace::parse(steps).apply_to(s);
  } catch (const schedule_error& e) {
    CHECK(e.primitive() == primitive);
    says(e);
    return e.requirement();
  } catch (const argument_error& e) {
    CHECK(primitive.rfind("sample_", 0) == 0);
    says(e);
    return unnumbered;
  }
  FAIL_CHECK("nothing is refused");
  return 0;
}

}  // namespace

TEST_CASE("requirements of primitives have short programs that break them") {
  int programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator("docs/primitives")) {
    const std::string page = entry.path().string(), head = head_of(page);
    for (const docs::section& documented : docs::sections_of(page)) {
      const std::string& name = documented.name;
      INFO(name);
      const docs::passage& s = documented.refused;
      const std::vector<std::string> sentences = quotes_of(s.text);
      REQUIRE(s.code.size() == 2 * sentences.size());
      std::set<int> shown;
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        INFO(sentences[i]);
        const std::vector<std::string> body = lines_of(s.code[2 * i]);
        CHECK(body.size() <= 5);
        std::string program = head;
        for (const std::string& line : body) program += "    " + line + "\n";
        const int number = broken(ir::parse(program), s.code[2 * i + 1], name, sentences[i],
                                  static_cast<int>(i) + 1);
        CHECK(shown.insert(number).second);
        ++programs;
      }
      for (const std::string& one : docs::numbered(documented.text)) {
        const requirement_number which{name, std::stoi(one)};
        const std::size_t excused = out_of_reach.count(which) + of_others.count(which);
        CHECK_MESSAGE(shown.count(which.second) + excused == 1, "no program breaks: ", one);
      }
    }
  }
  CHECK(programs > 200);  // the pages were found
}
