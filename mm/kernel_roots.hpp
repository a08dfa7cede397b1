// Every CPU's kernel root: equal to the master everywhere but in the local window's slots.
//
// Per CPU one physically contiguous block, so that entry code reaches its neighbours from TTBR1_EL1 by
// adding or subtracting `kRootStride`, without knowing its CPU number:
//
//     block:  [ trampoline root | zero root | kernel root ]
//
// Where the sync level is the root's, the kernel root alone is private. Where it is the level below
// (16K/48), so is the one table there that holds the window's slot; the tables beside it are shared.
// All tables of those two levels exist from `init` on, so nothing above the sync level ever changes.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "lib/cpu_set.hpp"
#include "mm/page_tables.hpp"
#include "mm/regions.hpp"
#include "percpu/spin_lock.hpp"

namespace atl::mm {

/// Table memory and the lock of the one rule, which must mask IRQs: IRQ handlers may map.
template <class M>
concept RootMemory = TableMemory<M> && requires(typename M::Lock lock) {
  lock.lock();
  lock.unlock();
};

/// Descriptors installed at the sync level, by region.
struct SyncCounters {
  using ByRegion = std::array<u64, kRegionCount>;
  ByRegion boot{};
  ByRegion runtime{};  ///< after `freeze_boot`

  static constexpr u64 total(const ByRegion& counts) {
    u64 sum = 0;
    for (u64 n : counts) sum += n;
    return sum;
  }
};

template <class L, RootMemory Memory>
class KernelRoots {
 public:
  using Layout = L;
  using G = typename L::Geometry;
  static constexpr int kSyncLevel = L::kSyncLevel;
  /// The zero root serves TTBR0 under the identity map's T0SZ too, so it is at least that root's size.
  static constexpr u64 kRootStride =
      std::max(G::kRootBytes, arch::IdentityGeometryOf<G::kGranule>::kRootBytes);
  static constexpr u64 kBlockBytes = 3 * kRootStride;

  class MasterMemory;
  class LocalMemory;
  /// All shared mappings. The caller serialises changes; stores at the sync level reach every root.
  using MasterTables = PageTables<G, MasterMemory>;
  /// One CPU's own mappings: the local window's slots and nothing else.
  using LocalTables = PageTables<G, LocalMemory>;

  constexpr explicit KernelRoots(Memory memory) : memory_(memory) {}
  KernelRoots(const KernelRoots&) = delete;
  KernelRoots& operator=(const KernelRoots&) = delete;

  /// Makes the master root for a machine of at most `possible_cpus`, numbered from 0. Once, before all else.
  Result<> init(unsigned possible_cpus);

  MasterTables master() { return MasterTables(MasterMemory(*this), master_); }
  LocalTables local(unsigned cpu) { return LocalTables(LocalMemory(*this, cpu), root_of(cpu)); }

  /// Makes the CPU's block, complete but for its window, and adds it to the store set: before CPU_ON, since a
  /// root is never copied again. `no_memory` leaves nothing behind.
  Result<> create_root(unsigned cpu);

  /// The one rule (docs/memory-layout.md): every store of a descriptor at the sync level, outside the window.
  /// The caller has filled the table that `value` links. On return every CPU's walks can use it. An invalid
  /// `value` removes a leaf, to be flushed by the caller; tables linked here stay linked.
  /// `denied` in the window's slots. Panics on any change from valid to valid. Any context.
  Result<> install(VirtAddr va, arch::Descriptor value);

  /// From here on installs count as run-time syncs.
  void freeze_boot() {
    percpu::LockGuard guard(lock_);
    frozen_ = true;
  }
  SyncCounters counters() const {
    percpu::LockGuard guard(lock_);
    return counters_;
  }

  unsigned possible_cpus() const { return possible_cpus_; }
  /// The CPUs that have a root.
  const CpuSet& cpus() const { return cpus_; }
  PhysAddr master_root() const { return master_; }
  PhysAddr trampoline_of(unsigned cpu) const { return root_of(cpu) - 2 * kRootStride; }
  PhysAddr zero_root_of(unsigned cpu) const { return root_of(cpu) - kRootStride; }
  /// The CPU has a root.
  PhysAddr root_of(unsigned cpu) const {
    if (!cpus_.contains(cpu)) panic("CPU {} has no root", cpu);
    return roots_[cpu];
  }

  /// A slot outside the window's where a CPU's tables are not the master's.
  struct Difference {
    VirtAddr va;  ///< the slot's first address
    arch::Descriptor master;
    arch::Descriptor own;
  };
  std::optional<Difference> compare(unsigned cpu) const;

  /// Bytes of tables that exist for this CPU alone: its block, and all below its window's slots.
  u64 private_table_bytes(unsigned cpu);

