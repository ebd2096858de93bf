#include <tilewright/impl/search/database/sqlite_page.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <tilewright/support/random.hpp>

using namespace tilewright::search::sqlite_page;
using namespace std::string_literals;

namespace {

std::uint64_t only_varint(const std::string& bytes) {
  std::size_t at = 0;
  std::uint64_t out = 0;
  REQUIRE(varint(bytes, at, out));
  CHECK(at == bytes.size());
  return out;
}

/// A leaf of a table with the cells `rows`, each "size, row number, bytes".
std::string page_of(const std::vector<std::string>& rows, std::size_t size) {
  std::string out(size, '\0');
  std::size_t end = size;
  out[0] = 13;
  out[4] = static_cast<char>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    end -= rows[i].size();
    out.replace(end, rows[i].size(), rows[i]);
    out[8 + 2 * i] = static_cast<char>(end >> 8);
    out[9 + 2 * i] = static_cast<char>(end);
  }
  return out;
}

}  // namespace

TEST_CASE("numbers of one to nine bytes") {
  CHECK(only_varint("\x00"s) == 0);
  CHECK(only_varint("\x7f") == 127);
  CHECK(only_varint("\x81\x00"s) == 128);
  CHECK(only_varint("\xff\x7f") == 0x3fff);
  CHECK(only_varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff") == UINT64_MAX);
  for (const std::string& cut : {""s, "\x81"s, "\xff\xff\xff\xff\xff\xff\xff\xff"s}) {
    std::size_t at = 0;
    std::uint64_t out = 0;
    CHECK_FALSE(varint(cut, at, out));
    CHECK(at == 0);
  }
}

TEST_CASE("a row has columns of every type") {
  // head of 11 bytes, then the types of null, -2, 0x0102, 7.5, 0, 1, "ab", x'ff' and 2^40
  const std::string row =
      "\x0a\x00\x01\x02\x07\x08\x09\x11\x0e\x05"
      "\xfe\x01\x02\x40\x1e\x00\x00\x00\x00\x00\x00"
      "ab\xff\x01\x00\x00\x00\x00\x00"s;
  const auto columns = read_row(row);
  REQUIRE(columns);
  REQUIRE(columns->size() == 9);
  using kind = value::kind;
  CHECK((*columns)[0].is == kind::null);
  CHECK((*columns)[1].integer == -2);
  CHECK((*columns)[2].integer == 0x0102);
  CHECK((*columns)[3].is == kind::real);
  CHECK((*columns)[3].real == 7.5);
  CHECK((*columns)[4].integer == 0);
  CHECK((*columns)[5].integer == 1);
  CHECK((*columns)[6].is == kind::text);
  CHECK((*columns)[6].bytes == "ab");
  CHECK((*columns)[7].is == kind::blob);
  CHECK((*columns)[7].bytes == "\xff");
  CHECK((*columns)[8].integer == std::int64_t{1} << 40);
  for (std::size_t cut = 0; cut < row.size(); ++cut) CHECK_FALSE(read_row(row.substr(0, cut)));
  CHECK_FALSE(read_row("\x02\x0a"s));                                  // a type that does not exist
  CHECK_FALSE(read_row("\x02\xff"s));                                  // a type that does not end
  CHECK_FALSE(read_row("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff"s));  // a width of 2^63
  CHECK_FALSE(read_row("\x00"s));
}

TEST_CASE("cells lie where their page says, or are none") {
  const std::string row =
      "\x02\x11"
      "ab"s;  // one column, "ab"
  const std::string page = page_of({"\x04\x07"s + row, "\x04\x81\x00"s + row}, 512);
  const leaf two(page, 512, false);
  REQUIRE(two.size() == 2);
  CHECK(two.plausible());
  std::string full = page;
  const std::size_t content = 512 - 6 - 7;
  full[5] = static_cast<char>(content >> 8), full[6] = static_cast<char>(content & 0xff);
  CHECK(leaf(full, 512, false).filled());
  for (std::size_t bit = 8; bit < 12 * 8; ++bit) {
    std::string flipped = full;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    CHECK_FALSE(leaf(flipped, 512, false).filled());
  }
  REQUIRE(two.at(0));
  CHECK(two.at(0)->rowid == 7);
  CHECK(two.at(0)->here == row);
  CHECK(two.at(0)->beyond == 0);
  CHECK(two.at(1)->rowid == 128);
  CHECK_FALSE(two.at(2));
  CHECK(leaf(page, 4096, false).size() == 0);  // a page that is cut
  CHECK(leaf(page, 512, true).size() == 0);    // whose head is expected elsewhere
  std::string bad = page;
  bad[8] = 0, bad[9] = 3;  // a cell in the head
  CHECK_FALSE(leaf(bad, 512, false).at(0));
  bad[8] = 1, bad[9] = '\xff';  // and one that the page cuts off
  CHECK_FALSE(leaf(bad, 512, false).at(0));
  bad = page;
  bad[3] = 1;  // 258 cells
  CHECK(leaf(bad, 512, false).size() == 0);
}

TEST_CASE("a long row goes on elsewhere") {
  // 1000 bytes on pages of 512: 483 would fit, 112 + (1000 - 112) % 508 = 492 is more, so 112 stay
  const std::size_t least = (512 - 12) * 32 / 255 - 23;
  const std::size_t local =
      least + (1000 - least) % 508 <= 477 ? least + (1000 - least) % 508 : least;
  const std::string cell = "\x87\x68\x01"s + std::string(local, 'x') + "\x00\x00\x00\x09"s;
  const std::string page = page_of({cell}, 512);
  const auto found = leaf(page, 512, false).at(0);
  REQUIRE(found);
  CHECK(found->size == 1000);
  CHECK(found->here == std::string(local, 'x'));
  CHECK(found->beyond == 9);
}

TEST_CASE("whatever the bytes are, what comes out of a page lies in it") {
  tilewright::support::random random(5);
  std::size_t cells = 0, rows = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string page = page_of({"\x04\x07\x02\x11"
                                "ab"s,
                                "\x06\x01\x03\x00\x17"
                                "abcde"s,
                                "\x83\x00\x01"s + std::string(384, '\x11')},
                               512);
    const bool noise = random.below(2) == 0;
    for (std::uint64_t flips = random.below(noise ? 500 : 12); flips > 0; --flips)
      page[random.below(noise ? 512 : 32)] ^= static_cast<char>(1 + random.below(255));
    page[0] = 13;
    const std::size_t usable = 512 - random.below(4) * 8;
    const leaf l(page, usable, false);
    for (std::size_t i = 0; i < l.size(); ++i) {
      const auto c = l.at(i);
      if (!c) continue;
      ++cells;
      const char* begin = page.data();
      CHECK((c->here.data() >= begin && c->here.data() + c->here.size() <= begin + usable));
      CHECK(c->here.size() <= c->size);
      const auto row = read_row(c->here);
      if (!row) continue;
      ++rows;
      for (const value& v : *row)
        CHECK((v.bytes.empty() ||
               (v.bytes.data() >= c->here.data() &&
                v.bytes.data() + v.bytes.size() <= c->here.data() + c->here.size())));
    }
  }
  CHECK(cells > 1000);
  CHECK(rows > 100);
}

TEST_CASE("the head of a file") {
  CHECK_FALSE(read_header(std::string(99, '\0')));
  std::string head(100, '\0');
  head.replace(0, 16, magic);
  head[16] = 0x10;
  head[20] = 32;
  head[31] = 7;
  head.replace(68, 4, "TWDB");
  const auto h = read_header(head);
  REQUIRE(h);
  CHECK(h->has_magic);
  CHECK(h->page_size == 4096);
  CHECK(h->reserved == 32);
  CHECK(h->pages == 7);
  CHECK(h->counts_pages);
  CHECK(h->application == 0x54574442);
  head[17] = 1;
  CHECK(read_header(head)->page_size == 0);
  head[16] = 0;
  CHECK(read_header(head)->page_size == 65536);
}
