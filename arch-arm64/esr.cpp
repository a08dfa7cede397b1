#include "arch-arm64/esr.hpp"

namespace atl::arch {
namespace {

/// Kinds whose codes are a base with the level, 0..3, in the two low bits.
struct LeveledCode {
  u8 base;
  FaultKind kind;
};
constexpr LeveledCode kLeveledCodes[] = {
    {0b000000, FaultKind::address_size},
    {0b000100, FaultKind::translation},
    {0b001000, FaultKind::access_flag},
    {0b001100, FaultKind::permission},
    {0b010100, FaultKind::external_abort_on_walk},
    {0b011100, FaultKind::parity_on_walk},
    {0b100100, FaultKind::granule_protection_on_walk},
};

/// All other codes. Levels -1 and -2 came with LPA2 and D128, and went where there was room.
struct SingleCode {
  u8 code;
  FaultStatus status;
};
constexpr SingleCode kSingleCodes[] = {
    {0b010000, {FaultKind::external_abort}},
    {0b010001, {FaultKind::tag_check}},
    {0b010010, {FaultKind::external_abort_on_walk, -2}},
    {0b010011, {FaultKind::external_abort_on_walk, -1}},
    {0b011000, {FaultKind::parity}},
    {0b011011, {FaultKind::parity_on_walk, -1}},
    {0b100001, {FaultKind::alignment}},
    {0b100010, {FaultKind::granule_protection_on_walk, -2}},
    {0b100011, {FaultKind::granule_protection_on_walk, -1}},
    {0b101000, {FaultKind::granule_protection}},
    {0b101001, {FaultKind::address_size, -1}},
    {0b101010, {FaultKind::translation, -2}},
    {0b101011, {FaultKind::translation, -1}},
    {0b101100, {FaultKind::address_size, -2}},
    {0b110000, {FaultKind::tlb_conflict}},
    {0b110001, {FaultKind::unsupported_atomic_update}},
    {0b110100, {FaultKind::lockdown}},
    {0b110101, {FaultKind::unsupported_exclusive}},
};

}  // namespace

const char* to_string(ExceptionClass ec) {
  switch (ec) {
    case ExceptionClass::unknown: return "unknown reason (undefined instruction?)";
    case ExceptionClass::wait_trapped: return "trapped WFI or WFE";
    case ExceptionClass::fp_trapped: return "trapped FP or SIMD";
    case ExceptionClass::branch_target: return "branch target";
    case ExceptionClass::illegal_state: return "illegal execution state";
    case ExceptionClass::svc: return "SVC";
    case ExceptionClass::hvc: return "HVC";
    case ExceptionClass::smc: return "SMC";
    case ExceptionClass::system_register_trapped: return "trapped MSR, MRS or system instruction";
    case ExceptionClass::sve_trapped: return "trapped SVE";
    case ExceptionClass::pointer_authentication: return "pointer authentication failure";
    case ExceptionClass::instruction_abort_lower: return "instruction abort, lower EL";
    case ExceptionClass::instruction_abort: return "instruction abort, current EL";
    case ExceptionClass::pc_alignment: return "PC alignment";
    case ExceptionClass::data_abort_lower: return "data abort, lower EL";
    case ExceptionClass::data_abort: return "data abort, current EL";
    case ExceptionClass::sp_alignment: return "SP alignment";
    case ExceptionClass::fp_exception: return "floating-point exception";
    case ExceptionClass::serror: return "SError";
    case ExceptionClass::breakpoint_lower: return "breakpoint, lower EL";
    case ExceptionClass::breakpoint: return "breakpoint, current EL";
    case ExceptionClass::step_lower: return "software step, lower EL";
    case ExceptionClass::step: return "software step, current EL";
    case ExceptionClass::watchpoint_lower: return "watchpoint, lower EL";
    case ExceptionClass::watchpoint: return "watchpoint, current EL";
    case ExceptionClass::brk: return "BRK";
  }
  return "reserved exception class";
}

const char* to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::address_size: return "address size fault";
    case FaultKind::translation: return "translation fault";
    case FaultKind::access_flag: return "access flag fault";
    case FaultKind::permission: return "permission fault";
    case FaultKind::external_abort: return "external abort";
    case FaultKind::external_abort_on_walk: return "external abort on a table walk";
    case FaultKind::tag_check: return "tag check fault";
    case FaultKind::parity: return "parity or ECC error";
    case FaultKind::parity_on_walk: return "parity or ECC error on a table walk";
    case FaultKind::alignment: return "alignment fault";
    case FaultKind::granule_protection: return "granule protection fault";
    case FaultKind::granule_protection_on_walk: return "granule protection fault on a table walk";
    case FaultKind::tlb_conflict: return "TLB conflict";
    case FaultKind::unsupported_atomic_update: return "unsupported atomic hardware update";
    case FaultKind::lockdown: return "lockdown (implementation defined)";
    case FaultKind::unsupported_exclusive: return "unsupported exclusive or atomic access";
    case FaultKind::reserved: return "reserved fault status";
  }
  return "reserved fault status";
}

FaultStatus FaultStatus::decode(unsigned status_code) {
  for (const LeveledCode& leveled : kLeveledCodes) {
    if ((status_code & ~3u) == leveled.base) return {leveled.kind, static_cast<int>(status_code & 3)};
  }
  for (const SingleCode& single : kSingleCodes) {
    if (status_code == single.code) return single.status;
  }
  return {};
}

void describe(Esr esr, FormatSink& sink) {
  const ExceptionClass ec = esr.exception_class();
  sink.write(to_string(ec));
  if (ec == ExceptionClass::brk) {
    format(sink, " {:#x}", esr.brk_immediate());
  } else if (esr.is_abort()) {
    const FaultStatus status = esr.fault_status();
    format(sink, ": {}", to_string(status.kind));
    if (status.level != FaultStatus::kNoLevel) format(sink, " at level {}", status.level);
    if (esr.is_cache_maintenance()) {
      sink.write(", cache maintenance");
    } else if (esr.is_data_abort()) {
      sink.write(esr.is_write() ? ", write" : ", read");
    }
    if (!esr.is_address_valid()) sink.write(", address not known");
  } else {
    format(sink, " (ESR {:#x})", esr.raw());
  }
}

}  // namespace atl::arch
