#include "kernel/boot_timeline.hpp"

#include "arch/timer.hpp"
#include "lib/format.hpp"

namespace atl {
namespace {

constinit u64 g_entry_ticks;

}  // namespace

void boot_timeline_start(u64 entry_ticks) { g_entry_ticks = entry_ticks; }

u64 boot_microseconds() { return arch::ticks_to_ns(arch::timer_ticks() - g_entry_ticks) / 1000; }

void boot_stage(const char* stage) { print("boot: {} {} us\n", stage, boot_microseconds()); }

}  // namespace atl
