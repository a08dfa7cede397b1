// Physical memory for translation tables, as host tests see it: each table is a vector of its own, so that a
// stray access hits the sanitizer, and every barrier and lock operation can be observed.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "mm/page_tables.hpp"

namespace atl::mm::fake {

class PhysicalTables {
 public:
  enum class Moment : u8 { publish_table, publish_descriptor, lock, unlock };

  explicit PhysicalTables(u64 page_size) : page_size_(page_size), next_(PhysAddr(0x4000'0000)) {}

  Result<PhysAddr> allocate(u64 bytes) {
    if (allocations_left == 0) return fail(Error::no_memory);
    if (allocations_left) --*allocations_left;
    const PhysAddr pa = next_;
    next_ += align_up(bytes, page_size_) + page_size_;  // a hole after each, where nothing may be touched
    tables_[pa].resize(align_up(bytes, page_size_) / sizeof(arch::Descriptor));
    return pa;
  }
  void free(PhysAddr pa) {
    const auto table = tables_.find(pa);
    ASSERT_NE(table, tables_.end()) << "freed twice, or never allocated";
    ASSERT_EQ(table->second.size() * sizeof(arch::Descriptor), page_size_);
    for (arch::Descriptor d : table->second) EXPECT_EQ(d.raw(), 0U) << "freed with contents";
    tables_.erase(table);
  }
  arch::Descriptor* at(PhysAddr pa) {
    auto table = tables_.upper_bound(pa);
    if (table == tables_.begin()) return nullptr;
    --table;
    const u64 offset = pa - table->first;
    return offset < table->second.size() * sizeof(arch::Descriptor) ? table->second.data() + offset / 8
                                                                    : nullptr;
  }
  void happens(Moment moment) {
    if (moment == Moment::lock || moment == Moment::unlock) {
      EXPECT_EQ(locked, moment == Moment::unlock);
      locked = moment == Moment::lock;
    }
    if (observer) observer(moment);
  }

  usize count() const { return tables_.size(); }
  /// All contents, to compare with later.
  std::map<PhysAddr, std::vector<arch::Descriptor>> snapshot() const { return tables_; }

  std::optional<usize> allocations_left;  ///< how many succeed from now on; no limit without a value
  std::function<void(Moment)> observer;
  bool locked = false;

 private:
  u64 page_size_;
  PhysAddr next_;
  std::map<PhysAddr, std::vector<arch::Descriptor>> tables_;
};

/// What the lock reports to: the state of the test that runs.
inline PhysicalTables* g_current = nullptr;

struct Lock {
  void lock() { g_current->happens(PhysicalTables::Moment::lock); }
  void unlock() { g_current->happens(PhysicalTables::Moment::unlock); }
};

/// The `RootMemory` over it.
class Memory {
 public:
  using Lock = fake::Lock;

  explicit Memory(PhysicalTables& tables) : tables_(&tables) {}
  Result<PhysAddr> allocate_table(u64 bytes) { return tables_->allocate(bytes); }
  void free_table(PhysAddr pa) { tables_->free(pa); }
  arch::Descriptor* table(PhysAddr pa) { return tables_->at(pa); }
  void publish_table() { tables_->happens(PhysicalTables::Moment::publish_table); }
  void publish_descriptor() { tables_->happens(PhysicalTables::Moment::publish_descriptor); }

 private:
  PhysicalTables* tables_;
};

struct Sink {
  struct Cleared {
    VirtRange range;
    u64 stride;
    friend bool operator==(const Cleared&, const Cleared&) = default;
  };
  void cleared(VirtRange range, u64 stride) { ranges.push_back({range, stride}); }
  u64 bytes() const {
    u64 sum = 0;
    for (const Cleared& c : ranges) sum += c.range.size;
    return sum;
  }
  std::vector<Cleared> ranges;
};

struct Leaves {
  void leaf(const Leaf& leaf) { all.push_back(leaf); }
  void table(VirtAddr, int, PhysAddr pa) { tables.push_back(pa); }
  std::vector<Leaf> all;
  std::vector<PhysAddr> tables;
};

template <class Tables>
std::vector<Leaf> leaves_of(const Tables& tables, VirtRange range) {
  Leaves leaves;
  tables.visit(range, leaves);
  return leaves.all;
}

}  // namespace atl::mm::fake
