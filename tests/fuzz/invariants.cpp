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

/// What a run says. A line is bounded, and the whole is: on a real UART a megabyte takes a minute and a half.
class Notes final : public FormatSink {
 public:
  static constexpr usize kMostBytes = 256 * 1024;
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

void check_notes(Rules& rules, std::string_view notes) {
  rules.expect(notes.empty() || notes.back() == '\n', "notes do not end with a line break");
  rules.expect(notes.size() <= Notes::kMostBytes, "{} bytes of notes", notes.size());
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
  if (gic.version == GicDescription::Version::none) return;
  check_device(rules, "the GIC distributor", gic.distributor);
  if (gic.version == GicDescription::Version::v2)
    check_device(rules, "the GIC CPU interface", gic.cpu_interface);
  rules.expect(gic.region_count <= GicDescription::kMaxRegions, "{} redistributor regions", gic.region_count);
  for (const PhysRange& region : gic.redistributors())
    check_device(rules, "a GIC redistributor region", region);
}

void check_cpus(Rules& rules, const Machine& machine) {
  for (const bool one_thread_a_core : {false, true}) {
    for (const unsigned most : {1u, 4u, kMaxCpus}) {
      Notes notes;
      const NumberingRules numbering{
          .boot_mpidr = 0x80000000, .most = most, .one_thread_a_core = one_thread_a_core};
      const arch::CpuMap map = number_cpus(machine.cpu_list(), numbering, notes);
      check_notes(rules, notes.text());
      rules.expect(map.count() >= 1 && map.count() <= most, "{} CPUs numbered, at most {} allowed",
                   map.count(), most);
      std::vector<u64> mpidrs(map.mpidrs().begin(), map.mpidrs().end());
      rules.expect(mpidrs[0] == 0, "the boot CPU is not number 0");
      std::ranges::sort(mpidrs);
      rules.expect(std::ranges::adjacent_find(mpidrs) == mpidrs.end(), "two numbers for one CPU");
    }
  }
}

bool overlaps_a_reservation(const mm::MemoryMap& map, const PhysRange& range, bool only_no_map) {
  return std::ranges::any_of(map.reservations(), [&](const mm::Reservation& r) {
    return (!only_no_map || r.kind == mm::ReservationKind::no_map) && r.range.overlaps(range);
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
    rules.expect(!overlaps_a_reservation(map, range, only_no_map), "{} {:#x} bytes at {} are reserved", what,
                 range.size, range.start);
  };
  map.for_each_free([&](const PhysRange& range) { check_part(range, false, "free"); });
  map.for_each_mappable([&](const PhysRange& range) { check_part(range, true, "mapped"); });
}

void check_initrd(Rules& rules, const PhysRange& initrd, const mm::MemoryMap& map) {
  rules.expect(initrd.size <= ~u64{0} - initrd.start.value(), "the initrd wraps around");
  map.for_each_free([&](const PhysRange& range) {
    rules.expect(!range.overlaps(initrd), "a part of the initrd at {} is free", initrd.start);
  });
}

}  // namespace

std::optional<std::string> check_command_line(std::string_view text) {
  Rules rules;
  Notes notes;
  const KernelOptions options = parse_command_line(text, notes);
  check_notes(rules, notes.text());
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
  const Result<> parsed = parse_device_tree(copy, machine, memory, notes);
  check_notes(rules, notes.text());
  check_machine(rules, machine);
  rules.expect(parsed || !notes.text().empty(), "refused without a reason");
  if (!parsed || rules.broken()) return rules.broken();

  check_cpus(rules, machine);
  if (rules.broken()) return rules.broken();
  if (auto broken = check_command_line(machine.boot_arguments())) return broken;
  for (const mm::MapRules& limits : {mm::MapRules{4096, u64{1} << 46, PhysAddr(u64{1} << 44)},
                                     mm::MapRules{16384, u64{1} << 46, PhysAddr(u64{1} << 48)},
                                     mm::MapRules{65536, u64{1} << 46, mm::kPhysicalEnd}}) {
    for (const u64 limit : {u64{0}, 256_MiB}) {
      mm::MemoryMap map = memory;
      // As the kernel does it: its image and the tree are reserved, whatever the tree says of that place.
      map.reserve({PhysAddr(0x40200000), 4_MiB}, mm::ReservationKind::kernel);
      map.reserve({PhysAddr(0x48000000), 1_MiB}, mm::ReservationKind::device_tree);
      if (limit != 0) map.limit(limit);
      if (!map.finalize(limits)) continue;
      check_memory(rules, map, limits);
      check_initrd(rules, machine.initrd, map);
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
