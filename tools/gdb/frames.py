"""Lets every backtrace of gdb cross an exception.

The compiler describes its own frames. hw/vectors.S keeps all of the interrupted code's registers in a TrapFrame at SP,
and its x29 points to the frame record in it: these two together are what tells such a frame.
"""

from __future__ import annotations

import gdb
from gdb.unwinder import Unwinder, register_unwinder

_TRAP_FRAME = "atl::arch::TrapFrame"
_U64 = (1 << 64) - 1


class _FrameId:
    def __init__(self, pending: gdb.PendingFrame) -> None:
        self.sp = pending.read_register("sp")
        self.pc = pending.read_register("pc")


class AssemblyUnwinder(Unwinder):
    def __init__(self) -> None:
        super().__init__("atoll")

    def __call__(self, pending: gdb.PendingFrame):
        pc = int(pending.read_register("pc")) & _U64
        table = gdb.find_pc_line(pc).symtab
        if table is None or not table.filename.endswith(".S"):
            return None
        sp, fp = (int(pending.read_register(name)) & _U64 for name in ("sp", "x29"))
        layout = gdb.lookup_type(_TRAP_FRAME)
        offsets = {field.name: field.bitpos // 8 for field in layout.fields()}
        if fp != sp + offsets["record"]:
            return None
        return self._interrupted(pending, sp, layout, offsets)

    def _interrupted(self, pending, sp, layout, offsets):
        frame = bytes(gdb.selected_inferior().read_memory(sp, layout.sizeof))
        info = pending.create_unwind_info(_FrameId(pending))

        def saved(register: str, offset: int) -> None:
            type_ = pending.read_register(register).type
            info.add_saved_register(register, gdb.Value(frame[offset:offset + type_.sizeof], type_))

        for number in range(31):
            saved(f"x{number}", offsets["x"] + 8 * number)
        saved("sp", offsets["sp"])
        saved("pc", offsets["elr"])
        saved("cpsr", offsets["spsr"])
        return info


def register() -> None:
    register_unwinder(None, AssemblyUnwinder(), replace=True)
