#include "kernel/device_tree.hpp"

#include <libfdt.h>

#include <algorithm>

#include "arch-arm64/documented_uart.hpp"
#include "kernel/fdt_interrupt.hpp"
#include "kernel/fdt_memory.hpp"
#include "kernel/fdt_notes.hpp"
#include "kernel/fdt_walker.hpp"
#include "lib/fault.hpp"

namespace atl {
namespace {

/// What a device's registers take up, at least, and what their address is a multiple of: an access beside a mapping
/// would be an abort, and so would a misaligned one.
struct Need {
  u64 align;
  u64 bytes;
};
constexpr Need kGicV2Frame{4_KiB, 4_KiB};
constexpr Need kGicV3Distributor{64_KiB, 64_KiB};
constexpr Need kGicV3Redistributors{64_KiB, 128_KiB};
constexpr Need kUart{4, 1};

class Parser {
 public:
  Parser(const void* fdt, Machine& machine, mm::MemoryMap& memory, FormatSink& notes)
      : fdt_(fdt), machine_(machine), notes_(notes), memory_(memory, notes_), node_(fdt) {}

  Result<> run();

 private:
  ForeignText node_name() const { return {node_.name()}; }

  void visit_node();
  bool is_cpu() const;
  void read_chosen();
  void read_boot_arguments();
  void read_cpu();
  void read_psci();
  void read_gic(arch::GicVersion version);
  void read_timer();
  void read_stdout_path();
  void read_uart();
  int stdout_offset() const;
  void choose_console();
  void keep_registers_out_of_ram();
  std::optional<u32> resolve(const FdtInterrupt& interrupt);
  std::optional<PhysRange> device_registers(usize index, Need need);

  const void* fdt_;
  Machine& machine_;
  FdtNotes notes_;
  FdtMemory memory_;
  FdtWalker node_;

  FdtGic gic_;
  std::optional<FdtInterrupt> timer_interrupt_;

  /// Which UART is the console is known when all of the tree has been seen.
  struct Uart {
    int offset;
    PhysRange registers;
    bool identifies;
    FdtInterrupt interrupt;
  };
  static constexpr usize kMaxUarts = 16;
  std::array<Uart, kMaxUarts> uarts_{};
  usize uart_count_ = 0;
  std::string_view stdout_path_;

