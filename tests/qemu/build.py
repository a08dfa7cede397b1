"""A kernel build: its make variables and its directory, as the Makefile knows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

DEFAULT_VA = {"4k": 48, "16k": 47, "64k": 48}
PAGE_BYTES = {"4k": 4096, "16k": 16384, "64k": 65536}
# The cortex-a72 has no 16K granule (docs/boot.md).
DEFAULT_CPU = {"4k": "cortex-a72", "16k": "cortex-a76", "64k": "cortex-a72"}


@dataclass(frozen=True, order=True)
class Build:
    """One configuration. `va` 0 stands for the page size's default."""

    page: str = "4k"
    percpu: str = "local"
    debug: bool = False
    llvm: bool = False
    va: int = 0
    fault: str = "none"

    @property
    def va_bits(self) -> int:
        return self.va or DEFAULT_VA[self.page]

    @property
    def toolchain(self) -> str:
        return "clang" if self.llvm else "gcc"

    @property
    def name(self) -> str:
        """The build directory's name; also what the boots of this build are called after."""
        suffixes = ("-debug" if self.debug else "") + ("-clang" if self.llvm else "")
        fault = "" if self.fault == "none" else f"-fault-{self.fault}"
        return f"{self.page}-va{self.va_bits}-{self.percpu}{suffixes}{fault}"

    @property
    def directory(self) -> Path:
        return BUILD / self.name

    @property
    def image(self) -> Path:
        return self.directory / "Image"

    @property
    def elf(self) -> Path:
        return self.directory / "atoll.elf"

    def assignments(self) -> str:
        """What to give to `make image`."""
        return (f"PAGE={self.page} VA={self.va_bits} PERCPU={self.percpu} DEBUG={int(self.debug)} "
                f"LLVM={int(self.llvm)} FAULT={self.fault}")

    def keys(self) -> dict[str, str | int]:
        """The keys that a figure of this build carries in metrics.json."""
        return {"page": self.page, "va": self.va_bits, "percpu": self.percpu, "toolchain": self.toolchain}
