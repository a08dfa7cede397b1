// Code patching at boot: LSE atomics in place of LL/SC where the CPUs have them.
#pragma once

#include "lib/types.hpp"

namespace atl {

/// Patches every `this_cpu` site of the image if the boot CPU has FEAT_LSE and `wanted`. Boot CPU, on the boot
/// root, others not started: the writable alias of the code is a mapping there and dies with it, so W^X holds
/// for every root that lives. Prints what it did.
void apply_boot_patches(bool wanted);

}  // namespace atl