  /// Usable or not: each costs a search of the ranges of every bus above it.
  usize uarts_seen_ = 0;
  usize gics_seen_ = 0;
  static constexpr usize kMaxGics = 16;
};

Result<> Parser::run() {
  memory_.read_reservation_block(fdt_);
  while (node_.next()) visit_node();
  if (node_.broken()) {
    notes_.conclude("broken structure");
    return fail(Error::bad_firmware_data);
  }
  if (node_.too_deep() > 0) {
    notes_.note("{} nodes deeper than {} levels are ignored", node_.too_deep(), FdtWalker::kMaxDepth);
  }
  if (machine_.cpus_left_out > 0) {
    notes_.note("{} CPUs beyond the {} that this kernel has room for are left out", machine_.cpus_left_out,
                kMaxCpus);
  }
  if (timer_interrupt_) machine_.timer_irq = resolve(*timer_interrupt_);
  choose_console();
  keep_registers_out_of_ram();
  machine_.initrd = memory_.finish();
  if (memory_.too_many()) {
    notes_.conclude("more than {} banks and reservations", FdtMemory::kMaxEntries);
    return fail(Error::bad_firmware_data);
  }
  if (!memory_.has_ram()) {
    notes_.conclude("no usable memory node");
    return fail(Error::bad_firmware_data);
  }
  notes_.finish();
  return {};
}

void Parser::keep_registers_out_of_ram() {
  memory_.keep_registers_out(machine_.gic.distributor, "GIC");
  memory_.keep_registers_out(machine_.gic.cpu_interface, "GIC");
  for (const PhysRange& region : machine_.gic.redistributors()) memory_.keep_registers_out(region, "GIC");
  if (machine_.console) memory_.keep_registers_out(machine_.console->registers, "UART");
}

std::optional<PhysRange> Parser::device_registers(usize index, Need need) {
  if constexpr (kFault == Fault::gic_frame_unchecked) need = {1, 1};
  const auto range = node_.reg(index);
  const char* fault = nullptr;
  if (!range) {
    fault = range.error();
  } else if (range->size < need.bytes) {
    fault = "is too small";
  } else if (!range->start.is_aligned(need.align)) {
    fault = "is misaligned";
  } else {
    fault = memory_.registers_fault(*range);
  }
  if (fault == nullptr) return *range;
  notes_.note("{} reg entry {} {}; ignored", node_name(), index, fault);
  return std::nullopt;
}

void Parser::visit_node() {
  if (node_.depth() == 1) {
    if (node_.property("device_type").text().value == "memory") return memory_.read_bank(node_);
    if (node_.name() == "chosen") return read_chosen();
  }
  if (node_.is_child_of("reserved-memory")) return memory_.read_reserved(node_);
  if (node_.is_child_of("cpus") && is_cpu()) return read_cpu();
  if (!node_.enabled() || !node_.property("compatible").exists()) return;

  if (node_.compatible("arm,pl011") || node_.compatible("arm,sbsa-uart")) return read_uart();
  if (node_.compatible("arm,gic-v3")) return read_gic(arch::GicVersion::v3);
  for (const char* gic : {"arm,cortex-a15-gic", "arm,gic-400", "arm,cortex-a7-gic", "arm,cortex-a9-gic"}) {
    if (node_.compatible(gic)) return read_gic(arch::GicVersion::v2);
  }
  if (node_.compatible("arm,armv8-timer") || node_.compatible("arm,armv7-timer")) return read_timer();
  if (node_.compatible("arm,psci-1.0") || node_.compatible("arm,psci-0.2") || node_.compatible("arm,psci")) {
    return read_psci();
  }
}

/// `device_type` is what the specification asks for; trees without it name the node so.
bool Parser::is_cpu() const {
  const std::string_view name = node_.name();
  return node_.property("device_type").text().value == "cpu" || name == "cpu" || name.starts_with("cpu@");
}

void Parser::read_chosen() {
  read_stdout_path();
  read_boot_arguments();
  memory_.read_initrd(node_);
}

void Parser::read_stdout_path() {
  for (const char* name : {"stdout-path", "linux,stdout-path"}) {
    const auto [value, terminated] = node_.property(name).text();
    if (terminated && !value.empty()) {
      stdout_path_ = value.substr(0, value.find(':'));  // options such as ":115200n8" aside
      return;
    }
  }
}

void Parser::read_boot_arguments() {
  const auto [value, terminated] = node_.property("bootargs").text();
  if (!terminated) notes_.note("bootargs has no terminator; used as far as it goes");
  std::string_view kept = value;
  if (kept.size() > Machine::kMaxBootArguments) {
    // Half a word could mean something else: cut after the last whole one.
    const usize space = kept.substr(0, Machine::kMaxBootArguments + 1).rfind(' ');
    kept = kept.substr(0, space == std::string_view::npos ? 0 : space);
    notes_.note("bootargs of {} characters cut to {}", value.size(), kept.size());
  }
  std::copy(kept.begin(), kept.end(), machine_.boot_argument_text.begin());
  machine_.boot_argument_length = kept.size();
}

void Parser::read_cpu() {
  // "disabled" means quiescent for a CPU: its enable-method starts it (Devicetree Specification 3.8.1).
  const std::string_view status = node_.status();
  if (!status.empty() && status != "okay" && status != "ok" && status != "disabled") {
    return notes_.note("{} is {}; left out", node_name(), ForeignText{status});
  }
  const auto affinity = node_.bare_reg();
  if (!affinity) return notes_.note("{} has no MPIDR in reg; left out", node_name());
  if (machine_.cpu_count == kMaxCpus) {
    ++machine_.cpus_left_out;
    return;
  }
  machine_.cpus[machine_.cpu_count++] = {*affinity, node_.property("enable-method").text().value == "psci"};
}

void Parser::read_psci() {
  if (!node_.compatible("arm,psci-1.0") && !node_.compatible("arm,psci-0.2")) {
    return notes_.note("PSCI 0.1 has its own function numbers; not used");
  }
  const std::string_view method = node_.property("method").text().value;
  if (method == "hvc") {
    machine_.psci = arch::PsciConduit::hvc;
  } else if (method == "smc") {
    machine_.psci = arch::PsciConduit::smc;
  } else {
    notes_.note("PSCI method \"{}\" is unknown; not used", ForeignText{method});
  }
}

void Parser::read_gic(arch::GicVersion version) {
  if (machine_.gic.version) {
    return notes_.note("{} is a second interrupt controller; ignored", node_name());
  }
  if (++gics_seen_ > kMaxGics)
    return notes_.note("{} is one interrupt controller too many; ignored", node_name());
  GicDescription gic;
  const bool is_v2 = version == arch::GicVersion::v2;
  const auto distributor = device_registers(0, is_v2 ? kGicV2Frame : kGicV3Distributor);
  if (!distributor) return;
  gic.distributor = *distributor;

  if (is_v2) {
    const auto interface = device_registers(1, kGicV2Frame);
    if (!interface) return;
    gic.cpu_interface = *interface;
  } else {
    const usize regions = node_.property("#redistributor-regions").number(0, 1).value_or(1);
    for (usize i = 0; i < regions; ++i) {
      const auto region = device_registers(1 + i, kGicV3Redistributors);
      if (!region) break;
      if (gic.region_count == GicDescription::kMaxRegions) {
        notes_.note("{}: only {} of {} redistributor regions are used", node_name(), gic.region_count,
                    regions);
        break;
      }
      gic.regions[gic.region_count++] = *region;
    }
    const FdtProperty stride = node_.property("redistributor-stride");
    gic.redistributor_stride = stride.number(0, static_cast<u32>(stride.cell_count())).value_or(0);
  }
  gic.version = version;
  machine_.gic = gic;
  gic_.phandle = static_cast<u32>(node_.property("phandle").number(0, 1).value_or(0));
  gic_.interrupt_cells = static_cast<u32>(node_.property("#interrupt-cells").number(0, 1).value_or(0));
}

void Parser::read_timer() {
  // In order: secure, non-secure, virtual, hypervisor; `interrupt-names` overrides that.
  constexpr usize kVirtual = 2;
  const FdtProperty names = node_.property("interrupt-names");
  const usize index = names.exists() ? names.index_in_list("virt").value_or(kVirtual) : kVirtual;
  if (!timer_interrupt_) timer_interrupt_ = FdtInterrupt::of(node_, index);
}

void Parser::read_uart() {
  if (++uarts_seen_ > kMaxUarts) return notes_.note("{} is one UART too many; ignored", node_name());
  const auto named = device_registers(0, kUart);
  if (!named) return;
  const PhysRange registers{named->start, arch::kUartBytes};
  if (const char* fault = memory_.registers_fault(registers)) {
    return notes_.note("{} {}; ignored", node_name(), fault);
  }
  // PL011 registers are words, each in four bytes. Of a tree that says otherwise more is wrong than that; whether the
  // device is one will be seen by its identification.
  const auto differs = [&](const char* property, u64 from) {
    const auto number = node_.property(property).number(0, 1);
    if (number && *number != from) notes_.note("{}: {} = {} is ignored", node_name(), property, *number);
  };
  differs("reg-io-width", 4);
  differs("reg-shift", 2);
  uarts_[uart_count_++] = {node_.offset(), registers, node_.compatible("arm,pl011"),
                           FdtInterrupt::of(node_, 0)};
}

/// The node that stdout-path names, by path or by an alias for one; negative if there is none. An alias is read here,
/// once: libfdt would follow one alias to the next by calling itself, as long as the tree asks for it.
int Parser::stdout_offset() const {
  constexpr usize kLongest = 256;
  std::string_view path = stdout_path_;
  if (!path.starts_with('/')) {
    int length = 0;
    const void* alias = fdt_getprop_namelen(fdt_, fdt_path_offset(fdt_, "/aliases"), path.data(),
                                            static_cast<int>(std::min(path.size(), kLongest)), &length);
    if (alias == nullptr || length <= 0 || path.size() > kLongest) return -FDT_ERR_NOTFOUND;
    path = FdtProperty(static_cast<const u8*>(alias), static_cast<usize>(length)).text().value;
  }
  if (!path.starts_with('/') || path.size() > kLongest) return -FDT_ERR_BADPATH;
  return fdt_path_offset_namelen(fdt_, path.data(), static_cast<int>(path.size()));
}

/// What stdout-path names, by path or alias; without a usable one, the first PL011 of the tree.
void Parser::choose_console() {
  const std::span<const Uart> uarts(uarts_.data(), uart_count_);
  const Uart* chosen = uarts.empty() ? nullptr : &uarts.front();
  if (!stdout_path_.empty()) {
    const auto named = std::ranges::find(uarts, stdout_offset(), &Uart::offset);
    if (named != uarts.end()) {
      chosen = &*named;
    } else {
      notes_.note("stdout-path \"{}\" names no usable PL011", ForeignText{stdout_path_});
    }
  }
  if (chosen == nullptr) return;
  machine_.console = ConsoleDescription{chosen->registers, chosen->identifies, resolve(chosen->interrupt)};
}

std::optional<u32> Parser::resolve(const FdtInterrupt& interrupt) {
  const auto intid = gic_.intid(fdt_, interrupt);
  if (intid) return *intid;
  notes_.note("an interrupt of the timer or the console {}; ignored", intid.error());
  return std::nullopt;
}

}  // namespace

Result<usize> device_tree_size(std::span<const u8> start, FormatSink& notes) {
  const auto refuse = [&](const char* why) {
    format(notes, "device tree: {}\n", why);
    return fail(Error::bad_firmware_data);
  };
  if (start.size() < kDeviceTreeHeader) return refuse("shorter than a header");
  if (!is_aligned(reinterpret_cast<std::uintptr_t>(start.data()), 8)) return refuse("not 8-byte aligned");
  const FdtProperty header(start.data(), kDeviceTreeHeader);
  constexpr usize kMagicCell = 0;
  constexpr usize kSizeCell = 1;
  constexpr usize kVersionCell = 5;
  constexpr usize kCompatibleVersionCell = 6;
  if (header.cell(kMagicCell) != FDT_MAGIC) return refuse("wrong magic number");
  if (header.cell(kVersionCell) < 17 || header.cell(kCompatibleVersionCell) > 17)
    return refuse("unknown version");
  const usize size = header.cell(kSizeCell);
  if (size < kDeviceTreeHeader) return refuse("total size smaller than its header");
  if (size > kMaxDeviceTree) return refuse("larger than 2 MiB");
  return size;
}

Result<> parse_device_tree(std::span<const u8> mapping, Machine& machine, mm::MemoryMap& memory,
                           FormatSink& notes) {
  const usize size = TRY(device_tree_size(mapping, notes));
  if (size > mapping.size()) {
    format(notes, "device tree: {} bytes long, but only {} are mapped\n", size, mapping.size());
    return fail(Error::bad_firmware_data);
  }
  // Where the blocks lie. Every later access of libfdt is checked against them, so a broken structure inside
  // is found when the walk comes to it.
  if (const int error = fdt_check_header(mapping.data()); error != 0) {
    format(notes, "device tree: broken header ({})\n", fdt_strerror(error));
    return fail(Error::bad_firmware_data);
  }
  return Parser(mapping.data(), machine, memory, notes).run();
}

}  // namespace atl
