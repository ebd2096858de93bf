#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <tilewright/backend/loader.hpp>
#include <tilewright/impl/backend/aarch64_relocation.hpp>
#include <tilewright/impl/backend/elf.hpp>
#include <tilewright/impl/backend/foreign_code.hpp>
#include <tilewright/ir/external.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend {
namespace detail::loader_parts {

/// Kinds of relocation (psABI table 4.9) that code of the small position-independent model uses.
enum : std::uint32_t {
  r_64 = 1,
  r_pc32 = 2,
  r_plt32 = 4,
  r_gotpcrel = 9,
  r_32 = 10,
  r_32s = 11,
  r_pc64 = 24,
  r_gotpcrelx = 41,
  r_rex_gotpcrelx = 42
};

inline constexpr std::size_t stub_bytes = 16;

inline std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

/// Unmaps unless it is released.
struct mapping {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  ~mapping() {
    if (base) munmap(base, bytes);
  }
};

/// One object on its way into memory. Layout, each part on pages of its own:
/// guard | code, stubs | constants, table of external addresses | guard.
class image {
 public:
  /// Of either architecture: bytes are put in place, and nothing is run.
  explicit image(const artifact& a)
      : object_(a.object.data(), a.object.size()),
        aarch64_(object_.machine() == elf::machine_aarch64) {
    collect_symbols();
    place_sections();
    map();
    copy_sections();
    for (std::size_t i = 0; i < object_.sections().size(); ++i) relocate(object_.sections()[i]);
    protect();
  }

  void* entry(const std::string& symbol) const {
    for (const elf::symbol_entry& s : symbols_) {
      if (s.section == elf::undefined_section || s.section >= placed_.size() || !placed_[s.section])
        continue;
      if (object_.string(names_, s.name) != symbol) continue;
      const elf::section_header& home = object_.sections()[s.section];
      if (!(home.flags & elf::flag_exec) || s.value >= home.size)
        elf::refuse("its entry is no code");
      return memory_.base + *placed_[s.section] + s.value;
    }
    elf::refuse("it has no function " + symbol);
  }

  std::size_t used() const { return memory_.bytes - 2 * page; }
  mapping release() { return {std::exchange(memory_.base, nullptr), memory_.bytes}; }

 private:
  void collect_symbols() {
    for (const elf::section_header& s : object_.sections()) {
      if (s.type != elf::section_symtab) continue;
      if (!symbols_.empty()) elf::refuse("it has two symbol tables");
      symbols_ = object_.entries<elf::symbol_entry>(s);
      names_ = s.link;
    }
    // Every external gets a slot with its address, and a stub that jumps there, as it may lie
    // anywhere.
    for (std::size_t i = 1; i < symbols_.size(); ++i) {
      const elf::symbol_entry& s = symbols_[i];
      if (s.section != elf::undefined_section || s.name == 0) continue;
      const std::string name(object_.string(names_, s.name));
      if (name == "_GLOBAL_OFFSET_TABLE_") continue;
      void* address = external_symbol(name);
      if (!address)
        throw build_error("object code needs the function " + name +
                          ", which kernels may not call unless ir::add_external makes it known");
      slot_of_.emplace(i, externals_.size());
      externals_.push_back(address);
    }
  }

  bool wanted(const elf::section_header& s) const {
    if (!(s.flags & elf::flag_alloc) || s.size == 0) return false;
    const std::string_view name = object_.section_name(s);
    if (name == ".eh_frame" || name.substr(0, 5) == ".note")
      return false;  // nothing unwinds kernels
    if (s.type != elf::section_progbits && s.type != elf::section_nobits) return false;
    if (s.flags & (elf::flag_tls | elf::flag_write)) {
      if (name != ".data.rel.ro")
        elf::refuse("section " + std::string(name) + " is writable; kernels have no variables");
    }
    return true;
  }

