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
  if (bank.start >= kPhysicalEnd) return fail(Error::out_of_range);
  const u64 room = kPhysicalEnd - bank.start;
  if constexpr (kFault == Fault::vast_bank_dropped) {
    if (bank.size > room) return fail(Error::out_of_range);
  }
  return ram_.insert({bank.start, std::min(bank.size, room)});
}

void MemoryMap::reserve(PhysRange range, ReservationKind kind, std::string_view name) {
  ATOLL_ASSERT(!finalized_);
  if (range.empty() || range.start >= kPhysicalEnd) return;
  Reservation entry{.range = {range.start, std::min(range.size, kPhysicalEnd - range.start)}, .kind = kind};
  std::copy_n(name.begin(), std::min(name.size(), entry.text.size()), entry.text.begin());

  const auto end = reservations_.begin() + reservation_count_;
  const auto place = std::find_if(reservations_.begin(), end,
                                  [&](const Reservation& r) { return r.range.start > entry.range.start; });
  std::copy_backward(place, end, end + 1);
  *place = entry;
  if (++reservation_count_ > kMaxReservations) join_closest_reservations();
}

/// Whether reservations `i` and `i + 1`, made one, would be a `no_map` over something that the loader placed: it may
/// begin before both and reach into the gap.
bool MemoryMap::join_hides_placed(usize i) const {
  if constexpr (kFault == Fault::join_hides_initrd) return false;
  const Reservation& first = reservations_[i];
  const Reservation& second = reservations_[i + 1];
  if (first.kind != ReservationKind::no_map && second.kind != ReservationKind::no_map) return false;
  const PhysAddr end = std::max(first.range.end(), second.range.end());
  const PhysRange joined{first.range.start, end - first.range.start};
  return std::ranges::any_of(reservations(), [&](const Reservation& r) {
    return placed_by_loader(r.kind) && r.range.overlaps(joined);
  });
}

/// Of the pairs that follow one another, the one with the smallest gap. If each join hides something of the loader's,
/// one does: the kernel stays mapped all the same, and an initrd that is not is ignored.
void MemoryMap::join_closest_reservations() {
  if constexpr (kFault == Fault::reservation_dropped) {
    --reservation_count_;
    return;
  }
  const auto gap = [this](usize i) {
    const PhysAddr end = reservations_[i].range.end();
    const PhysAddr next = reservations_[i + 1].range.start;
    return next > end ? next - end : 0;
  };
  usize closest = kMaxReservations;
  bool closest_hides = true;
  for (usize i = 0; i + 1 < reservation_count_; ++i) {
    if (placed_by_loader(reservations_[i].kind) || placed_by_loader(reservations_[i + 1].kind)) continue;
    const bool hides = join_hides_placed(i);
    const bool better = hides == closest_hides ? gap(i) < gap(closest) : closest_hides;
    if (closest != kMaxReservations && !better) continue;
    closest = i;
    closest_hides = hides;
  }
  ATOLL_ASSERT(closest < kMaxReservations);  // the loader places three things, so others are neighbours
  Reservation& first = reservations_[closest];
  const Reservation& second = reservations_[closest + 1];
  first.range.size = std::max(first.range.end(), second.range.end()) - first.range.start;
  if (second.kind == ReservationKind::no_map) first.kind = ReservationKind::no_map;
  std::copy(reservations_.begin() + closest + 2, reservations_.begin() + reservation_count_,
            reservations_.begin() + closest + 1);
  --reservation_count_;
  ++joined_reservations_;
}

void MemoryMap::limit(u64 bytes) {
  ATOLL_ASSERT(!finalized_);
  limit_ = bytes;
}

Result<> MemoryMap::finalize(const MapRules& rules) {
  ATOLL_ASSERT(!finalized_);
  rules_ = rules;
  round_reservations_outward();
  collect_unmapped();

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

void MemoryMap::collect_unmapped() {
  // Neither can fail: there is room for as many as there are reservations, and for the one hole that the kernel makes.
  for (const Reservation& r : reservations()) {
    if constexpr (kFault == Fault::no_map_lifted_whole) {
      if (overlaps(r.range, ReservationKind::kernel)) continue;
    }
    if (r.kind == ReservationKind::no_map) ATOLL_ASSERT(unmapped_.insert(r.range).has_value());
  }
  if constexpr (kFault == Fault::no_map_hides_kernel) return;
  for (const Reservation& r : reservations()) {
    if (r.kind == ReservationKind::kernel) ATOLL_ASSERT(unmapped_.remove(r.range).has_value());
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

bool MemoryMap::overlaps_ram(PhysRange range) const {
  return std::ranges::any_of(ram_.ranges(), [&](const PhysRange& bank) { return bank.overlaps(range); });
}

bool MemoryMap::overlaps(PhysRange range, ReservationKind kind) const {
  return std::ranges::any_of(reservations(),
                             [&](const Reservation& r) { return r.kind == kind && r.range.overlaps(range); });
}

void MemoryMap::leave_out(PhysRange part) {
  ATOLL_ASSERT(finalized_ && ram_.contains(part));
  ATOLL_ASSERT(ram_.remove(part).has_value());  // at an entry's end, which needs none
  left_out_.absent += part.size;
}

bool MemoryMap::is_mappable(PhysRange range) const {
  bool found = range.empty();
  for_each_mappable([&](const PhysRange& run) { found = found || run.contains(range); });
  return found;
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
