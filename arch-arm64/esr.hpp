// ESR_EL1 as a typed value: why an exception was taken.
#pragma once

#include "lib/format.hpp"
#include "lib/types.hpp"

namespace atl::arch {

/// ESR_ELx.EC, for exceptions that this kernel can meet at EL1.
enum class ExceptionClass : u8 {
  unknown = 0x00,
  wait_trapped = 0x01,
  fp_trapped = 0x07,
  branch_target = 0x0d,
  illegal_state = 0x0e,
  svc = 0x15,
  hvc = 0x16,
  smc = 0x17,
  system_register_trapped = 0x18,
  sve_trapped = 0x19,
  pointer_authentication = 0x1c,
  instruction_abort_lower = 0x20,
  instruction_abort = 0x21,
  pc_alignment = 0x22,
  data_abort_lower = 0x24,
  data_abort = 0x25,
  sp_alignment = 0x26,
  fp_exception = 0x2c,
  serror = 0x2f,
  breakpoint_lower = 0x30,
  breakpoint = 0x31,
  step_lower = 0x32,
  step = 0x33,
  watchpoint_lower = 0x34,
  watchpoint = 0x35,
  brk = 0x3c,
};
/// "data abort, current EL". "reserved exception class" for what the enumeration does not name.
const char* to_string(ExceptionClass ec);

/// What an abort's fault status code (DFSC, IFSC) says.
enum class FaultKind : u8 {
  address_size,
  translation,
  access_flag,
  permission,
  external_abort,
  external_abort_on_walk,
  tag_check,
  parity,
  parity_on_walk,
  alignment,
  granule_protection,
  granule_protection_on_walk,
  tlb_conflict,
  unsupported_atomic_update,
  lockdown,
  unsupported_exclusive,
  reserved,
};
const char* to_string(FaultKind kind);

struct FaultStatus {
  FaultKind kind = FaultKind::reserved;
  /// Level of the walk that failed, -2..3; `kNoLevel` where the kind has none.
  int level = kNoLevel;

  static constexpr int kNoLevel = 127;
  static FaultStatus decode(unsigned status_code);

  friend constexpr bool operator==(const FaultStatus&, const FaultStatus&) = default;
};

class Esr {
 public:
  constexpr explicit Esr(u64 raw) : raw_(raw) {}

  constexpr u64 raw() const { return raw_; }
  constexpr ExceptionClass exception_class() const { return static_cast<ExceptionClass>(raw_ >> 26 & 0x3f); }
  /// Instruction specific syndrome, bits 24:0.
  constexpr u32 syndrome() const { return static_cast<u32>(raw_ & 0x1ff'ffff); }

  constexpr bool is_data_abort() const { return is_either_level(ExceptionClass::data_abort); }
  constexpr bool is_instruction_abort() const { return is_either_level(ExceptionClass::instruction_abort); }
  constexpr bool is_abort() const { return is_data_abort() || is_instruction_abort(); }

  // Of aborts only:
  FaultStatus fault_status() const { return FaultStatus::decode(raw_ & 0x3f); }
  bool is_translation_fault() const { return is_abort() && fault_status().kind == FaultKind::translation; }
  bool is_permission_fault() const { return is_abort() && fault_status().kind == FaultKind::permission; }
  /// WnR. Cache maintenance and AT instructions count as writes (and set CM).
  constexpr bool is_write() const { return is_data_abort() && (raw_ >> 6 & 1) != 0; }
  constexpr bool is_cache_maintenance() const { return is_data_abort() && (raw_ >> 8 & 1) != 0; }
  /// FAR_EL1 holds the address, unless FnV says otherwise: it may only for external aborts off the walk.
  constexpr bool is_address_valid() const { return is_abort() && (raw_ >> 10 & 1) == 0; }

  // Of BRK only:
  constexpr u16 brk_immediate() const { return static_cast<u16>(raw_); }

  friend constexpr bool operator==(Esr, Esr) = default;

 private:
  /// Classes come in pairs: from a lower EL, then from the current one with bit 0 set.
  constexpr bool is_either_level(ExceptionClass current) const {
    return (static_cast<u8>(exception_class()) | 1) == static_cast<u8>(current);
  }

  u64 raw_;
};

/// One line without its end: "data abort, current EL: translation fault at level 2, write". Any context.
void describe(Esr esr, FormatSink& sink);

}  // namespace atl::arch