 private:
  static constexpr bool kSyncsBelowRoot = kSyncLevel > G::kRootLevel;
  static_assert(kSyncLevel == G::kRootLevel || kSyncLevel == G::kRootLevel + 1);
  static_assert(kRootStride <= G::kPageSize, "a block is aligned like a page");
  static constexpr usize kPathIndex = G::index(L::kLocal.start, G::kRootLevel);

  /// The first address that entry `index` translates, in the private table at `level`.
  static constexpr VirtAddr slot_va(int level, usize index) {
    const VirtAddr base =
        level == G::kRootLevel ? G::kKernelStart : L::kLocal.start.align_down(G::entry_bytes(G::kRootLevel));
    return base + index * G::entry_bytes(level);
  }

  arch::Descriptor* sync_table(PhysAddr root, VirtAddr va) const {
    arch::Descriptor* entries = memory_.table(root);
    if constexpr (!kSyncsBelowRoot) return entries;
    return memory_.table(read_descriptor(entries[G::index(va, G::kRootLevel)]).address());
  }
  void store(PhysAddr root, VirtAddr va, arch::Descriptor value) const {
    write_descriptor(sync_table(root, va)[L::slot_of(va)], value);
  }
  void install_local(unsigned cpu, VirtAddr va, arch::Descriptor value);
  Result<PhysAddr> take_block() ATOLL_REQUIRES(lock_);
  std::optional<Difference> compare(const arch::Descriptor* own, const arch::Descriptor* master,
                                    int level) const;

  mutable Memory memory_;
  mutable typename Memory::Lock lock_;
  PhysAddr master_;
  unsigned possible_cpus_ = 0;
  CpuSet cpus_;
  std::array<PhysAddr, kMaxCpus> roots_{};
  /// What is left of the page that blocks smaller than a page are cut from.
  PhysRange spare_ ATOLL_GUARDED_BY(lock_);
  bool frozen_ ATOLL_GUARDED_BY(lock_) = false;
  SyncCounters counters_ ATOLL_GUARDED_BY(lock_);
};

/// The master tree's policy: routes stores at the sync level to `install`.
template <class L, RootMemory Memory>
class KernelRoots<L, Memory>::MasterMemory : public Memory {
 public:
  static constexpr int kSyncLevel = L::kSyncLevel;
  explicit MasterMemory(KernelRoots& roots) : Memory(roots.memory_), roots_(&roots) {}

  Result<> admits(VirtRange range) const {
    const bool overlaps = range.contains(L::kLocalSlots.start) || L::kLocalSlots.contains(range.start);
    return overlaps ? fail(Error::denied) : Result<>();
  }
  void install(int level, VirtAddr va, arch::Descriptor value) {
    ATOLL_ASSERT(level == kSyncLevel);  // the tables above are all there since `init`
    ATOLL_ASSERT(roots_->install(va, value).has_value());
  }

 private:
  KernelRoots* roots_;
};

/// One CPU's policy: only the window's slots, which it stores into that CPU's root alone.
template <class L, RootMemory Memory>
class KernelRoots<L, Memory>::LocalMemory : public Memory {
 public:
  static constexpr int kSyncLevel = L::kSyncLevel;
  LocalMemory(KernelRoots& roots, unsigned cpu) : Memory(roots.memory_), roots_(&roots), cpu_(cpu) {}

  Result<> admits(VirtRange range) const {
    return L::kLocalSlots.contains(range) ? Result<>() : fail(Error::denied);
  }
  void install(int level, VirtAddr va, arch::Descriptor value) {
    ATOLL_ASSERT(level == kSyncLevel);
    roots_->install_local(cpu_, va, value);
  }

