#include "mm/memory_map.hpp"

#include "lib/fault.hpp"
#include "lib/panic.hpp"

namespace atl::mm {

const char* to_string(ReservationKind kind) {
  switch (kind) {
    case ReservationKind::kernel: return "kernel";
    case ReservationKind::initrd: return "initrd";
    case ReservationKind::device_tree: return "device tree";
    case ReservationKind::firmware: return "firmware";
    case ReservationKind::reserved: return "reserved";
    case ReservationKind::no_map: return "no-map";
  }
  return "?";
}

namespace {

/// What the boot loader put in RAM for the kernel, and `mem=` therefore does not take away.
bool placed_by_loader(ReservationKind kind) {
  return kind == ReservationKind::kernel || kind == ReservationKind::initrd ||
         kind == ReservationKind::device_tree;
}

PhysRange rounded_outward(const PhysRange& range, u64 granule) {
  if constexpr (kFault == Fault::reservation_rounded_inward) return trimmed_inward(range, granule);
  const PhysAddr start = range.start.align_down(granule);
  return {start, range.end().align_up(granule) - start};
}

}  // namespace

Result<> MemoryMap::add_ram(PhysRange bank) {
  ATOLL_ASSERT(!finalized_);
  if (bank.start > kPhysicalEnd || bank.size > kPhysicalEnd - bank.start) return fail(Error::out_of_range);
  return ram_.insert(bank);
}

Result<> MemoryMap::reserve(PhysRange range, ReservationKind kind, std::string_view name) {
  ATOLL_ASSERT(!finalized_);
  if (range.empty() || range.start >= kPhysicalEnd) return {};
  if (reservation_count_ == kMaxReservations) {
    reservation_refused_ = true;
    return fail(Error::no_memory);
  }
  Reservation entry{.range = {range.start, std::min(range.size, kPhysicalEnd - range.start)}, .kind = kind};
  std::copy_n(name.begin(), std::min(name.size(), entry.text.size()), entry.text.begin());

  const auto end = reservations_.begin() + reservation_count_;
  const auto place = std::find_if(reservations_.begin(), end,
                                  [&](const Reservation& r) { return r.range.start > entry.range.start; });
  std::copy_backward(place, end, end + 1);
  *place = entry;
  ++reservation_count_;
  return {};
}

void MemoryMap::limit(u64 bytes) {
  ATOLL_ASSERT(!finalized_);
  limit_ = bytes;
}

Result<> MemoryMap::finalize(const MapRules& rules) {
  ATOLL_ASSERT(!finalized_);
  if (reservation_refused_) return fail(Error::no_memory);
  rules_ = rules;
  round_reservations_outward();

  const u64 added = ram_.bytes();
  ram_.keep_only({PhysAddr(0), rules.physical_end.value()});
  left_out_.unreachable = added - ram_.bytes();

  auto limited = apply_limit();
  if (!limited) return limited;

  // Banks were joined when they were added: a page that two of them share is not trimmed.
  const u64 untrimmed = ram_.bytes();
  if constexpr (kFault != Fault::ram_not_trimmed) ram_.trim(rules.page_size);
  left_out_.trimmed = untrimmed - ram_.bytes();
  if (ram_.empty()) return fail(Error::not_found);

  place_linear_map();
  finalized_ = true;
  return {};
}

void MemoryMap::round_reservations_outward() {
  // Rounding is monotonic, so the order by start stays.
  for (usize i = 0; i < reservation_count_; ++i) {
    reservations_[i].range = rounded_outward(reservations_[i].range, rules_.page_size);
  }
}

Result<> MemoryMap::apply_limit() {
  const u64 before = ram_.bytes();
  if (!limit_ || *limit_ >= before) return {};
  PhysAddr cut;
  u64 left = *limit_;
  for (const PhysRange& bank : ram()) {
    const u64 used = std::min(left, bank.size);
    cut = bank.start + used;
    left -= used;
    if (left == 0) break;
  }
  RangeSet<kMaxBanks> kept = ram_;
  kept.keep_only({PhysAddr(0), cut.value()});
  for (const Reservation& r : reservations()) {
    if (!placed_by_loader(r.kind)) continue;
    for (const PhysRange& bank : ram()) {
      auto inserted = kept.insert(intersection(bank, r.range));
      if (!inserted) return inserted;
    }
  }
  ram_ = kept;
  left_out_.by_limit = before - ram_.bytes();
  return {};
}

void MemoryMap::place_linear_map() {
  linear_base_ = ram().front().start.align_down(kLinearAlign);
  // The kernel needs a linear alias of itself: where it lies too high, lower RAM goes instead.
  for (const Reservation& r : reservations()) {
    const bool in_ram_above = r.range.end() > linear_base_ + rules_.linear_bytes && is_ram(r.range);
    if (r.kind != ReservationKind::kernel || !in_ram_above) continue;
    linear_base_ = (r.range.end() - rules_.linear_bytes).align_up(kLinearAlign);
  }
  const u64 before = ram_.bytes();
  ram_.keep_only({linear_base_, rules_.linear_bytes});
  left_out_.unreachable += before - ram_.bytes();
}

u64 MemoryMap::mappable_bytes() const {
  u64 total = 0;
  for_each_mappable([&](const PhysRange& range) { total += range.size; });
  return total;
}

u64 MemoryMap::free_bytes() const {
  u64 total = 0;
  for_each_free([&](const PhysRange& range) { total += range.size; });
  return total;
}

}  // namespace atl::mm
