//===- Linker.cpp - object files as code of this process ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Links the object file of a model into the process, without a linker, a
// temporary file or the compiler. Each link has globals of its own, so a model
// can be loaded several times, with different weights.
//
// All sections lie in one reservation, so that they reach each other by 32-bit
// offsets. Symbols of other libraries may be anywhere: the code reaches them
// through a table of addresses and through stubs that jump there.
//
//   | code, stubs | constants, table of addresses | variables |
//     read, execute  read                           read, write
//
// Compiled code is position-independent, has no thread-local variables and no
// exceptions, so few kinds of relocations occur; others are errors. The object
// file is not trusted to be well-formed: every offset in it is checked.
//
// The steps share the state of one link, and relocations of two architectures
// stand next to each other, so the file is longer than most.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Linker.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr const char *kMachineName = "x86-64";
// jmp *offset(%rip), and two bytes of padding.
constexpr uint64_t kStubBytes = 8;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr const char *kMachineName = "AArch64";
// ldr x16, address; br x16; address: .quad
constexpr uint64_t kStubBytes = 16;
#else
#error "the runtime links code for x86-64 and AArch64"
#endif

constexpr uint64_t kAddressBytes = 8;

/// Functions of the runtime that compiled code calls.
struct {
  std::string_view name;
  void *address;
} const kRuntime[] = {
#define FUNCTION(name) {#name, reinterpret_cast<void *>(name)}
    FUNCTION(relax_rt_alloc),
    FUNCTION(relax_rt_retain),
    FUNCTION(relax_rt_release),
    FUNCTION(relax_rt_fail),
    FUNCTION(relax_rt_check_stack),
    FUNCTION(relax_rt_check_indices),
    FUNCTION(relax_rt_parallel_for),
    FUNCTION(relax_rt_call),
    FUNCTION(relax_rt_call_library),
    FUNCTION(relax_rt_make_closure),
    FUNCTION(relax_rt_bind_weights),
    FUNCTION(relax_rt_weights),
    FUNCTION(relax_rt_require_cpu),
    FUNCTION(relax_rt_unload_weights),
    FUNCTION(relax_rt_poll),
    FUNCTION(relax_rt_begin_kernel),
    FUNCTION(relax_rt_device_alloc),
    FUNCTION(relax_rt_device_scratch),
    FUNCTION(relax_rt_device_launch),
    FUNCTION(relax_rt_device_tensor_map),
    FUNCTION(relax_rt_device_constant),
    FUNCTION(relax_rt_device_read),
    FUNCTION(relax_rt_device_write),
    FUNCTION(relax_rt_device_unload),
    FUNCTION(_mlir_memref_to_llvm_alloc),
    FUNCTION(_mlir_memref_to_llvm_aligned_alloc),
    FUNCTION(_mlir_memref_to_llvm_free),
#undef FUNCTION
};

/// The parts of the reservation, by their protection.
enum Part { kCode, kConstants, kVariables, kParts };

/// Linked code, which lives until the object is destroyed.
class LinkedCode {
public:
  LinkedCode(std::string_view object, const char *names, void *const *addresses,
             int64_t count)
      : object(object) {
    for (int64_t i = 0; i < count; ++i, names += strlen(names) + 1)
      given.emplace_back(names, addresses[i]);
  }
  LinkedCode(const LinkedCode &) = delete;
  ~LinkedCode() {
    if (memory)
      munmap(memory, bytes);
  }

  /// Returns false with `error` set.
  bool link() {
    return readSections() && reserve() && copySections() && readSymbols() &&
           relocate() && protect();
  }

  /// Returns the address of a global symbol that the object defines, or null.
  void *find(std::string_view name) const {
    for (const auto &[known, address] : globals)
      if (known == name)
        return reinterpret_cast<void *>(address);
    return nullptr;
  }

  std::string error;

private:
  struct Symbol {
    std::string_view name;
    uint64_t address = 0;
    /// The stub of a symbol of another library; 0 for one of the object.
    uint64_t stub = 0;
  };

  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }

  /// Returns the `size` bytes at `offset` of the object as an array of `T`, or
  /// null if they are not inside it.
  template <typename T>
  const T *at(uint64_t offset, uint64_t count) const {
    if (offset > object.size() ||
        count > (object.size() - offset) / sizeof(T) || offset % alignof(T))
      return nullptr;
    return reinterpret_cast<const T *>(object.data() + offset);
  }

  /// Returns the zero-terminated string at `offset` of a string table.
  bool readName(const Elf64_Shdr &table, uint64_t offset,
                std::string_view &name) const {
    const char *text = at<char>(table.sh_offset, table.sh_size);
    if (table.sh_type != SHT_STRTAB || !text || offset >= table.sh_size)
      return false;
    name = {text + offset, strnlen(text + offset, table.sh_size - offset)};
    return name.size() < table.sh_size - offset;
  }

  bool isLoaded(const Elf64_Shdr &section) const {
    // Nothing unwinds compiled code, so its unwinding tables stay out.
    return section.sh_flags & SHF_ALLOC && !isUnwinding[&section - sections];
  }

  static Part partOf(const Elf64_Shdr &section) {
    return section.sh_flags & SHF_EXECINSTR ? kCode
           : section.sh_flags & SHF_WRITE   ? kVariables
                                            : kConstants;
  }

  bool readSections();
  bool reserve();
  bool copySections();
  bool readSymbols();
  bool readSymbol(const Elf64_Sym &from, const Elf64_Shdr &names, Symbol &to);
  void *lookUp(std::string_view name) const;
  uint64_t makeStub(uint64_t index);
  bool relocate();
  bool apply(const Elf64_Rela &entry, const Elf64_Shdr &section,
             uint64_t address);
  bool patch(uint32_t type, const Symbol &symbol, uint64_t slot, int64_t addend,
             uint64_t place, uint64_t room);
  bool protect();

  std::string_view object;
  std::vector<std::pair<std::string_view, void *>> given;

  const Elf64_Shdr *sections = nullptr;
  uint64_t sectionCount = 0;
  std::vector<bool> isUnwinding;
  const Elf64_Shdr *symbolTable = nullptr;

  char *memory = nullptr;
  uint64_t bytes = 0;
  uint64_t begins[kParts + 1] = {};
  /// The offset of each section in its part, then in the reservation.
  std::vector<uint64_t> offsets;
  uint64_t stubs = 0, table = 0;
  std::vector<Symbol> symbols;
  /// What `find` finds; the bytes of the object need not live as long.
  std::vector<std::pair<std::string, uint64_t>> globals;
};

uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace

bool LinkedCode::readSections() {
  const auto *header = at<Elf64_Ehdr>(0, 1);
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_REL ||
      header->e_shentsize != sizeof(Elf64_Shdr))
    return fail("it is not an object file (64-bit ELF)");
  if (header->e_machine != kMachine)
    return fail("it has code for machine " + std::to_string(header->e_machine) +
                " of ELF; expected " + kMachineName + ", " +
                std::to_string(kMachine));
  sections = at<Elf64_Shdr>(header->e_shoff, 1);
  // Where there are too many for the header, the first section has the number.
  if (sections)
    sectionCount = header->e_shnum ? header->e_shnum : sections->sh_size;
  if (!sections || !at<Elf64_Shdr>(header->e_shoff, sectionCount))
    return fail("its table of sections is outside of it");
  uint64_t names =
      header->e_shstrndx == SHN_XINDEX ? sections->sh_link : header->e_shstrndx;
  isUnwinding.resize(sectionCount);
  for (uint64_t i = 0; i < sectionCount; ++i) {
    const Elf64_Shdr &section = sections[i];
    if (i && section.sh_type != SHT_NOBITS &&
        !at<char>(section.sh_offset, section.sh_size))
      return fail("section " + std::to_string(i) + " is outside of it");
    std::string_view name;
    if (names >= sectionCount ||
        !readName(sections[names], section.sh_name, name))
      return fail("section " + std::to_string(i) + " has no name");
    isUnwinding[i] = name == ".eh_frame";
    if (section.sh_flags & SHF_TLS)
      return fail("it has thread-local variables");
    if (section.sh_type == SHT_INIT_ARRAY || section.sh_type == SHT_FINI_ARRAY)
      return fail("it has constructors or destructors");
    if (section.sh_type == SHT_SYMTAB)
      symbolTable = &section;
  }
  return symbolTable || fail("it has no symbols");
}

bool LinkedCode::reserve() {
  if (symbolTable->sh_entsize != sizeof(Elf64_Sym) ||
      !at<Elf64_Sym>(symbolTable->sh_offset,
                     symbolTable->sh_size / sizeof(Elf64_Sym)))
    return fail("its table of symbols is damaged");
  uint64_t symbolCount = symbolTable->sh_size / sizeof(Elf64_Sym);
  constexpr uint64_t kMost = uint64_t(1) << 40;
  uint64_t sizes[kParts] = {};
  offsets.resize(sectionCount);
  auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (uint64_t i = 0; i < sectionCount; ++i) {
    const Elf64_Shdr &section = sections[i];
    if (!isLoaded(section))
      continue;
    uint64_t alignment = section.sh_addralign ? section.sh_addralign : 1;
    if (alignment & (alignment - 1) || alignment > page ||
        section.sh_size > kMost)
      return fail("section " + std::to_string(i) + " has " +
                  std::to_string(section.sh_size) + " bytes, aligned to " +
                  std::to_string(alignment));
    uint64_t &size = sizes[partOf(section)];
    offsets[i] = size = alignTo(size, alignment);
    size += section.sh_size;
    if (size > kMost)
      return fail("its sections have more than " + std::to_string(kMost) +
                  " bytes");
  }
  stubs = sizes[kCode] = alignTo(sizes[kCode], kStubBytes);
  sizes[kCode] += symbolCount * kStubBytes;
  table = sizes[kConstants] = alignTo(sizes[kConstants], kAddressBytes);
  sizes[kConstants] += symbolCount * kAddressBytes;
  for (int part = 0; part < kParts; ++part)
    begins[part + 1] = begins[part] + alignTo(sizes[part], page);
  table += begins[kConstants];
  for (uint64_t i = 0; i < sectionCount; ++i)
    offsets[i] += begins[partOf(sections[i])];

  bytes = begins[kParts];
  if (bytes > INT32_MAX)
    return fail("its sections have " + std::to_string(bytes) +
                " bytes; offsets of 32 bits reach " +
                std::to_string(INT32_MAX));
  void *reserved = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED)
    return fail("no memory for its " + std::to_string(bytes) + " bytes");
  memory = static_cast<char *>(reserved);
  return true;
}

bool LinkedCode::copySections() {
  for (uint64_t i = 0; i < sectionCount; ++i)
    if (isLoaded(sections[i]) && sections[i].sh_type != SHT_NOBITS)
      memcpy(memory + offsets[i], object.data() + sections[i].sh_offset,
             sections[i].sh_size);
  return true;
}

bool LinkedCode::readSymbols() {
  uint64_t count = symbolTable->sh_size / sizeof(Elf64_Sym);
  const auto *entries = at<Elf64_Sym>(symbolTable->sh_offset, count);
  if (symbolTable->sh_link >= sectionCount)
    return fail("its symbols have no names");
  symbols.resize(count);
  auto *addresses = reinterpret_cast<uint64_t *>(memory + table);
  for (uint64_t i = 1; i < count; ++i) {
    if (!readSymbol(entries[i], sections[symbolTable->sh_link], symbols[i]))
      return false;
    addresses[i] = symbols[i].address;
    if (entries[i].st_shndx == SHN_UNDEF)
      symbols[i].stub = makeStub(i);
    else if (ELF64_ST_BIND(entries[i].st_info) != STB_LOCAL)
      globals.emplace_back(symbols[i].name, symbols[i].address);
  }
  return true;
}

bool LinkedCode::readSymbol(const Elf64_Sym &from, const Elf64_Shdr &names,
                            Symbol &to) {
  if (!readName(names, from.st_name, to.name))
    return fail("a symbol has no name");
  std::string name(to.name);
  unsigned type = ELF64_ST_TYPE(from.st_info);
  if (type == STT_GNU_IFUNC || type == STT_TLS || from.st_shndx == SHN_COMMON)
    return fail("the symbol '" + name + "' is of a kind that is not linked");
  if (from.st_shndx == SHN_UNDEF) {
    to.address = reinterpret_cast<uint64_t>(lookUp(to.name));
    return to.address || ELF64_ST_BIND(from.st_info) == STB_WEAK ||
           fail("it needs the symbol '" + name +
                "', which neither the runtime nor the process has");
  }
  if (from.st_shndx == SHN_ABS) {
    to.address = from.st_value;
    return true;
  }
  if (from.st_shndx >= sectionCount ||
      from.st_value > sections[from.st_shndx].sh_size)
    return fail("the symbol '" + name + "' is outside of its section");
  if (isLoaded(sections[from.st_shndx]))
    to.address = reinterpret_cast<uint64_t>(memory) + offsets[from.st_shndx] +
                 from.st_value;
  return true;
}

void *LinkedCode::lookUp(std::string_view name) const {
  if (name == "_GLOBAL_OFFSET_TABLE_") // named by code that reads addresses
    return memory + table;
  for (const auto &function : kRuntime)
    if (function.name == name)
      return function.address;
  for (const auto &[known, address] : given)
    if (known == name)
      return address;
  return dlsym(RTLD_DEFAULT, std::string(name).c_str());
}

/// Writes code that jumps to the address of a symbol, whatever the distance.
uint64_t LinkedCode::makeStub(uint64_t index) {
  char *stub = memory + stubs + index * kStubBytes;
#if defined(__x86_64__)
  const char *slot = memory + table + index * kAddressBytes;
  auto offset = static_cast<int32_t>(slot - (stub + 6));
  memcpy(stub, "\xff\x25", 2);
  memcpy(stub + 2, &offset, sizeof(offset));
#else
  constexpr uint32_t kCode[] = {0x58000050, 0xd61f0200};
  memcpy(stub, kCode, sizeof(kCode));
  memcpy(stub + sizeof(kCode), &symbols[index].address, kAddressBytes);
#endif
  return reinterpret_cast<uint64_t>(stub);
}

bool LinkedCode::relocate() {
  for (uint64_t i = 0; i < sectionCount; ++i) {
    const Elf64_Shdr &section = sections[i];
    if (section.sh_type != SHT_RELA && section.sh_type != SHT_REL)
      continue;
    if (section.sh_info >= sectionCount)
      return fail("relocations of a section that it does not have");
    const Elf64_Shdr &target = sections[section.sh_info];
    if (!isLoaded(target))
      continue;
    uint64_t count = section.sh_size / sizeof(Elf64_Rela);
    const auto *entries = at<Elf64_Rela>(section.sh_offset, count);
    if (section.sh_type == SHT_REL || target.sh_type == SHT_NOBITS || !entries)
      return fail("its relocations are damaged");
    auto begin = reinterpret_cast<uint64_t>(memory) + offsets[section.sh_info];
    for (uint64_t entry = 0; entry < count; ++entry)
      if (!apply(entries[entry], target, begin))
        return false;
  }
  return true;
}

bool LinkedCode::apply(const Elf64_Rela &entry, const Elf64_Shdr &section,
                       uint64_t begin) {
  uint64_t index = ELF64_R_SYM(entry.r_info);
  if (entry.r_offset >= section.sh_size || index >= symbols.size())
    return fail("a relocation is outside of its section");
  auto slot =
      reinterpret_cast<uint64_t>(memory) + table + index * kAddressBytes;
  return patch(ELF64_R_TYPE(entry.r_info), symbols[index], slot, entry.r_addend,
               begin + entry.r_offset, section.sh_size - entry.r_offset);
}

#if defined(__x86_64__)

bool LinkedCode::patch(uint32_t type, const Symbol &symbol, uint64_t slot,
                       int64_t addend, uint64_t place, uint64_t room) {
  bool isWide = type == R_X86_64_64 || type == R_X86_64_PC64;
  uint64_t value = symbol.address + addend;
  switch (type) {
  case R_X86_64_NONE:
    return true;
  case R_X86_64_64:
    break;
  case R_X86_64_PC64:
    value -= place;
    break;
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    value = (symbol.stub ? symbol.stub : symbol.address) + addend - place;
    break;
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    value = slot + addend - place;
    break;
  default:
    return fail("its relocation " + std::to_string(type) +
                " is of a kind that is not linked");
  }
  uint64_t size = isWide ? 8 : 4;
  if (room < size)
    return fail("a relocation is outside of its section");
  if (!isWide && static_cast<int64_t>(value) != static_cast<int32_t>(value))
    return fail("'" + std::string(symbol.name) +
                "' is too far from code that uses it: constants and code have "
                "more than 2 GiB");
  memcpy(reinterpret_cast<void *>(place), &value, size);
  return true;
}

#else

/// Replaces the bits of `mask` in the instruction at `place`.
static void setBits(uint64_t place, uint32_t mask, uint32_t bits) {
  uint32_t word;
  memcpy(&word, reinterpret_cast<void *>(place), sizeof(word));
  word = (word & ~mask) | (bits & mask);
  memcpy(reinterpret_cast<void *>(place), &word, sizeof(word));
}

static bool fits(int64_t value, int bits) {
  return value >= -(int64_t(1) << (bits - 1)) && value < int64_t(1)
                                                             << (bits - 1);
}

bool LinkedCode::patch(uint32_t type, const Symbol &symbol, uint64_t slot,
                       int64_t addend, uint64_t place, uint64_t room) {
  uint64_t size = type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64 ? 8 : 4;
  if (room < size)
    return fail("a relocation is outside of its section");
  auto tooFar = [&] {
    return fail("'" + std::string(symbol.name) +
                "' is too far from code that uses it (relocation " +
                std::to_string(type) + ")");
  };
  uint64_t target = symbol.address + addend;
  uint64_t near = (symbol.stub ? symbol.stub : symbol.address) + addend;
  auto distance = static_cast<int64_t>(near - place);
  auto pages = [&](uint64_t to) {
    return static_cast<int64_t>((to & ~0xfffULL) - (place & ~0xfffULL)) >> 12;
  };
  // The immediate of ADR and ADRP: two low bits, and 19 others.
  auto setAddress = [&](int64_t immediate) {
    if (!fits(immediate, 21))
      return tooFar();
    auto bits = static_cast<uint32_t>(immediate);
    setBits(place, 0x60ffffe0, (bits & 3) << 29 | (bits >> 2 & 0x7ffff) << 5);
    return true;
  };
  // The immediate of loads and stores counts elements.
  auto setOffset = [&](uint64_t to, int shift) {
    if (to & ((1 << shift) - 1))
      return fail("'" + std::string(symbol.name) + "' is misaligned");
    setBits(place, 0x3ffc00, static_cast<uint32_t>(to & 0xfff) >> shift << 10);
    return true;
  };
  auto setBranch = [&](int bits, int shift) {
    if (!fits(distance, bits + 2))
      return tooFar();
    setBits(place, ((uint32_t(1) << bits) - 1) << shift,
            static_cast<uint32_t>(distance >> 2) << shift);
    return true;
  };
  switch (type) {
  case R_AARCH64_NONE:
    return true;
  case R_AARCH64_ABS64:
    memcpy(reinterpret_cast<void *>(place), &target, size);
    return true;
  case R_AARCH64_PREL64:
    target -= place;
    memcpy(reinterpret_cast<void *>(place), &target, size);
    return true;
  case R_AARCH64_PREL32:
    if (!fits(distance, 32))
      return tooFar();
    memcpy(reinterpret_cast<void *>(place), &distance, size);
    return true;
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
    return setBranch(26, 0);
  case R_AARCH64_CONDBR19:
  case R_AARCH64_LD_PREL_LO19:
    return setBranch(19, 5);
  case R_AARCH64_TSTBR14:
    return setBranch(14, 5);
  case R_AARCH64_ADR_PREL_LO21:
    return setAddress(distance);
  case R_AARCH64_ADR_PREL_PG_HI21:
    return setAddress(pages(near));
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return setOffset(near, 0);
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return setOffset(near, 1);
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return setOffset(near, 2);
  case R_AARCH64_LDST64_ABS_LO12_NC:
    return setOffset(near, 3);
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return setOffset(near, 4);
  case R_AARCH64_ADR_GOT_PAGE:
    return setAddress(pages(slot));
  case R_AARCH64_LD64_GOT_LO12_NC:
    return setOffset(slot, 3);
  default:
    return fail("its relocation " + std::to_string(type) +
                " is of a kind that is not linked");
  }
}

#endif

bool LinkedCode::protect() {
  constexpr int kProtections[kParts] = {PROT_READ | PROT_EXEC, PROT_READ,
                                        PROT_READ | PROT_WRITE};
  __builtin___clear_cache(memory, memory + begins[kCode + 1]);
  for (int part = 0; part < kParts; ++part) {
    uint64_t size = begins[part + 1] - begins[part];
    if (size && mprotect(memory + begins[part], size, kProtections[part]) != 0)
      return fail(std::string("the system does not let it run: ") +
                  strerror(errno));
  }
  return true;
}

extern "C" void *relax_rt_link(const void *object, int64_t bytes,
                               const char *names, void *const *addresses,
                               int64_t count, char *error, int64_t size) {
  auto *code = new LinkedCode(
      {static_cast<const char *>(object), static_cast<size_t>(bytes)}, names,
      addresses, count);
  if (code->link())
    return code;
  strncpy(error, code->error.c_str(), size - 1);
  error[size - 1] = 0;
  delete code;
  return nullptr;
}

extern "C" void *relax_rt_find_linked(const void *code, const char *name) {
  return static_cast<const LinkedCode *>(code)->find(name);
}

extern "C" void relax_rt_unlink(void *code) {
  delete static_cast<LinkedCode *>(code);
}