  void place_sections() {
    placed_.resize(object_.sections().size());
    std::size_t end = page;
    const auto place_all = [&](bool code) {
      for (std::size_t i = 0; i < placed_.size(); ++i) {
        const elf::section_header& s = object_.sections()[i];
        if (!wanted(s) || ((s.flags & elf::flag_exec) != 0) != code) continue;
        end = round_up(end, std::max<std::size_t>(static_cast<std::size_t>(s.alignment), 1));
        placed_[i] = end;
        end += static_cast<std::size_t>(s.size);
        if (end > elf::most_bytes) elf::refuse("its sections are larger than 256 MiB");
      }
    };
    place_all(true);
    stubs_ = round_up(end, stub_bytes);
    code_end_ = end = round_up(stubs_ + externals_.size() * stub_bytes, page);
    place_all(false);
    slots_ = round_up(end, 8);
    data_end_ = round_up(slots_ + externals_.size() * 8, page);
  }

  void map() {
    memory_.bytes = data_end_ + page;
    void* base =
        mmap(nullptr, memory_.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      throw build_error("no memory for " + std::to_string(memory_.bytes) +
                        " bytes of code: " + std::strerror(errno));
    memory_.base = static_cast<std::byte*>(base);
  }

  void copy_sections() {
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const elf::section_header& s = object_.sections()[i];
      if (placed_[i] && s.type == elf::section_progbits)
        std::memcpy(memory_.base + *placed_[i], object_.bytes_of(s),
                    static_cast<std::size_t>(s.size));
    }
    for (std::size_t i = 0; i < externals_.size(); ++i) {
      std::memcpy(memory_.base + slots_ + 8 * i, &externals_[i], 8);
      std::byte* stub = memory_.base + stubs_ + stub_bytes * i;
      if (aarch64_) {
        aarch64::write_stub(stub, externals_[i]);
        continue;
      }
      // jmp *[rip + displacement]
      const auto displacement = static_cast<std::int32_t>(slots_ + 8 * i) -
                                static_cast<std::int32_t>(stubs_ + stub_bytes * i + 6);
      stub[0] = std::byte{0xff};
      stub[1] = std::byte{0x25};
      std::memcpy(stub + 2, &displacement, 4);
    }
  }

  std::uint64_t address_of(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(memory_.base) + offset;
  }

  /// Where a symbol lies; externals at their stub.
  std::uint64_t target(std::size_t number) const {
    if (number == 0 || number >= symbols_.size()) elf::refuse("a relocation has no symbol");
    const auto external = slot_of_.find(number);
    if (external != slot_of_.end()) return address_of(stubs_ + stub_bytes * external->second);
    const elf::symbol_entry& s = symbols_[number];
    if (s.section >= placed_.size() || !placed_[s.section])
      elf::refuse("a relocation points to nothing that is loaded");
    if (s.value > object_.sections()[s.section].size) elf::refuse("a symbol leaves its section");
    return address_of(*placed_[s.section] + static_cast<std::size_t>(s.value));
  }

  template <class Word>
  static void write(std::byte* to, std::int64_t value, bool is_unsigned = false) {
    const bool fits =
        is_unsigned ? value >= 0 && value <= std::int64_t{std::numeric_limits<std::uint32_t>::max()}
                    : value >= std::int64_t{std::numeric_limits<Word>::min()} &&
                          value <= std::int64_t{std::numeric_limits<Word>::max()};
    if (!fits) elf::refuse("a relocation does not reach its target");
    const auto word = static_cast<Word>(value);
    std::memcpy(to, &word, sizeof word);
  }

  void relocate(const elf::section_header& table) {
    if (table.type != elf::section_rela || table.info >= placed_.size() || !placed_[table.info])
      return;
    const elf::section_header& section = object_.sections()[table.info];
    for (const elf::relocation_entry& r : object_.entries<elf::relocation_entry>(table)) {
      const auto kind = static_cast<std::uint32_t>(r.info);
      const auto number = static_cast<std::size_t>(r.info >> 32);
      const bool wide = kind == r_64 || kind == r_pc64;
      const std::uint64_t width = aarch64_ ? aarch64::width(kind) : wide ? 8 : 4;
      if (section.type != elf::section_progbits || section.size < width ||
          r.offset > section.size - width)
        elf::refuse("a relocation leaves its section");
      apply(kind, number, r.addend, *placed_[table.info] + static_cast<std::size_t>(r.offset));
    }
  }

