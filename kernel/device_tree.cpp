#include "kernel/device_tree.hpp"

#include <libfdt.h>

#include <algorithm>

#include "kernel/fdt_interrupt.hpp"
#include "kernel/fdt_walker.hpp"
#include "lib/fault.hpp"

namespace atl {
namespace {

class Parser {
 public:
  Parser(const void* fdt, Machine& machine, mm::MemoryMap& memory, FormatSink& notes)
      : fdt_(fdt), machine_(machine), memory_(memory), notes_(notes), node_(fdt) {}

  Result<> run();

 private:
  template <class... Args>
  void note(LocatedFormat<std::type_identity_t<Args>...> text, const Args&... args) {
    notes_.write("device tree: ");
    format(notes_, text, args...);
    notes_.write("\n");
  }
  /// The current node's name, no longer than a line of notes bears.
  std::string_view node_name() const { return node_.name().substr(0, 48); }

  void read_memory_reservations();
  void visit_node();
  bool is_cpu() const;
  void read_memory();
  void read_reserved_memory();
  void read_chosen();
  void read_boot_arguments();
  void read_initrd();
  void read_cpu();
  void read_psci();
  void read_gic(GicDescription::Version version);
  void read_timer();
  void read_stdout_path();
  void read_uart();
  void choose_console();
  std::optional<u32> resolve(const FdtInterrupt& interrupt);
  void add_ram(PhysRange range);
  void reserve(PhysRange range, mm::ReservationKind kind, std::string_view name);
  std::optional<PhysRange> device_registers(usize index);

  const void* fdt_;
  Machine& machine_;
  mm::MemoryMap& memory_;
  FormatSink& notes_;
  FdtWalker node_;

  u64 ram_bytes_ = 0;
  FdtGic gic_;
  std::optional<FdtInterrupt> timer_interrupt_;

