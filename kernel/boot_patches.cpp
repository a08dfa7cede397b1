#include "kernel/boot_patches.hpp"

#include "arch/cpu.hpp"
#include "arch/mmu.hpp"
#include "kernel/boot_root.hpp"
#include "kernel/image.hpp"
#include "lib/format.hpp"
#include "lib/panic.hpp"
#include "mm/layout.hpp"
#include "percpu/lse_patch.hpp"

extern "C" const atl::percpu::LsePatch __lse_patches_start[], __lse_patches_end[];

namespace atl {
namespace {

constinit VirtAddr g_writable_text;

u32* writable(VirtRange text) {
  return pointer_to<u32>(g_writable_text + (text.start - address_of(__image_start)));
}

}  // namespace

void apply_boot_patches(bool wanted) {
  if (!wanted || !arch::read_cpu_features().lse) {
    print("percpu: LL/SC atomics ({})\n", wanted ? "the CPU has no FEAT_LSE" : "lse=off");
    return;
  }
  const u64 text_bytes = static_cast<u64>(__text_end - __image_start);
  const auto alias =
      map_in_boot_root(mm::KernelLayout::kFixPatch, {image_phys(), text_bytes}, arch::kKernelData);
  if (!alias) panic("no writable alias of the code for patching: {}", to_string(alias.error().error));
  g_writable_text = *alias;
  const VirtRange text{address_of(__image_start), text_bytes};
  const auto count = percpu::apply_lse_patches({__lse_patches_start, __lse_patches_end}, text, writable);
  if (!count) panic("LSE patch table: {}", to_string(count.error().error));
  print("percpu: LSE atomics, {} sites patched\n", count->patched);
}

}  // namespace atl