  /// Address of the slot that holds the address of an external.
  std::uint64_t slot(std::size_t number) const {
    const auto external = slot_of_.find(number);
    if (external == slot_of_.end())
      elf::refuse("a relocation wants the table slot of something that is not external");
    return address_of(slots_ + 8 * external->second);
  }

  void apply(std::uint32_t kind, std::size_t number, std::int64_t addend, std::size_t offset) {
    std::byte* to = memory_.base + offset;
    if (aarch64_) {
      const std::uint64_t symbol = aarch64::wants_slot(kind) ? slot(number) : target(number);
      return aarch64::relocate(kind, to, address_of(offset),
                               symbol + static_cast<std::uint64_t>(addend));
    }
    const auto difference = [&](std::uint64_t from, std::uint64_t minus) {
      return static_cast<std::int64_t>(from + static_cast<std::uint64_t>(addend) - minus);
    };
    const std::uint64_t here = address_of(offset);
    switch (kind) {
      case r_64: return write<std::int64_t>(to, difference(target(number), 0));
      case r_pc64: return write<std::int64_t>(to, difference(target(number), here));
      case r_pc32:
      case r_plt32: return write<std::int32_t>(to, difference(target(number), here));
      case r_32: return write<std::int32_t>(to, difference(target(number), 0), true);
      case r_32s: return write<std::int32_t>(to, difference(target(number), 0));
      case r_gotpcrel:
      case r_gotpcrelx:
      case r_rex_gotpcrelx: return write<std::int32_t>(to, difference(slot(number), here));
      default:
        throw build_error("object code uses relocation type " + std::to_string(kind) +
                          ", which the loader does not know");
    }
  }

  void protect() {
    const auto set = [&](std::size_t from, std::size_t to, int protection) {
      if (from != to && mprotect(memory_.base + from, to - from, protection) != 0)
        throw build_error(std::string("memory cannot be made executable: ") + std::strerror(errno));
    };
    set(0, page, PROT_NONE);
    set(page, code_end_, PROT_READ | PROT_EXEC);
    set(code_end_, data_end_, PROT_READ);
    set(data_end_, memory_.bytes, PROT_NONE);
    auto* code = reinterpret_cast<char*>(memory_.base);
    __builtin___clear_cache(code + page, code + code_end_);
  }

  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));  // bytes
  elf::reader object_;
  bool aarch64_;
  std::vector<elf::symbol_entry> symbols_;
  std::uint32_t names_ = 0;
  std::map<std::size_t, std::size_t> slot_of_;  // symbol number -> external number
  std::vector<void*> externals_;
  std::vector<std::optional<std::size_t>> placed_;  // offset of each section in the mapping
  std::size_t stubs_ = 0, slots_ = 0, code_end_ = 0, data_end_ = 0;
  mapping memory_;
};

struct external {
  std::string_view name;
  void* address;
};

using unary_f32 = float (*)(float);
using unary_f64 = double (*)(double);
using binary_f32 = float (*)(float, float);
using binary_f64 = double (*)(double, double);

template <class Function>
void* address(Function f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace detail::loader_parts

TILEWRIGHT_INLINE void* external_symbol(std::string_view name) {
  using namespace detail::loader_parts;
  const support::fork_pass inside;
  static const std::array table{
      external{"memcpy",
               address(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memcpy))},
      external{"memmove",
               address(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memmove))},
      external{"memset", address(static_cast<void* (*)(void*, int, std::size_t)>(&std::memset))},
      external{"fmaf", address(static_cast<float (*)(float, float, float)>(&::fmaf))},
      external{"fma", address(static_cast<double (*)(double, double, double)>(&::fma))},
      external{"powf", address(static_cast<binary_f32>(&::powf))},
      external{"pow", address(static_cast<binary_f64>(&::pow))},
      external{"atan2f", address(static_cast<binary_f32>(&::atan2f))},
      external{"atan2", address(static_cast<binary_f64>(&::atan2))},
      external{"fmodf", address(static_cast<binary_f32>(&::fmodf))},
      external{"fmod", address(static_cast<binary_f64>(&::fmod))},
      external{"hypotf", address(static_cast<binary_f32>(&::hypotf))},
      external{"hypot", address(static_cast<binary_f64>(&::hypot))},
      external{"nextafterf", address(static_cast<binary_f32>(&::nextafterf))},
      external{"nextafter", address(static_cast<binary_f64>(&::nextafter))},
#define TILEWRIGHT_EXTERNAL(name)                            \
  external{#name, address(static_cast<unary_f64>(&::name))}, \
      external{#name "f", address(static_cast<unary_f32>(&::name##f))}
      TILEWRIGHT_EXTERNAL(exp),
      TILEWRIGHT_EXTERNAL(exp2),
      TILEWRIGHT_EXTERNAL(expm1),
      TILEWRIGHT_EXTERNAL(log),
      TILEWRIGHT_EXTERNAL(log2),
      TILEWRIGHT_EXTERNAL(log10),
      TILEWRIGHT_EXTERNAL(log1p),
      TILEWRIGHT_EXTERNAL(sin),
      TILEWRIGHT_EXTERNAL(cos),
      TILEWRIGHT_EXTERNAL(tan),
      TILEWRIGHT_EXTERNAL(asin),
      TILEWRIGHT_EXTERNAL(acos),
      TILEWRIGHT_EXTERNAL(atan),
      TILEWRIGHT_EXTERNAL(sinh),
      TILEWRIGHT_EXTERNAL(cosh),
      TILEWRIGHT_EXTERNAL(tanh),
      TILEWRIGHT_EXTERNAL(asinh),
      TILEWRIGHT_EXTERNAL(acosh),
      TILEWRIGHT_EXTERNAL(atanh),
      TILEWRIGHT_EXTERNAL(erf),
      TILEWRIGHT_EXTERNAL(cbrt),
      TILEWRIGHT_EXTERNAL(floor),
      TILEWRIGHT_EXTERNAL(ceil),
      TILEWRIGHT_EXTERNAL(trunc),
      TILEWRIGHT_EXTERNAL(rint),
      TILEWRIGHT_EXTERNAL(nearbyint),
      TILEWRIGHT_EXTERNAL(round),
      TILEWRIGHT_EXTERNAL(sqrt),
#undef TILEWRIGHT_EXTERNAL
  };
  for (const external& e : table)
    if (e.name == name) return e.address;
  const auto added = ir::find_external(name);
  return added ? added->address : nullptr;
}

TILEWRIGHT_INLINE std::shared_ptr<const loaded> load(const artifact& a) {
  detail::check_machine(a);
  detail::loader_parts::image image(a);
  std::shared_ptr<loaded> out(new loaded);
  out->entry_ = reinterpret_cast<backend::entry>(image.entry(a.symbol));
  out->code_bytes_ = image.used();
  out->workspace_bytes_ = a.workspace_bytes;
  out->packed_bytes_ = a.packed_bytes;
  if (!a.preparation.empty()) out->preparation_ = load(a.preparation.front());
  detail::loader_parts::mapping memory = image.release();
  out->mapping_ = std::exchange(memory.base, nullptr);
  out->mapping_bytes_ = memory.bytes;
  return out;
}

TILEWRIGHT_INLINE loaded::~loaded() {
  if (mapping_) munmap(mapping_, mapping_bytes_);
}

}  // namespace tilewright::backend