 private:
  KernelRoots* roots_;
  unsigned cpu_;
};

template <class L, RootMemory Memory>
Result<> KernelRoots<L, Memory>::init(unsigned possible_cpus) {
  ATOLL_ASSERT(possible_cpus <= kMaxCpus && possible_cpus_ == 0);
  master_ = TRY(memory_.allocate_table(G::kRootBytes));
  if constexpr (kSyncsBelowRoot) {
    for (usize i = 0; i < G::kRootEntries; ++i) {
      const PhysAddr table = TRY(memory_.allocate_table(G::kPageSize));
      write_descriptor(memory_.table(master_)[i], arch::Descriptor::table(table));
    }
  }
  memory_.publish_table();
  possible_cpus_ = possible_cpus;
  return {};
}

template <class L, RootMemory Memory>
Result<PhysAddr> KernelRoots<L, Memory>::take_block() {
  if (spare_.size < kBlockBytes) {
    const u64 bytes = align_up(kBlockBytes, G::kPageSize);
    spare_ = {TRY(memory_.allocate_table(bytes)), bytes};
  }
  const PhysAddr block = spare_.start;
  spare_ = {block + kBlockBytes, spare_.size - kBlockBytes};
  return block;
}

template <class L, RootMemory Memory>
Result<> KernelRoots<L, Memory>::create_root(unsigned cpu) {
  percpu::LockGuard guard(lock_);
  ATOLL_ASSERT(cpu < possible_cpus_ && !cpus_.contains(cpu));
  PhysAddr private_table;
  if constexpr (kSyncsBelowRoot) private_table = TRY(memory_.allocate_table(G::kPageSize));
  const Result<PhysAddr> block = take_block();
  if (!block) [[unlikely]] {
    if constexpr (kSyncsBelowRoot) memory_.free_table(private_table);
    return std::unexpected(block.error());
  }
  const PhysAddr root = *block + 2 * kRootStride;
  // No walker knows these tables yet, so they may be copied in any way.
  std::copy_n(memory_.table(master_), G::kRootEntries, memory_.table(root));
  if constexpr (kSyncsBelowRoot) {
    std::copy_n(sync_table(master_, L::kLocal.start), G::entries(kSyncLevel), memory_.table(private_table));
    memory_.table(root)[kPathIndex] = arch::Descriptor::table(private_table);
  }
  memory_.publish_table();
  roots_[cpu] = root;
  cpus_.add(cpu);
  return {};
}

template <class L, RootMemory Memory>
Result<> KernelRoots<L, Memory>::install(VirtAddr va, arch::Descriptor value) {
  if (L::kLocalSlots.contains(va)) return fail(Error::denied);
  percpu::LockGuard guard(lock_);
  const arch::Descriptor old = read_descriptor(sync_table(master_, va)[L::slot_of(va)]);
  if (old.is_valid() && value.is_valid() && old != value) {
    panic("sync level: {} goes from valid {:#x} to valid {:#x}", va, old.raw(), value.raw());
  }
  // 1. No CPU may find the new entry before the contents of the table it links.
  memory_.publish_table();
  // 2. A CPU that is off has its root too, so it comes online with nothing missing.
  store(master_, va, value);
  if (!kSyncsBelowRoot || G::index(va, G::kRootLevel) == kPathIndex) {
    const bool leaves_one_out = kFault == Fault::sync_skips_one_cpu && cpus_.count() > 1;
    unsigned left = cpus_.count() - (leaves_one_out ? 1 : 0);
    cpus_.for_each([&](unsigned cpu) {
      if (left == 0) return;
      --left;
      store(roots_[cpu], va, value);
    });
  }
  // 3. Invalid to valid needs no TLBI: an invalid entry is never cached (Arm ARM D8.13.1).
  memory_.publish_descriptor();
  if (value.is_valid()) {
    ++(frozen_ ? counters_.runtime : counters_.boot)[static_cast<usize>(region_of<L>(va))];
  }
  return {};
}

/// The same three steps for a slot that only `cpu` has.
template <class L, RootMemory Memory>
void KernelRoots<L, Memory>::install_local(unsigned cpu, VirtAddr va, arch::Descriptor value) {
  percpu::LockGuard guard(lock_);
  memory_.publish_table();
  store(roots_[cpu], va, value);
  memory_.publish_descriptor();
}

template <class L, RootMemory Memory>
auto KernelRoots<L, Memory>::compare(const arch::Descriptor* own, const arch::Descriptor* master,
                                     int level) const -> std::optional<Difference> {
  for (usize i = 0; i < G::entries(level); ++i) {
    const VirtAddr va = slot_va(level, i);
    const bool is_private = level == kSyncLevel ? L::kLocalSlots.contains(va) : i == kPathIndex;
    const arch::Descriptor expected = read_descriptor(master[i]), found = read_descriptor(own[i]);
    if (!is_private && found != expected) return Difference{va, expected, found};
  }
  return std::nullopt;
}

template <class L, RootMemory Memory>
auto KernelRoots<L, Memory>::compare(unsigned cpu) const -> std::optional<Difference> {
  const PhysAddr root = root_of(cpu);
  percpu::LockGuard guard(lock_);
  if constexpr (kSyncsBelowRoot) {
    const auto above = compare(memory_.table(root), memory_.table(master_), G::kRootLevel);
    if (above) return above;
  }
  return compare(sync_table(root, L::kLocal.start), sync_table(master_, L::kLocal.start), kSyncLevel);
}

template <class L, RootMemory Memory>
u64 KernelRoots<L, Memory>::private_table_bytes(unsigned cpu) {
  struct Counter {
    void leaf(const Leaf&) {}
    void table(VirtAddr, int level, PhysAddr) { tables += level >= kSyncLevel ? 1 : 0; }
    usize tables = 0;
  } counter;
  local(cpu).visit(L::kLocalSlots, counter);
  return kBlockBytes + counter.tables * G::kPageSize;
}

}  // namespace atl::mm
