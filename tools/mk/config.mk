# The configuration variables (docs/architecture.md lists them) and the build directory they name.

PAGE ?= 4k
PERCPU ?= local
DEBUG ?= 0
FAULT ?= none
KASAN ?= 0
LLVM ?= 0
SMP ?= 4
MEM ?= 2G
BOOT ?= direct
ACCEL ?= tcg
CMDLINE ?=
CROSS_COMPILE ?= aarch64-linux-gnu-

# Default VA size: what the granule gives with a full root.
VA ?= $(if $(filter 16k,$(PAGE)),47,48)
# Cortex-A72 has no 16K granule.
CPU ?= $(if $(filter 16k,$(PAGE)),cortex-a76,cortex-a72)

choices = $(if $(filter $($(1)),$(2)),,$(error $(1)=$($(1)): choose one of $(2)))
$(call choices,PAGE,4k 16k 64k)
$(call choices,PERCPU,local preempt)
$(call choices,DEBUG,0 1)
$(call choices,KASAN,0)
$(call choices,LLVM,0 1)
$(call choices,BOOT,direct uboot)
$(call choices,ACCEL,tcg kvm)
$(if $(filter $(PAGE)-$(VA),4k-48 4k-39 16k-47 64k-48),,$(error PAGE=$(PAGE) with VA=$(VA) is not built yet: \
  choose 4k with 48 or 39, 16k with 47, 64k with 48))

# FAULT=none is how runners say that nothing is planted.
PLANTED := $(filter-out none,$(FAULT))
$(if $(PLANTED),$(if $(shell grep -w '$(PLANTED),' lib/fault.hpp),,\
  $(error FAULT=$(PLANTED): lib/fault.hpp has no such fault)))

config_name = $(PAGE)-va$(VA)-$(PERCPU)$(if $(filter 1,$(DEBUG)),-debug)$(if \
  $(filter 1,$(LLVM)),-clang)$(if $(PLANTED),-fault-$(PLANTED))
O := build/$(config_name)

# V=1 shows the commands, otherwise one short line each.
ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif
