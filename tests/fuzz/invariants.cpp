#include "tests/fuzz/invariants.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernel/command_line.hpp"
#include "kernel/command_table.hpp"
#include "kernel/cpu_numbering.hpp"
#include "kernel/device_tree.hpp"
#include "kernel/line_editor.hpp"
#include "mm/memory_map.hpp"

namespace atl::fuzz {
namespace {

/// What a run says.
class Notes final : public FormatSink {
 public:
  void write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// The first rule that does not hold. Later ones may lean on it, so only that is kept.
class Rules {
 public:
  template <class... Args>
  void expect(bool holds, LocatedFormat<std::type_identity_t<Args>...> text, const Args&... args) {
    if (holds || broken_) return;
    Notes sink;
    format(sink, text, args...);
    broken_ = sink.text();
  }
  std::optional<std::string> broken() const { return broken_; }

 private:
  std::optional<std::string> broken_;
};

bool is_inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

/// Of the tree: a line is bounded, and so is their number (kernel/fdt_notes.hpp). A real UART takes two seconds for
/// these.
constexpr usize kMostTreeNotes = 16 * 1024;
/// Of the command line there may be a line for each word, and of the CPUs one for each.
constexpr usize kMostNotesPerCharacter = 64;
constexpr usize kMostNotesPerCpu = 128;

void check_notes(Rules& rules, std::string_view notes, usize most) {
  rules.expect(notes.empty() || notes.back() == '\n', "notes do not end with a line break");
  rules.expect(notes.size() <= most, "{} bytes of notes", notes.size());
  for (const char c : notes) {
    rules.expect(c == '\n' || (c >= ' ' && c < 0x7f), "notes contain the control character {:#x}",
                 static_cast<unsigned>(static_cast<u8>(c)));
  }
}

void check_device(Rules& rules, const char* what, const PhysRange& registers) {
  const u64 start = registers.start.value();
  const u64 limit = mm::kPhysicalEnd.value();
  rules.expect(!registers.empty(), "{} has no registers", what);
  rules.expect(start < limit && registers.size <= limit - start,
               "{} lies beyond 52 bits: {:#x} bytes at {:#x}", what, registers.size, start);
}

void check_machine(Rules& rules, const Machine& machine) {
  rules.expect(machine.cpu_count <= kMaxCpus, "{} CPUs", machine.cpu_count);
  rules.expect(machine.boot_argument_length <= Machine::kMaxBootArguments, "{} bytes of boot arguments",
               machine.boot_argument_length);
  if (machine.console) {
    check_device(rules, "the console", machine.console->registers);
    if (machine.console->irq) {
      rules.expect(*machine.console->irq >= 16 && *machine.console->irq < 1020, "console interrupt {}",
                   *machine.console->irq);
    }
  }
  if (machine.timer_irq) {
    rules.expect(*machine.timer_irq >= 16 && *machine.timer_irq < 1020, "timer interrupt {}",
                 *machine.timer_irq);
  }
  const GicDescription& gic = machine.gic;
  if (!gic.version) return;
  check_device(rules, "the GIC distributor", gic.distributor);
  if (gic.version == arch::GicVersion::v2) check_device(rules, "the GIC CPU interface", gic.cpu_interface);
  rules.expect(gic.region_count <= GicDescription::kMaxRegions, "{} redistributor regions", gic.region_count);
  for (const PhysRange& region : gic.redistributors())
    check_device(rules, "a GIC redistributor region", region);
}

void check_cpus(Rules& rules, const Machine& machine) {
  for (const unsigned choice : {0u, 1u, 2u, 3u}) {
    const bool psci = (choice & 1) == 0;
    for (const unsigned most : {1u, 4u, kMaxCpus}) {
      Notes notes;
      const NumberingRules numbering{
          .boot_mpidr = 0x80000000, .psci = psci, .most = most, .one_thread_a_core = (choice & 2) != 0};
      const arch::CpuMap map = number_cpus(machine.cpu_list(), numbering, notes);
      check_notes(rules, notes.text(), kMostNotesPerCpu * (1 + machine.cpu_list().size()));
      rules.expect(map.count() >= 1 && map.count() <= most, "{} CPUs numbered, at most {} allowed",
                   map.count(), most);
      rules.expect(psci || map.count() == 1, "{} CPUs numbered, and nobody to start them", map.count());
      std::vector<u64> mpidrs(map.mpidrs().begin(), map.mpidrs().end());
      rules.expect(mpidrs[0] == 0, "the boot CPU is not number 0");
      std::ranges::sort(mpidrs);
      rules.expect(std::ranges::adjacent_find(mpidrs) == mpidrs.end(), "two numbers for one CPU");
    }
  }
}

bool overlaps_a_reservation(const mm::MemoryMap& map, const PhysRange& range) {
  return std::ranges::any_of(map.reservations(),
                             [&](const mm::Reservation& r) { return r.range.overlaps(range); });
}

/// `no-map` that is mapped, and not the kernel's.
bool overlaps_a_no_map(const mm::MemoryMap& map, const PhysRange& range) {
  const auto is_kernel = [&](const PhysRange& part) {
    return std::ranges::any_of(map.reservations(), [&](const mm::Reservation& r) {
      return r.kind == mm::ReservationKind::kernel && r.range.contains(part);
    });
  };
  return std::ranges::any_of(map.reservations(), [&](const mm::Reservation& r) {
    const PhysRange common = mm::intersection(r.range, range);
    return r.kind == mm::ReservationKind::no_map && !common.empty() && !is_kernel(common);
  });
}

void check_memory(Rules& rules, const mm::MemoryMap& map, const mm::MapRules& limits) {
  const u64 page = limits.page_size;
  PhysAddr end{};
  u64 bytes = 0;
  for (const PhysRange& bank : map.ram()) {
    rules.expect(!bank.empty(), "an empty bank at {}", bank.start);
    rules.expect(bytes == 0 || bank.start > end, "RAM at {} is out of order, or touches the bank before",
                 bank.start);
    rules.expect(bank.start.is_aligned(page) && is_aligned(bank.size, page), "RAM at {} is no whole pages",
                 bank.start);
    end = bank.end();
    bytes += bank.size;
    rules.expect(end > bank.start && end <= limits.physical_end, "RAM at {} ends beyond the CPU's range",
                 bank.start);
    rules.expect(bank.start >= map.linear_base() && end - map.linear_base() <= limits.linear_bytes,
                 "RAM at {} is outside the linear map", bank.start);
  }
  rules.expect(bytes > 0 && bytes == map.ram_bytes(), "{} bytes of RAM", bytes);
  rules.expect(map.linear_base().is_aligned(mm::kLinearAlign), "the linear map begins at {}",
               map.linear_base());
  PhysAddr start{};
  for (const mm::Reservation& r : map.reservations()) {
    rules.expect(r.range.start >= start, "reservations are out of order at {}", r.range.start);
    rules.expect(r.range.start.is_aligned(page) && is_aligned(r.range.size, page),
                 "reservation at {} is no whole pages", r.range.start);
    start = r.range.start;
  }
  const auto check_part = [&](const PhysRange& range, bool only_no_map, const char* what) {
    rules.expect(map.is_ram(range) && !range.empty(), "{} {:#x} bytes at {} are not RAM", what, range.size,
                 range.start);
    rules.expect(!(only_no_map ? overlaps_a_no_map : overlaps_a_reservation)(map, range),
                 "{} {:#x} bytes at {} are reserved", what, range.size, range.start);
  };
  map.for_each_free([&](const PhysRange& range) { check_part(range, false, "free"); });
  map.for_each_mappable([&](const PhysRange& range) { check_part(range, true, "mapped"); });
}

// What the kernel reserves before it reads the tree (kernel/read_machine.cpp).
constexpr PhysRange kKernel{PhysAddr(0x40200000), 4_MiB};
constexpr PhysRange kTree{PhysAddr(0x48000000), 1_MiB};

/// Before `finalize`, which rounds no-map ranges into what is next to them.
void check_initrd(Rules& rules, const PhysRange& initrd, const mm::MemoryMap& map) {
  if (initrd.empty()) return;
  rules.expect(map.is_ram(initrd), "the initrd at {} is not RAM", initrd.start);
  rules.expect(!initrd.overlaps(kKernel), "the initrd at {} overlaps the kernel", initrd.start);
  rules.expect(!initrd.overlaps(kTree), "the initrd at {} overlaps the device tree", initrd.start);
  rules.expect(!overlaps_a_no_map(map, initrd), "the initrd at {} overlaps no-map memory", initrd.start);
}

/// What the loader placed.
void check_kept(Rules& rules, const mm::MemoryMap& map, const PhysRange& initrd) {
  for (const PhysRange& placed : {kKernel, kTree, initrd}) {
    map.for_each_free([&](const PhysRange& range) {
      rules.expect(!range.overlaps(placed), "a part of what the loader placed at {} is free", placed.start);
    });
  }
  for (const PhysRange& bank : map.ram()) {
    rules.expect(map.is_mappable(mm::intersection(bank, kKernel)), "the kernel at {} is not mapped",
                 kKernel.start);
  }
}

/// Whether `finalize` has a whole page to work with among the lowest `limit` bytes.
bool has_whole_page(const mm::MemoryMap& map, const mm::MapRules& limits, u64 limit) {
  for (const PhysRange& bank : map.ram()) {
    PhysRange part = mm::intersection(bank, {PhysAddr(0), limits.physical_end.value()});
    part.size = std::min(part.size, limit);
    limit -= part.size;
    if (!mm::trimmed_inward(part, limits.page_size).empty()) return true;
  }
  return false;
}

/// `limit` is `mem=`; all there is where it is not given.
void check_finalized(Rules& rules, mm::MemoryMap map, const mm::MapRules& limits, std::optional<u64> limit,
                     const PhysRange& initrd) {
  // A limit cuts the three things that the loader placed out of their banks: then the table may be too small.
  const bool may_overflow = limit && map.ram().size() + 3 > mm::MemoryMap::kMaxBanks;
  const bool must_succeed = has_whole_page(map, limits, limit.value_or(~u64{0}));
  if (limit) map.limit(*limit);
  if (const auto finalized = map.finalize(limits); !finalized) {
    const Error error = finalized.error().error;
    rules.expect(error == Error::no_memory ? may_overflow : !must_succeed, "finalize gives up: {}",
                 to_string(error));
    return;
  }
  check_memory(rules, map, limits);
  check_kept(rules, map, initrd);
  if (rules.broken()) return;

  // As where RAM is not there: half of the last bank, then all of the first.
  const PhysRange last = map.ram().back();
  const u64 kept = align_down(last.size / 2, limits.page_size);
  if (kept == 0) return;
  map.leave_out({last.start + kept, last.size - kept});
  check_memory(rules, map, limits);
  if (map.ram().size() == 1) return;
  map.leave_out(map.ram().front());
  check_memory(rules, map, limits);
}

}  // namespace

std::optional<std::string> check_command_line(std::string_view text) {
  Rules rules;
  Notes notes;
  const KernelOptions options = parse_command_line(text, notes);
  check_notes(rules, notes.text(), kMostNotesPerCharacter * text.size());
  rules.expect(is_inside(options.run, text), "run= is not of the command line");
  rules.expect(options.selftest == "*" || is_inside(options.selftest, text),
               "selftest= is not of the command line");
  rules.expect(options.mem != 0, "mem=0 was taken");
  if (options.earlycon) check_device(rules, "earlycon", {*options.earlycon, 4});
  if (rules.broken()) return rules.broken();

  CommandLineReader reader(text);
  usize words = 0;
  while (const auto word = reader.next()) {
    rules.expect(is_inside(word->name, text) && is_inside(word->value.value_or(""), text),
                 "a word is not of the text");
    rules.expect(++words <= text.size(), "more words than characters");
    if (rules.broken()) break;
  }
  return rules.broken();
}

std::optional<std::string> check_device_tree(std::span<const u8> tree) {
  Rules rules;
  const std::vector<u8> copy(tree.begin(), tree.end());
  Machine machine;
  mm::MemoryMap memory;
  Notes notes;
  memory.reserve(kKernel, mm::ReservationKind::kernel);
  memory.reserve(kTree, mm::ReservationKind::device_tree);
  const Result<> parsed = parse_device_tree(copy, machine, memory, notes);
  check_notes(rules, notes.text(), kMostTreeNotes);
  check_machine(rules, machine);
  rules.expect(parsed || !notes.text().empty(), "refused without a reason");
  if (!parsed || rules.broken()) return rules.broken();

  check_cpus(rules, machine);
  if (rules.broken()) return rules.broken();
  if (auto broken = check_command_line(machine.boot_arguments())) return broken;
  check_initrd(rules, machine.initrd, memory);
  for (const mm::MapRules& limits : {mm::MapRules{4096, u64{1} << 46, PhysAddr(u64{1} << 44)},
                                     mm::MapRules{16384, u64{1} << 46, PhysAddr(u64{1} << 48)},
                                     mm::MapRules{65536, u64{1} << 46, mm::kPhysicalEnd}}) {
    for (const auto limit : {std::optional<u64>(), std::optional<u64>(256_MiB)}) {
      check_finalized(rules, memory, limits, limit, machine.initrd);
      if (rules.broken()) return rules.broken();
    }
  }
  return rules.broken();
}

namespace {

std::string_view given;  // to the command that ran last

constexpr std::array kCommands{Command{"help", "", [](std::string_view) { return CommandResult(0); }},
                               Command{"take", "", [](std::string_view arguments) {
                                         given = arguments;
                                         return CommandResult(1);
                                       }}};

}  // namespace

std::optional<std::string> check_keys(std::string_view keys) {
  Rules rules;
  std::array<char, 128> buffer;
  LineEditor editor(buffer);
  const std::string_view whole(buffer.data(), buffer.size());
  for (const char key : keys) {
    const LineEditor::State state = editor.feed(key);
    const std::string_view line = editor.text();
    rules.expect(is_inside(line, whole), "a line of {} characters left its buffer", line.size());
    rules.expect(std::ranges::all_of(line, [](char c) { return c >= ' ' && c < 0x7f; }),
                 "a control character in a line");
    if (rules.broken()) return rules.broken();
    if (state == LineEditor::State::editing) continue;
    given = {};
    if (state == LineEditor::State::complete) run_line(kCommands, line);
    rules.expect(is_inside(given, line), "arguments that are not of the line");
    editor = LineEditor(buffer);
  }
  unsigned so_far = 0;
  const unsigned failures = run_list(kCommands, keys, so_far);
  rules.expect(failures == so_far, "{} failures, counted as {}", failures, so_far);
  return rules.broken();
}

}  // namespace atl::fuzz
