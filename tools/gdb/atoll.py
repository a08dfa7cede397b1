"""Commands for debugging the kernel on QEMU (docs/debugging.md): `gdb-multiarch -x tools/gdb/atoll.py …/atoll.elf`."""

import pathlib
import sys

import gdb

_ROOT = pathlib.Path(__file__).resolve().parents[2]
if str(_ROOT) not in sys.path:
    sys.path.insert(0, str(_ROOT))
sys.dont_write_bytecode = True

from tools.gdb import commands, frames, physical_symbols  # noqa: E402

gdb.execute("set confirm off")
gdb.execute("set pagination off")
# Names of source files are relative to the project.
gdb.execute(f"directory {_ROOT}", to_string=True)
commands.register_commands()
frames.register()
gdb.events.stop.connect(physical_symbols.follow)
