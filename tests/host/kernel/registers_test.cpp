#include "kernel/registers.hpp"

#include "tests/host/support.hpp"

namespace atoll {
namespace {

TEST(Registers, EveryRegisterOnce) {
  arch::TrapFrame frame{};
  for (unsigned i = 0; i < 31; ++i) frame.x[i] = 0x1000 + i;
  frame.sp = 0x2000;
  frame.elr = 0x3000;
  frame.spsr = 0x3c5;
  frame.esr = 0x96000045;
  frame.far = 0x4000;
  host::CapturedPrint printed;
  print_registers(frame);
  EXPECT_EQ(printed.text(),
            "  x0  0x0000000000001000  x1  0x0000000000001001  x2  0x0000000000001002  x3  0x0000000000001003\n"
            "  x4  0x0000000000001004  x5  0x0000000000001005  x6  0x0000000000001006  x7  0x0000000000001007\n"
            "  x8  0x0000000000001008  x9  0x0000000000001009  x10 0x000000000000100a  x11 0x000000000000100b\n"
            "  x12 0x000000000000100c  x13 0x000000000000100d  x14 0x000000000000100e  x15 0x000000000000100f\n"
            "  x16 0x0000000000001010  x17 0x0000000000001011  x18 0x0000000000001012  x19 0x0000000000001013\n"
            "  x20 0x0000000000001014  x21 0x0000000000001015  x22 0x0000000000001016  x23 0x0000000000001017\n"
            "  x24 0x0000000000001018  x25 0x0000000000001019  x26 0x000000000000101a  x27 0x000000000000101b\n"
            "  x28 0x000000000000101c  x29 0x000000000000101d  x30 0x000000000000101e\n"
            "  sp  0x0000000000002000  pc  0x0000000000003000  spsr 0x3c5\n"
            "  esr 0x96000045  far 0x0000000000004000\n");
}

}  // namespace
}  // namespace atoll
