// The inline part of arch/percpu_atomic.hpp: each sequence once, as an LL/SC loop and as what replaces it.
//
// `inline` after `volatile` keeps the compiler from counting the lines below as instructions, so that the
// accessor variant does not change what else is inlined. Sections are pushed with "?": they join the COMDAT
// group of the function around them and vanish with its dropped copies.
#pragma once

#include "arch-arm64/percpu_window.hpp"
#include "arch/percpu_atomic.hpp"
#include "lib/fault.hpp"

#define ATOLL_PER_CPU [[gnu::section(".percpu")]] constinit
#define ATOLL_PER_CPU_PAGES [[gnu::section(".percpu.page_aligned")]] constinit

namespace atl::arch {

inline u64 percpu_offset_of(unsigned cpu) { return KernelPerCpuWindow::percpu_offset(cpu); }
inline bool is_percpu_local(VirtAddr va) { return KernelPerCpuWindow::kLocal.contains(va); }

template <class T>
inline T* launder_alias(T* p) {
  asm("" : "+r"(p));
  return p;
}

/// What a record of `.percpu_sites` marks: a sequence, or the two ends of an operation of several parts.
enum class PerCpuRecord : u8 { sequence = 1, begin, end };

/// The word as memory that may hold an object of any type.
template <class W>
struct PerCpuMemory {
  using Type [[gnu::may_alias]] = W;
};
template <class W>
inline auto& percpu_memory(W* p) {
  return *reinterpret_cast<typename PerCpuMemory<W>::Type*>(p);
}

template <class W>
inline constexpr usize kPerCpuAccessBytes = kFault == Fault::accessor_width && sizeof(W) == 2 ? 4 : sizeof(W);

// Labels: 661 and 662 bound what stands in the text, 663 and 664 what replaces it.
//
// A site record: {u64 start, end; u8 record, operation, bytes, variant}.
#define ATOLL_RECORD(end)                                     \
  ".pushsection .percpu_sites,\"?\"\n"                        \
  ".quad 661b, " end "\n"                                     \
  ".byte %c[record], %c[operation], %c[bytes], %c[variant]\n" \
  ".popsection\n"
#define ATOLL_RECORD_OPERANDS(kind, op, width)                         \
  [record] "i"(static_cast<int>(PerCpuRecord::kind)),                  \
      [operation] "i"(static_cast<int>(op)), [bytes] "i"(int{width}),  \
      [variant] "i"(static_cast<int>(kConfigPerCpu))
#define ATOLL_SEQUENCE(op) ATOLL_RECORD_OPERANDS(sequence, PerCpuOperation::op, sizeof(W))

// A single access, the same with and without FEAT_LSE.
#define ATOLL_ACCESS(access) "661: " access "\n662:\n" ATOLL_RECORD("662b")

// The loop, and a record for `percpu/lse_patch.hpp` (its LsePatch).
#define ATOLL_LLSC_OR_LSE(llsc, lse)        \
  ".arch_extension lse\n"                   \
  "661:\n" llsc "662:\n"                    \
  ".pushsection .lse_replacements,\"a?\"\n" \
  ".balign 4\n"                             \
  "663:\n" lse "664:\n"                     \
  ".popsection\n"                           \
  ".pushsection .lse_patches,\"a?\"\n"      \
  ".balign 4\n"                             \
  ".long 661b - .\n"                        \
  ".long 663b - .\n"                        \
  ".short 662b - 661b, 664b - 663b\n"       \
  ".popsection\n" ATOLL_RECORD("662b")

// Out of the way in the section's second part, and back to the sequence's end. Unreachable once patched.
#define ATOLL_COLD(text) ".subsection 1\n3:\n" text "b 662b\n.previous\n"

// Runs MACRO(size, r, …) with the size letter of the instructions and the letter of the registers.
#define ATOLL_BY_WIDTH(MACRO, ...)                  \
  if constexpr (kPerCpuAccessBytes<W> == 1) {       \
    MACRO("b", "w", __VA_ARGS__);                   \
  } else if constexpr (kPerCpuAccessBytes<W> == 2) { \
    MACRO("h", "w", __VA_ARGS__);                   \
  } else if constexpr (kPerCpuAccessBytes<W> == 4) { \
    MACRO("", "w", __VA_ARGS__);                    \
  } else {                                          \
    MACRO("", "x", __VA_ARGS__);                    \
  }

// Plain accesses take any address form ("m"), so that a static variable's low bits go into the access:
// `adrp x0, v; ldr x0, [x0, :lo12:v]`. Exclusives and atomics have only the base register ("Q").
#define ATOLL_READ(size, r, op)                                          \
  asm volatile inline(ATOLL_ACCESS("ldr" size " %" r "[value], %[word]") \
                      : [value] "=r"(value)                              \
                      : [word] "m"(percpu_memory(p)), ATOLL_SEQUENCE(op))
#define ATOLL_WRITE(size, r, op)                                         \
  asm volatile inline(ATOLL_ACCESS("str" size " %" r "[value], %[word]") \
                      : [word] "=m"(percpu_memory(p))                    \
                      : [value] "rZ"(value), ATOLL_SEQUENCE(op))

// `llsc` computes the new word from the old one. The LSE form has a register to put the old word in although
// nobody reads it: with xzr there, `ldadd` is `stadd`, which cores tend to perform far from the CPU.
// `after` is what both forms do then.
#define ATOLL_MODIFY(size, r, op, llsc, lse, after)                                                    \
  asm volatile inline(                                                                                 \
      ATOLL_LLSC_OR_LSE("1: ldxr" size " %" r "[result], %[word]\n"                                    \
                        llsc " %" r "[result], %" r "[result], %" r "[value]\n"                        \
                        "stxr" size " %w[failed], %" r "[result], %[word]\n"                           \
                        "cbnz %w[failed], 1b\n",                                                       \
                        lse size " %" r "[value], %" r "[result], %[word]\n" after(r))                 \
      : [result] "=&r"(result), [failed] "=&r"(failed), [word] "+Q"(percpu_memory(p))                  \
      : [value] "r"(value), ATOLL_SEQUENCE(op))
#define ATOLL_NOTHING(r)
#define ATOLL_ADD_VALUE(r) "add %" r "[result], %" r "[result], %" r "[value]\n"

#define ATOLL_EXCHANGE(size, r, op)                                                                   \
  asm volatile inline(ATOLL_LLSC_OR_LSE("1: ldxr" size " %" r "[result], %[word]\n"                   \
                                        "stxr" size " %w[failed], %" r "[value], %[word]\n"           \
                                        "cbnz %w[failed], 1b\n",                                      \
                                        "swp" size " %" r "[value], %" r "[result], %[word]\n")       \
                      : [result] "=&r"(result), [failed] "=&r"(failed), [word] "+Q"(percpu_memory(p)) \
                      : [value] "rZ"(value), ATOLL_SEQUENCE(op))

// `expected` is also the result, as `cas` has it: when the words are equal it already holds the old one,
// otherwise the cold part moves it there. `extend` ignores what narrow words have in the register's upper bits.
#define ATOLL_COMPARE_EXCHANGE(size, r, op, extend)                                                   \
  asm volatile inline(ATOLL_LLSC_OR_LSE("1: ldxr" size " %" r "[old], %[word]\n"                      \
                                        "cmp %" r "[old], %" r "[expected]" extend "\n"               \
                                        "b.ne 3f\n"                                                   \
                                        "stxr" size " %w[failed], %" r "[desired], %[word]\n"         \
                                        "cbnz %w[failed], 1b\n",                                      \
                                        "cas" size " %" r "[expected], %" r "[desired], %[word]\n")   \
                      ATOLL_COLD("mov %" r "[expected], %" r "[old]\n")                               \
                      : [expected] "+&r"(expected), [old] "=&r"(old), [failed] "=&r"(failed),         \
                        [word] "+Q"(percpu_memory(p))                                                 \
                      : [desired] "rZ"(desired), ATOLL_SEQUENCE(op)                                   \
                      : "cc")

template <PerCpuWord W>
inline W percpu_read(const W* p) {
  W value;
  ATOLL_BY_WIDTH(ATOLL_READ, read)
  return value;
}

template <PerCpuWord W>
inline void percpu_write(W* p, W value) {
  ATOLL_BY_WIDTH(ATOLL_WRITE, write)
}

template <PerCpuWord W>
inline void percpu_add(W* p, W value) {
  W result;
  u32 failed;
  ATOLL_BY_WIDTH(ATOLL_MODIFY, add, "add", "ldadd", ATOLL_NOTHING)
}

template <PerCpuWord W>
inline W percpu_add_return(W* p, W value) {
  W result;
  u32 failed;
  ATOLL_BY_WIDTH(ATOLL_MODIFY, add_return, "add", "ldadd", ATOLL_ADD_VALUE)
  return result;
}

template <PerCpuWord W>
inline void percpu_and(W* p, W mask) {
  const W value = static_cast<W>(~mask);  // LSE has no AND, only "clear these bits"
  W result;
  u32 failed;
  ATOLL_BY_WIDTH(ATOLL_MODIFY, bit_and, "bic", "ldclr", ATOLL_NOTHING)
}

template <PerCpuWord W>
inline void percpu_or(W* p, W value) {
  W result;
  u32 failed;
  ATOLL_BY_WIDTH(ATOLL_MODIFY, bit_or, "orr", "ldset", ATOLL_NOTHING)
}

template <PerCpuWord W>
inline W percpu_exchange(W* p, W value) {
  W result;
  u32 failed;
  ATOLL_BY_WIDTH(ATOLL_EXCHANGE, exchange)
  return result;
}

/// `casp` needs its pairs in consecutive registers, the first one even. A failed comparison leaves without a
/// store, so `ldxp` gave two words that need not belong together (Arm ARM B2.9.4); they do, because only this
/// CPU writes them and it was not interrupted inside the instruction.
inline u128 percpu_compare_exchange_pair(u128* p, u128 expected, u128 desired) {
  using W = u128;
  register u64 expected_low asm("x0") = static_cast<u64>(expected);
  register u64 expected_high asm("x1") = static_cast<u64>(expected >> 64);
  register u64 desired_low asm("x2") = static_cast<u64>(desired);
  register u64 desired_high asm("x3") = static_cast<u64>(desired >> 64);
  u64 low;
  u64 high;
  u32 failed;
  asm volatile inline(
      ATOLL_LLSC_OR_LSE("1: ldxp %[low], %[high], %[word]\n"
                        "cmp %[low], %[expected_low]\n"
                        "ccmp %[high], %[expected_high], #0, eq\n"
                        "b.ne 3f\n"
                        "stxp %w[failed], %[desired_low], %[desired_high], %[word]\n"
                        "cbnz %w[failed], 1b\n",
                        "casp %[expected_low], %[expected_high], %[desired_low], %[desired_high], %[word]\n")
          ATOLL_COLD("mov %[expected_low], %[low]\n"
                     "mov %[expected_high], %[high]\n")
      : [expected_low] "+&r"(expected_low), [expected_high] "+&r"(expected_high), [low] "=&r"(low),
        [high] "=&r"(high), [failed] "=&r"(failed), [word] "+Q"(percpu_memory(p))
      : [desired_low] "r"(desired_low), [desired_high] "r"(desired_high), ATOLL_SEQUENCE(compare_exchange)
      : "cc");
  return u128{expected_high} << 64 | expected_low;
}

template <class W>
  requires(PerCpuWord<W> || std::same_as<W, u128>)
inline W percpu_compare_exchange(W* p, W expected, W desired) {
  if constexpr (std::same_as<W, u128>) {
    return percpu_compare_exchange_pair(p, expected, desired);
  } else {
    W old;
    u32 failed;
    if constexpr (sizeof(W) == 1 && kFault != Fault::narrow_compare_unextended) {
      ATOLL_BY_WIDTH(ATOLL_COMPARE_EXCHANGE, compare_exchange, ", uxtb")
    } else if constexpr (sizeof(W) == 2 && kFault != Fault::narrow_compare_unextended) {
      ATOLL_BY_WIDTH(ATOLL_COMPARE_EXCHANGE, compare_exchange, ", uxth")
    } else {
      ATOLL_BY_WIDTH(ATOLL_COMPARE_EXCHANGE, compare_exchange, "")
    }
    return expected;
  }
}

template <PerCpuOperation Operation, usize Bytes>
inline void percpu_site_begin() {
  asm volatile inline("661:\n" ATOLL_RECORD("0")::ATOLL_RECORD_OPERANDS(begin, Operation, Bytes));
}

template <PerCpuOperation Operation, usize Bytes>
inline void percpu_site_end() {
  asm volatile inline("661:\n" ATOLL_RECORD("0")::ATOLL_RECORD_OPERANDS(end, Operation, Bytes));
}

#undef ATOLL_RECORD
#undef ATOLL_RECORD_OPERANDS
#undef ATOLL_SEQUENCE
#undef ATOLL_ACCESS
#undef ATOLL_LLSC_OR_LSE
#undef ATOLL_COLD
#undef ATOLL_BY_WIDTH
#undef ATOLL_READ
#undef ATOLL_WRITE
#undef ATOLL_MODIFY
#undef ATOLL_NOTHING
#undef ATOLL_ADD_VALUE
#undef ATOLL_EXCHANGE
#undef ATOLL_COMPARE_EXCHANGE

}  // namespace atl::arch
