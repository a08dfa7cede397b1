// The linker script's symbols (arch-arm64/hw/kernel.ld.S). Their addresses are what counts.
#pragma once

#include "arch-arm64/geometry.hpp"
#include "arch/mmu.hpp"
#include "lib/address.hpp"

extern "C" {
extern char __image_start[], __image_end[];
extern char __text_end[], __rodata_start[], __rodata_end[], __data_start[];
/// What every unit starts as: the static per-CPU variables, linked elsewhere but loaded here.
extern char __percpu_template[], __percpu_template_end[];
extern char __boot_unit[], __boot_unit_end[], __boot_stack_guard[], __boot_stack[], __boot_stack_top[];
extern char __early_tables[], __early_tables_end[];
}

namespace atl {

/// Bytes of the static per-CPU variables.
inline u64 template_bytes() { return static_cast<u64>(__percpu_template_end - __percpu_template); }
/// The static per-CPU area in whole pages: what every unit has from the start.
inline u64 static_unit_bytes() { return align_up(template_bytes(), arch::kPageSize); }

}  // namespace atl
