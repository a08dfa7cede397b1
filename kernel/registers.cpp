#include "kernel/registers.hpp"

#include "lib/format.hpp"

namespace atl {

void print_registers(const arch::TrapFrame& frame) {
  for (unsigned i = 0; i < frame.x.size(); ++i) {
    const bool ends_line = i % 4 == 3 || i + 1 == frame.x.size();
    print("{}x{}{} {:#018x}{}", i % 4 == 0 ? "  " : " ", i, i < 10 ? " " : "", frame.x[i],
          ends_line ? '\n' : ' ');
  }
  print("  sp  {:#018x}  pc  {:#018x}  spsr {:#x}\n", frame.sp, frame.elr, frame.spsr);
  print("  esr {:#x}  far {:#018x}\n", frame.esr, frame.far);
}

}  // namespace atl
