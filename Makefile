# Atoll. `make help` lists what there is; README.md says where to start.
#
#   tools/mk/config.mk   the variables and the build directory they name
#   tools/mk/kernel.mk   one configuration of the kernel
#   tests/host/host.mk   the host test binary; with it tests/fuzz/fuzz.mk, mutants and libFuzzer
#   tests/qemu/floor/floor.mk   the bare program that start-up time is measured against
#   tests/qemu/stub/stub.mk   the loader with which tests give the kernel any tree at any address
.DEFAULT_GOAL := help
.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
# As parallel as the machine; a make below another one takes its jobs from that.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
export PYTHONDONTWRITEBYTECODE := 1

include tools/mk/config.mk
include tools/mk/kernel.mk
include tests/host/host.mk
include tests/qemu/floor/floor.mk
include tests/qemu/stub/stub.mk

PYTHON := python3
# For runners that call make themselves, one at a time: those are makes of their own.
APART := env -u MAKELEVEL -u MAKEFLAGS
ATOLL_COMMAND ?= make $(MAKECMDGOALS)
export ATOLL_COMMAND

.PHONY: help setup compare check check-full boot gdb sizes lint negative builds host-check python-check qemu-check

help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

## Atoll: targets (variables: PAGE VA PERCPU DEBUG LLVM FAULT SMP MEM CPU GIC BOOT INITRD ACCEL CMDLINE V)
##   compare      build and boot 4K/16K/64K x {local, preempt} on 160 CPUs through U-Boot, print one table,
##                write build/report/
##   check        all tests; ends with `N passed, N failed`
##   check-full   check, and what is too long for it
##   boot         one configuration, to the monitor prompt:   make boot PAGE=64k SMP=160
##   gdb          the same, waiting for gdb before the first instruction; prints gdb's command
##   image        build one configuration
##   builds       every image that the boots of `check` need
##   sizes        kernel text and every this_cpu site of the configurations that compare builds
##   fuzz         libFuzzer over device tree, command line and prompt, for MINUTES=1
##   negative     build each planted fault; the test it names must fail
##   lint         the rules of docs/style.md, checked
##   setup        check for the packages all this needs; installs them when root
##   clean        remove build/

setup:
	@tools/setup

# Each line that a runner's --list-builds prints is one configuration: built by a make of its own, side by side.
empty :=
space := $(empty) $(empty)
.PHONY: build-image-%
build-image-%:
	@$(MAKE) image $(subst $(comma),$(space),$*)
images_for = $(addprefix build-image-,$(shell $(1) --list-builds | tr ' ' ','))

COMPARE_GOALS := compare-builds
CHECK_GOALS := builds
COMPARE_IMAGES := $(if $(filter $(COMPARE_GOALS),$(MAKECMDGOALS)),$(call images_for,$(PYTHON) -m tests.qemu.compare))
CHECK_IMAGES := $(if $(filter $(CHECK_GOALS),$(MAKECMDGOALS)),$(call images_for,$(PYTHON) -m tests.qemu.run))

.PHONY: builds
builds: $(CHECK_IMAGES) build/floor/Image build/stub/stub.elf

check: setup
	@$(APART) $(PYTHON) -m tools.check
check-full: setup
	@$(APART) $(PYTHON) -m tools.check --full

lint:
	@$(PYTHON) -m tests.lint.lint
.PHONY: qemu-test
qemu-test:
	@$(PYTHON) -m tests.qemu.run
fuzz: setup
negative: setup
	@$(APART) $(PYTHON) -m tests.negative.run

# Report and table are made whatever the boots did; the target fails if the boots or the table do.
compare: setup
	@$(MAKE) compare-builds
	@$(PYTHON) -m tools.percpu_sites --builds --metrics
	@$(PYTHON) -m tests.qemu.compare; boots=$$?; $(PYTHON) -m tools.report && $(PYTHON) -m tools.compare && exit $$boots
.PHONY: compare-builds
compare-builds: $(COMPARE_IMAGES) build/floor/Image
sizes: setup
	@$(MAKE) compare-builds
	@$(PYTHON) -m tools.percpu_sites --builds --metrics

BOOT_COMMAND = $(PYTHON) -m tests.qemu.boot --image $(O)/Image --smp $(SMP) --memory $(MEM) --cpu $(CPU) --gic $(GIC) \
  --boot $(BOOT) --accel $(ACCEL) $(if $(INITRD),--initrd '$(INITRD)') --append '$(subst ','\'',$(CMDLINE))'
boot: image
	@$(BOOT_COMMAND)
gdb: image
	@echo "In another terminal, here: gdb-multiarch -x tools/gdb/atoll.py $(O)/atoll.elf -ex 'target remote :1234'"
	@$(BOOT_COMMAND) --gdb

clean:
	rm -rf build
.PHONY: clean
