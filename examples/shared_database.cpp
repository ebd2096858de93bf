// A database is a file. What a colleague tuned is read from the team's; what is new goes to one's
// own; and a program that must not search runs what is recorded, or says what is missing.
#include <tilewright/tilewright.hpp>

#include <cstdio>
#include <filesystem>
#include <vector>

using namespace tw;

namespace {

constexpr auto matmul = kernel<"matmul">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

}  // namespace

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "tilewright_shared_database";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);

  std::vector<float> a(64 * 48, 0.5f), b(48 * 80, 2.0f), c(64 * 80);
  const auto A = view(a.data(), {64, 48}), B = view(b.data(), {48, 80});
  const auto C = view(c.data(), {64, 80});
  tuned colleague{matmul, {.seconds = 1, .trials = 24, .database = "team.db"}};
  colleague(A, B, C);

  tuned op{matmul, {.database = "mine.db:team.db", .mode = mode::miss_error}};
  op(A, B, C);  // found in the team's file
  std::printf("%s", op.report(A, B, C).c_str());
  try {
    op(A, view(b.data(), {48, 40}), view(c.data(), {64, 40}));
  } catch (const argument_error& missing) {
    std::printf("\nother extents: %s\n", missing.what());
    return c[0] == 48.0f ? 0 : 1;
  }
  return 1;
}
