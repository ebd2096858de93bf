// Reads ELF relocatable objects for x86-64 and AArch64 without trusting a byte of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tilewright/support/error.hpp>
#include <tilewright/support/refusal.hpp>

namespace tilewright::backend::detail::elf {

// Layouts and constants of the System V ABI; own ones, as <elf.h> defines thousands of macros.
struct file_header {
  unsigned char ident[16];
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, program_offset, section_offset;
  std::uint32_t flags;
  std::uint16_t header_size, program_size, program_count, section_size, section_count, name_section;
};
struct section_header {
  std::uint32_t name, type;
  std::uint64_t flags, address, offset, size;
  std::uint32_t link, info;
  std::uint64_t alignment, entry_size;
};
struct symbol_entry {
  std::uint32_t name;
  std::uint8_t info, other;
  std::uint16_t section;
  std::uint64_t value, size;
};
struct relocation_entry {
  std::uint64_t offset, info;
  std::int64_t addend;
};
static_assert(sizeof(file_header) == 64 && sizeof(section_header) == 64 &&
              sizeof(symbol_entry) == 24 && sizeof(relocation_entry) == 24);

inline constexpr std::uint32_t section_progbits = 1, section_symtab = 2, section_rela = 4,
                               section_nobits = 8;
inline constexpr std::uint64_t flag_write = 1, flag_alloc = 2, flag_exec = 4, flag_tls = 0x400;
inline constexpr std::uint16_t undefined_section = 0, absolute_section = 0xfff1;
inline constexpr std::uint16_t machine_x86_64 = 62, machine_aarch64 = 183;
inline constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;

inline constexpr support::refusal<build_error> refuse{"object code is malformed: "};

/// View of an object's bytes; every read is checked.
class reader {
 public:
  reader(const std::byte* bytes, std::size_t size) : bytes_(bytes), size_(size) {
    if (size_ > most_bytes) refuse("it is larger than 256 MiB");
    header_ = at<file_header>(0);
    static constexpr unsigned char ident[7] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    if (std::memcmp(header_.ident, ident, sizeof ident) != 0)
      refuse("it is no little-endian ELF64 file");
    if (header_.type != 1 ||
        (header_.machine != machine_x86_64 && header_.machine != machine_aarch64))
      refuse("it is no relocatable object for x86-64 or AArch64");
    if (header_.section_size != sizeof(section_header)) refuse("section headers have another size");
    for (std::uint64_t i = 0; i < header_.section_count; ++i) {
      sections_.push_back(at<section_header>(header_.section_offset, i));
      const section_header& s = sections_.back();
      if (s.type != section_nobits && (s.offset > size_ || s.size > size_ - s.offset))
        refuse("a section leaves the file");
      if (s.size > most_bytes) refuse("a section is larger than 256 MiB");
      if (s.alignment > 4096 || (s.alignment & (s.alignment - 1)) != 0)
        refuse("a section has a strange alignment");
    }
  }

  /// machine_x86_64 or machine_aarch64.
  std::uint16_t machine() const { return header_.machine; }
  const std::vector<section_header>& sections() const { return sections_; }
  const std::byte* bytes_of(const section_header& s) const { return bytes_ + s.offset; }

  template <class Entry>
  std::vector<Entry> entries(const section_header& s) const {
    if (s.type == section_nobits || s.entry_size != sizeof(Entry) || s.size % sizeof(Entry) != 0)
      refuse("a table has entries of another size");
    std::vector<Entry> out;
    for (std::uint64_t i = 0; i < s.size / sizeof(Entry); ++i)
      out.push_back(at<Entry>(s.offset, i));
    return out;
  }

  /// Zero-terminated string in the string table with index `table`.
  std::string_view string(std::uint32_t table, std::uint32_t offset) const {
    if (table >= sections_.size()) refuse("a string table is missing");
    const section_header& s = sections_[table];
    if (s.type == section_nobits || offset >= s.size) refuse("a name leaves its string table");
    const auto* text = reinterpret_cast<const char*>(bytes_ + s.offset + offset);
    const std::size_t most = static_cast<std::size_t>(s.size - offset);
    const void* end = std::memchr(text, 0, most);
    if (!end) refuse("a name does not end");
    return {text, static_cast<std::size_t>(static_cast<const char*>(end) - text)};
  }

  std::string_view section_name(const section_header& s) const {
    return string(header_.name_section, s.name);
  }

 private:
  template <class T>
  T at(std::uint64_t offset, std::uint64_t index = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (offset > size_ || index > size_ / sizeof(T) || index * sizeof(T) > size_ - offset ||
        size_ - offset - index * sizeof(T) < sizeof(T))
      refuse("it is cut short");
    T out;
    std::memcpy(&out, bytes_ + offset + index * sizeof(T), sizeof(T));
    return out;
  }

  const std::byte* bytes_;
  std::uint64_t size_;
  file_header header_{};
  std::vector<section_header> sections_;
};

}  // namespace tilewright::backend::detail::elf
