// Which physical addresses are RAM, and which of them somebody already uses: filled at boot from
// the device tree, then fixed by `finalize`, then read by the linear map and the allocators.
//
// In doubt a byte is not free: banks are trimmed inward to whole pages, reservations rounded
// outward, a bank that does not fit the table is left out, and a reservation that does not fit is
// joined with a neighbour, the gap between them included.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>

#include "lib/address.hpp"
#include "lib/result.hpp"
#include "mm/range_set.hpp"

namespace atl::mm {

enum class ReservationKind : u8 {
  kernel,
  initrd,
  device_tree,
  firmware,  ///< /memreserve/
  reserved,  ///< /reserved-memory
  no_map,    ///< /reserved-memory with `no-map`: not even speculative reads, so never in the linear map
};
const char* to_string(ReservationKind kind);

struct Reservation {
  static constexpr usize kNameBytes = 23;

  PhysRange range;
  ReservationKind kind{};
  std::array<char, kNameBytes> text{};

  /// Cut to what fits; a copy, so that it outlives the device tree's mapping.
  constexpr std::string_view name() const {
    return {text.data(), static_cast<usize>(std::ranges::find(text, '\0') - text.begin())};
  }
};

/// Physical addresses have at most 52 bits (FEAT_LPA, FEAT_LPA2), so range ends never wrap.
inline constexpr PhysAddr kPhysicalEnd = PhysAddr(u64{1} << 52);

/// The linear map begins at a multiple of this. 1 GiB is the 4K granule's largest block, a
/// contiguous run of 32 MiB blocks at 16K, and two 512 MiB blocks at 64K, so a block that fits
/// the physical range fits the virtual one too. Also a multiple of the largest buddy block.
inline constexpr u64 kLinearAlign = 1_GiB;

/// What the machine and the address space layout allow.
struct MapRules {
  u64 page_size;
  u64 linear_bytes;       ///< size of the linear map, a multiple of kLinearAlign
  PhysAddr physical_end;  ///< first address that a descriptor cannot name (TCR_EL1.IPS)

  template <class L>
  static constexpr MapRules of(PhysAddr physical_end) {
    return {L::Geometry::kPageSize, L::kLinear.size, physical_end};
  }
};

/// Not synchronised: one CPU fills and finalizes it, after that it is only read.
class MemoryMap {
 public:
  // 64 banks occur, and a hole may halve each of them. Firmware reserves a few dozen
  // ranges at most. Together less than 11 KiB, all zero at first, so of BSS.
  static constexpr usize kMaxBanks = 128;
  static constexpr usize kMaxReservations = 128;

  /// What `finalize` left out of the RAM that was added, in bytes, by reason.
  struct LeftOut {
    u64 by_limit = 0;     ///< above `mem=`
    u64 unreachable = 0;  ///< beyond the physical address size, or outside the linear map
    u64 trimmed = 0;      ///< parts of pages at the ends of banks
    u64 absent = 0;       ///< told of by `leave_out`, after `finalize`
  };

  /// Adds a bank: in any order, overlapping or touching others, of any size and alignment. What lies beyond
  /// 52 bits is cut off.
  /// `out_of_range`: all of it does. `no_memory`: kMaxBanks separate banks are recorded already. In both
  /// cases the map is what it was, and boot can go on without the bank.
  [[nodiscard]] Result<> add_ram(PhysRange bank);

  /// Withholds `range`, RAM or not, from `for_each_free`. What lies beyond 52 bits is cut off. Where
  /// kMaxReservations are recorded already, the two neighbours that are closest to each other become one:
  /// more is withheld than was asked for, never less. What the loader placed is not joined with anything, and no
  /// `no_map` is drawn over it as long as another pair is left.
  void reserve(PhysRange range, ReservationKind kind, std::string_view name = {});

  /// Uses only the lowest `bytes` of RAM (`mem=`), and what the loader placed above them: kernel,
  /// initrd and device tree.
  void limit(u64 bytes);

