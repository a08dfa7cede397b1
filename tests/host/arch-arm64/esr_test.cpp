#include "arch-arm64/esr.hpp"

#include <set>
#include <string>

#include "tests/host/support.hpp"

namespace atl::arch {
namespace {

constexpr Esr abort(ExceptionClass ec, u32 syndrome) {
  return Esr(u64{static_cast<u8>(ec)} << 26 | u64{1} << 25 | syndrome);
}
std::string text(Esr esr) {
  host::StringSink sink;
  describe(esr, sink);
  return sink.text();
}

TEST(Esr, KnownSyndromes) {
  EXPECT_EQ(text(Esr(0x9600'0046)), "data abort, current EL: translation fault at level 2, write");
  EXPECT_EQ(text(Esr(0x9600'0007)), "data abort, current EL: translation fault at level 3, read");
  EXPECT_EQ(text(Esr(0x9600'004f)), "data abort, current EL: permission fault at level 3, write");
  EXPECT_EQ(text(Esr(0x9600'0021)), "data abort, current EL: alignment fault, read");
  EXPECT_EQ(text(Esr(0x8600'000e)), "instruction abort, current EL: permission fault at level 2");
  EXPECT_EQ(text(Esr(0x8200'0004)), "instruction abort, lower EL: translation fault at level 0");
  EXPECT_EQ(text(Esr(0xf200'0800)), "BRK 0x800");
  EXPECT_EQ(text(Esr(0x0200'0000)), "unknown reason (undefined instruction?) (ESR 0x2000000)");
}

TEST(Esr, CacheMaintenanceIsNotCalledAWrite) {
  EXPECT_EQ(text(Esr(0x9600'0147)),
            "data abort, current EL: translation fault at level 3, cache maintenance");
}

TEST(Esr, AddressMayBeUnknown) {
  const Esr esr = abort(ExceptionClass::data_abort, 1 << 10 | 0b010000);
  EXPECT_FALSE(esr.is_address_valid());
  EXPECT_EQ(text(esr), "data abort, current EL: external abort, read, address not known");
  EXPECT_FALSE(Esr(0xf200'0800).is_address_valid());
}

TEST(Esr, LevelMinusOneDecodes) {
  EXPECT_EQ(text(abort(ExceptionClass::data_abort, 0b101011)),
            "data abort, current EL: translation fault at level -1, read");
  EXPECT_EQ(FaultStatus::decode(0b101001), (FaultStatus{FaultKind::address_size, -1}));
  EXPECT_EQ(FaultStatus::decode(0b010011), (FaultStatus{FaultKind::external_abort_on_walk, -1}));
  EXPECT_EQ(FaultStatus::decode(0b011011), (FaultStatus{FaultKind::parity_on_walk, -1}));
  EXPECT_EQ(FaultStatus::decode(0b100011), (FaultStatus{FaultKind::granule_protection_on_walk, -1}));
  EXPECT_TRUE(abort(ExceptionClass::data_abort, 0b101011).is_translation_fault());
}

TEST(Esr, EveryStatusCodeMeansOneThing) {
  std::set<std::pair<FaultKind, int>> seen;
  unsigned reserved = 0;
  for (unsigned code = 0; code < 64; ++code) {
    const FaultStatus status = FaultStatus::decode(code);
    if (status.kind == FaultKind::reserved) {
      ++reserved;
      continue;
    }
    EXPECT_TRUE(seen.emplace(status.kind, status.level).second) << "code " << code;
  }
  EXPECT_EQ(seen.size(), 46u);
  EXPECT_EQ(reserved, 18u);
}

TEST(Esr, StatusIsShiftedDownBeforeItIsCompared) {
  // Linux once compared an unshifted field and took every fault for a spurious one.
  const Esr permission = abort(ExceptionClass::data_abort, 0b001111);
  EXPECT_FALSE(permission.is_translation_fault());
  EXPECT_TRUE(permission.is_permission_fault());
  EXPECT_FALSE(Esr(0xf200'0007).is_translation_fault()) << "a BRK has no fault status";
}

TEST(Esr, ClassesAndNames) {
  EXPECT_TRUE(abort(ExceptionClass::data_abort_lower, 0).is_data_abort());
  EXPECT_TRUE(abort(ExceptionClass::instruction_abort_lower, 0).is_instruction_abort());
  EXPECT_FALSE(abort(ExceptionClass::pc_alignment, 0).is_abort());
  EXPECT_FALSE(abort(ExceptionClass::sp_alignment, 0).is_abort());
  std::set<std::string> names;
  unsigned named = 0;
  for (unsigned ec = 0; ec < 64; ++ec) {
    const std::string name = to_string(static_cast<ExceptionClass>(ec));
    if (name == "reserved exception class") continue;
    ++named;
    names.insert(name);
  }
  EXPECT_EQ(names.size(), named);
  EXPECT_EQ(named, 26u);
  std::set<std::string> kinds;
  for (u8 kind = 0; kind <= static_cast<u8>(FaultKind::reserved); ++kind) {
    kinds.insert(to_string(static_cast<FaultKind>(kind)));
  }
  EXPECT_EQ(kinds.size(), static_cast<usize>(FaultKind::reserved) + 1);
}

TEST(Esr, RawParts) {
  const Esr esr(0x9600'0046);
  EXPECT_EQ(esr.raw(), 0x9600'0046u);
  EXPECT_EQ(esr.syndrome(), 0x46u);
  EXPECT_EQ(esr.exception_class(), ExceptionClass::data_abort);
  EXPECT_TRUE(esr.is_write());
  EXPECT_EQ(Esr(0xf200'1234).brk_immediate(), 0x1234);
}

}  // namespace
}  // namespace atl::arch
