// arch/mmu.hpp for host tests: nothing is translated, everything is recorded.
#include "arch/mmu.hpp"

#include <functional>
#include <utility>

#include "tests/host/fake/events.hpp"
#include "tests/host/fake/registers.hpp"

namespace atl::arch {
namespace {

std::function<std::optional<PhysAddr>(VirtAddr)>& translation() {
  static std::function<std::optional<PhysAddr>(VirtAddr)> translation;
  return translation;
}

}  // namespace

namespace fake {

void set_translation(std::function<std::optional<PhysAddr>(VirtAddr)> answer) {
  translation() = std::move(answer);
}

}  // namespace fake

using fake::Operation;
using fake::record;

void publish_table() { record(Operation::publish_table); }
void publish_descriptor() { record(Operation::publish_descriptor); }

// The image is "loaded" where the host put it.
void set_image_offset(u64) {}
PhysAddr image_to_phys(const void* in_image) { return PhysAddr(address_of(in_image).value()); }

PhysAddr current_root() { return fake::registers().root; }
void install_root(PhysAddr, PhysAddr own_root) {
  fake::registers().root = own_root;
  record(Operation::install_root, own_root.value());
}
void drop_identity_map(PhysAddr zero_root) { record(Operation::drop_identity_map, zero_root.value()); }

std::optional<PhysAddr> translate(VirtAddr va) { return translation() ? translation()(va) : std::nullopt; }

void tlb_flush_page(VirtAddr va) { record(Operation::tlb_flush_page, va.value()); }
void tlb_flush_all() { record(Operation::tlb_flush_all); }
void tlb_flush_all_local() { record(Operation::tlb_flush_all_local); }

void sync_instructions(VirtRange, VirtAddr executed) {
  record(Operation::sync_instructions, executed.value());
}
void clean_to_poc(VirtRange range) { record(Operation::clean_to_poc, range.start.value()); }

}  // namespace atl::arch