  /// Ends the filling; nothing may be added after it. A `no_map` over the kernel counts for what is outside the
  /// kernel: it could not run without its own memory. `no_memory`: a bank that a limit cuts up does not fit the table.
  /// `not_found`: no whole page of RAM is left.
  [[nodiscard]] Result<> finalize(const MapRules& rules);

  // Also before `finalize`, of what was added so far.

  /// Whether all of `range` is in the banks.
  bool is_ram(PhysRange range) const { return ram_.contains(range); }
  /// Whether some of it is.
  bool overlaps_ram(PhysRange range) const;
  /// Whether some of it is reserved as one of `kind`.
  bool overlaps(PhysRange range, ReservationKind kind) const;
  /// How often two reservations were joined to make room.
  unsigned joined_reservations() const { return joined_reservations_; }

  // The rest is for a finalized map.

  /// `part`, one of `ram()` or its upper end, is not there after all. Whole pages.
  void leave_out(PhysRange part);

  u64 page_size() const { return rules_.page_size; }
  /// Physical address of the linear map's first byte, a multiple of kLinearAlign. All of `ram()`
  /// lies in [linear_base, linear_base + linear_bytes).
  PhysAddr linear_base() const { return linear_base_; }
  const LeftOut& left_out() const { return left_out_; }

  /// Whole pages of RAM in ascending order, used or not.
  std::span<const PhysRange> ram() const { return ram_.ranges(); }
  /// Ascending by start; may overlap each other and may lie outside RAM. Whole pages.
  std::span<const Reservation> reservations() const { return {reservations_.data(), reservation_count_}; }

  u64 ram_bytes() const { return ram_.bytes(); }
  u64 mappable_bytes() const;
  u64 free_bytes() const;
  /// Whether the linear map shows all of `range`.
  bool is_mappable(PhysRange range) const;

  template <class Visit>
  void for_each_ram(Visit visit) const {
    for (const PhysRange& bank : ram()) visit(bank);
  }
  /// What the linear map maps: RAM without the `no_map` reservations.
  template <class Visit>
  void for_each_mappable(Visit visit) const {
    for_each_outside(unmapped_.ranges(), visit);
  }
  /// RAM without any reservation.
  template <class Visit>
  void for_each_free(Visit visit) const {
    for_each_outside(std::views::transform(reservations(), &Reservation::range), visit);
  }

 private:
  /// The holes ascend by start, so all that ends a run [cursor, …) of a bank comes before
  /// whatever begins after it.
  template <class Holes, class Visit>
  void for_each_outside(const Holes& holes, Visit visit) const {
    for (const PhysRange& bank : ram()) {
      PhysRange rest = bank;
      for (const PhysRange& range : holes) {
        const PhysRange hole = intersection(rest, range);
        if (hole.empty()) continue;
        if (hole.start > rest.start) visit(PhysRange{rest.start, hole.start - rest.start});
        rest = {hole.end(), rest.end() - hole.end()};
      }
      if (!rest.empty()) visit(rest);
    }
  }

  void join_closest_reservations();
  void round_reservations_outward();
  bool join_hides_placed(usize i) const;
  void collect_unmapped();
  Result<> apply_limit();
  void place_linear_map();

  RangeSet<kMaxBanks> ram_;
  /// `no_map` outside the kernel, which makes one more hole at most.
  RangeSet<kMaxReservations + 1> unmapped_;
  /// One more than stay: `reserve` adds, and then joins two.
  std::array<Reservation, kMaxReservations + 1> reservations_{};
  usize reservation_count_ = 0;
  unsigned joined_reservations_ = 0;
  bool finalized_ = false;
  std::optional<u64> limit_;
  MapRules rules_{};
  PhysAddr linear_base_;
  LeftOut left_out_;
};
static_assert(sizeof(MemoryMap) <= 11_KiB);

}  // namespace atl::mm