  /// Which UART is the console is known when all of the tree has been seen.
  struct Uart {
    int offset;
    PhysRange registers;
    FdtInterrupt interrupt;
  };
  static constexpr usize kMaxUarts = 16;
  std::array<Uart, kMaxUarts> uarts_{};
  usize uart_count_ = 0;
  std::string_view stdout_path_;
};

Result<> Parser::run() {
  read_memory_reservations();
  while (node_.next()) visit_node();
  if (node_.broken()) {
    note("broken structure");
    return fail(Error::bad_firmware_data);
  }
  if (node_.too_deep() > 0) {
    note("{} nodes deeper than {} levels are ignored", node_.too_deep(), FdtWalker::kMaxDepth);
  }
  if (machine_.cpus_left_out > 0) {
    note("{} CPUs beyond the {} that this kernel has room for are left out", machine_.cpus_left_out,
         kMaxCpus);
  }
  if (timer_interrupt_) machine_.timer_irq = resolve(*timer_interrupt_);
  choose_console();
  if (ram_bytes_ == 0) {
    note("no usable memory node");
    return fail(Error::bad_firmware_data);
  }
  return {};
}

void Parser::add_ram(PhysRange range) {
  if (range.empty()) return;  // a bank whose slot is empty: common, and no fault
  if (auto added = memory_.add_ram(range); !added) {
    note("{}: {:#x} bytes at {} left out: {}", node_name(), range.size, range.start,
         to_string(added.error().error));
    return;
  }
  ram_bytes_ += range.size;
}

void Parser::reserve(PhysRange range, mm::ReservationKind kind, std::string_view name) {
  if (range.empty()) return;
  if (auto reserved = memory_.reserve(range, kind, name); !reserved) {
    note("reservation of {:#x} bytes at {}: {}", range.size, range.start, to_string(reserved.error().error));
  }
}

/// Registers must lie where a descriptor can map them.
std::optional<PhysRange> Parser::device_registers(usize index) {
  const auto range = node_.reg(index);
  if (range && !range->empty() && range->end() <= mm::kPhysicalEnd) return *range;
  note("{} reg entry {} {}", node_name(), index, range ? "is empty or beyond 52 bits" : range.error());
  return std::nullopt;
}

void Parser::read_memory_reservations() {
  const int count = fdt_num_mem_rsv(fdt_);
  for (int i = 0; i < count; ++i) {
    u64 start = 0;
    u64 size = 0;
    if (fdt_get_mem_rsv(fdt_, i, &start, &size) != 0) return;
    reserve({PhysAddr(start), std::min(size, ~u64{0} - start)}, mm::ReservationKind::firmware, "memreserve");
  }
}

void Parser::visit_node() {
  if (node_.depth() == 1) {
    if (node_.property("device_type").text().value == "memory") return read_memory();
    if (node_.name() == "chosen") return read_chosen();
  }
  if (node_.is_child_of("reserved-memory")) return read_reserved_memory();
  if (node_.is_child_of("cpus") && is_cpu()) return read_cpu();
  if (!node_.enabled() || !node_.property("compatible").exists()) return;

  if (node_.compatible("arm,pl011") || node_.compatible("arm,sbsa-uart")) return read_uart();
  if (node_.compatible("arm,gic-v3")) return read_gic(GicDescription::Version::v3);
  for (const char* gic : {"arm,cortex-a15-gic", "arm,gic-400", "arm,cortex-a7-gic", "arm,cortex-a9-gic"}) {
    if (node_.compatible(gic)) return read_gic(GicDescription::Version::v2);
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

void Parser::read_memory() {
  if constexpr (kFault != Fault::disabled_memory_used) {
    if (!node_.enabled()) return note("{} is {}; ignored", node_name(), node_.status());
  }
  const usize count = node_.reg_count();
  if (count == 0) note("{} has no usable reg", node_name());
  for (usize i = 0; i < count; ++i) {
    if (const auto range = node_.reg(i)) {
      add_ram(*range);
    } else {
      note("{} reg entry {} {}; ignored", node_name(), i, range.error());
    }
  }
}

void Parser::read_reserved_memory() {
  if (!node_.enabled()) return;
  using enum mm::ReservationKind;
  const mm::ReservationKind kind = node_.property("no-map").exists() ? no_map : reserved;
  if (!node_.property("reg").exists()) {
    // A size alone asks the kernel to choose a place for a driver; there is no driver here to use it.
    return note("reserved-memory/{} has no address; ignored", node_name());
  }
  for (usize i = 0; i < node_.reg_count(); ++i) {
    if (const auto range = node_.reg(i)) {
      reserve(*range, kind, node_.name());
    } else {
      note("reserved-memory/{} reg entry {} {}; ignored", node_name(), i, range.error());
    }
  }
}

void Parser::read_chosen() {
  read_stdout_path();
  read_boot_arguments();
  read_initrd();
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
  if (!terminated) note("bootargs has no terminator; used as far as it goes");
  std::string_view kept = value;
  if (kept.size() > Machine::kMaxBootArguments) {
    // Half a word could mean something else: cut after the last whole one.
    const usize space = kept.substr(0, Machine::kMaxBootArguments + 1).rfind(' ');
    kept = kept.substr(0, space == std::string_view::npos ? 0 : space);
    note("bootargs of {} characters cut to {}", value.size(), kept.size());
  }
  std::copy(kept.begin(), kept.end(), machine_.boot_argument_text.begin());
  machine_.boot_argument_length = kept.size();
}

void Parser::read_initrd() {
  const FdtProperty start_cells = node_.property("linux,initrd-start");
  const FdtProperty end_cells = node_.property("linux,initrd-end");
  if (!start_cells.exists() && !end_cells.exists()) return;
  // One or two cells, whatever the root's #address-cells: loaders differ.
  const auto start = start_cells.number(0, static_cast<u32>(start_cells.cell_count()));
  const auto end = end_cells.number(0, static_cast<u32>(end_cells.cell_count()));
  if (!start || !end || *end <= *start) return note("initrd range is empty or broken; ignored");
  machine_.initrd = {PhysAddr(*start), *end - *start};
  reserve(machine_.initrd, mm::ReservationKind::initrd, "initrd");
}

void Parser::read_cpu() {
  // "disabled" means quiescent for a CPU: its enable-method starts it (Devicetree Specification 3.8.1).
  const std::string_view status = node_.status();
  if (!status.empty() && status != "okay" && status != "ok" && status != "disabled") {
    return note("{} is {}; left out", node_name(), status);
  }
  const auto affinity = node_.bare_reg();
  if (!affinity) return note("{} has no MPIDR in reg; left out", node_name());
  if (machine_.cpu_count == kMaxCpus) {
    ++machine_.cpus_left_out;
    return;
  }
  machine_.cpus[machine_.cpu_count++] = {*affinity, node_.property("enable-method").text().value == "psci"};
}

void Parser::read_psci() {
  if (!node_.compatible("arm,psci-1.0") && !node_.compatible("arm,psci-0.2")) {
    return note("PSCI 0.1 has its own function numbers; not used");
  }
  const std::string_view method = node_.property("method").text().value;
  if (method == "hvc") {
    machine_.psci = arch::PsciConduit::hvc;
  } else if (method == "smc") {
    machine_.psci = arch::PsciConduit::smc;
  } else {
    note("PSCI method \"{}\" is unknown; not used", method.substr(0, 16));
  }
}

void Parser::read_gic(GicDescription::Version version) {
  if (machine_.gic.version != GicDescription::Version::none) {
    return note("{} is a second interrupt controller; ignored", node_name());
  }
  GicDescription gic;
  const auto distributor = device_registers(0);
  if (!distributor) return;
  gic.distributor = *distributor;

  if (version == GicDescription::Version::v2) {
    const auto interface = device_registers(1);
    if (!interface) return;
    gic.cpu_interface = *interface;
  } else {
    const usize regions = node_.property("#redistributor-regions").number(0, 1).value_or(1);
    for (usize i = 0; i < regions; ++i) {
      const auto region = device_registers(1 + i);
      if (!region) break;
      if (gic.region_count == GicDescription::kMaxRegions) {
        note("{}: only {} of {} redistributor regions are used", node_name(), gic.region_count, regions);
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
  const auto registers = device_registers(0);
  if (!registers) return;
  if (uart_count_ == kMaxUarts) return note("{} is one UART too many; ignored", node_name());
  uarts_[uart_count_++] = {node_.offset(), *registers, FdtInterrupt::of(node_, 0)};
}

/// What stdout-path names, by path or alias; without a usable one, the first PL011 of the tree.
void Parser::choose_console() {
  const std::span<const Uart> uarts(uarts_.data(), uart_count_);
  const Uart* chosen = uarts.empty() ? nullptr : &uarts.front();
  if (!stdout_path_.empty()) {
    const int offset =
        fdt_path_offset_namelen(fdt_, stdout_path_.data(), static_cast<int>(stdout_path_.size()));
    const auto named = std::ranges::find(uarts, offset, &Uart::offset);
    if (named != uarts.end()) {
      chosen = &*named;
    } else {
      note("stdout-path \"{}\" names no usable PL011", stdout_path_.substr(0, 64));
    }
  }
  if (chosen != nullptr) machine_.console = ConsoleDescription{chosen->registers, resolve(chosen->interrupt)};
}

std::optional<u32> Parser::resolve(const FdtInterrupt& interrupt) {
  const auto intid = gic_.intid(fdt_, interrupt);
  if (intid) return *intid;
  note("an interrupt of the timer or the console {}; ignored", intid.error());
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
