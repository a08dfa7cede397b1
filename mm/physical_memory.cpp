#include "mm/physical_memory.hpp"

#include <bit>

#include "lib/late.hpp"
#include "mm/boot_allocator.hpp"
#include "mm/buddy.hpp"
#include "mm/linear_map.hpp"
#include "percpu/events.hpp"
#include "percpu/spin_lock.hpp"

namespace atl::mm {
namespace {

using Pages = PageArray<arch::KernelGeometry>;

constinit MemoryMap g_map;
constinit Late<BootAllocator> g_boot;
constinit Late<Pages> g_pages;
constinit Late<percpu::Guarded<BuddyZone>> g_zone;

}  // namespace

MemoryMap& memory_map() { return g_map; }

void start_boot_allocator(PhysRange window) { g_boot.emplace(g_map).set_window(window); }

void widen_boot_allocator() { g_boot->set_window({PhysAddr(0), kPhysicalEnd.value()}); }

Result<PhysAddr> allocate_at_boot(u64 bytes, u64 align) { return g_boot->allocate(bytes, align); }

void start_buddy_allocator(const Pages& pages) {
  const PageFrames& frames = g_pages.emplace(pages);
  auto& zone = g_zone.emplace(frames, kMaxOrder<arch::KernelGeometry>, u16{0});
  zone.with([](BuddyZone& z) {
    g_boot->hand_over([&](PhysRange run) {
      z.add_free_range(run.start.value() >> arch::kPageShift, run.size >> arch::kPageShift);
    });
  });
}

MemoryCounts memory_counts() {
  if (!g_zone.made()) return {};
  return g_zone->with([](BuddyZone& z) { return MemoryCounts{z.managed_pages(), z.free_pages()}; });
}

Result<PhysAddr> allocate_pages(unsigned order) {
  Page* page = TRY(g_zone->with([&](BuddyZone& z) { return z.allocate(order); }));
  percpu::count(percpu::Event::pages_allocated, u64{1} << order);
  return g_pages->address_of(*page);
}

void free_pages(PhysAddr pages, unsigned order) {
  ATOLL_ASSERT(pages.is_aligned(arch::kPageSize));
  if (!g_zone.made()) return;
  g_zone->with([&](BuddyZone& z) { z.free(&g_pages->page_of(pages), order); });
  percpu::count(percpu::Event::pages_freed, u64{1} << order);
}

Result<PhysAddr> allocate_zeroed(u64 bytes) {
  const u64 whole_pages = align_up(bytes, arch::kPageSize) >> arch::kPageShift;
  const PhysAddr pages =
      TRY(g_zone.made() ? allocate_pages(static_cast<unsigned>(std::bit_width(whole_pages - 1)))
                        : allocate_at_boot(bytes, arch::kPageSize));
  __builtin_memset(pointer_to<void>(phys_to_virt(pages)), 0, bytes);
  return pages;
}

}  // namespace atl::mm
