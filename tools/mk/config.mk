# The configuration variables (docs/architecture.md lists them) and the build directory they name.

PAGE ?= 4k
PERCPU ?= local
DEBUG ?= 0
FAULT ?= none
KASAN ?= 0
LLVM ?= 0
SMP ?= 4
MEM ?= 2G
GIC ?= 3
BOOT ?= direct
INITRD ?=
ACCEL ?= tcg
CMDLINE ?=
CROSS_COMPILE ?= aarch64-linux-gnu-

# Default VA size: what the granule gives with a full root.
VA ?= $(if $(filter 16k,$(PAGE)),47,48)
# Cortex-A72 has no 16K granule.
CPU ?= $(if $(filter 16k,$(PAGE)),cortex-a76,cortex-a72)

refuse = $(error $(1)=$($(1)): $(2))
choices = $(if $(and $(filter 1,$(words $($(1)))),$(filter $($(1)),$(2))),,$(call refuse,$(1),choose one of $(2)))
$(call choices,PAGE,4k 16k 64k)
$(call choices,PERCPU,local preempt)
$(call choices,DEBUG,0 1)
$(call choices,KASAN,0)
$(call choices,LLVM,0 1)
$(call choices,BOOT,direct uboot)
$(call choices,ACCEL,tcg kvm)
$(call choices,GIC,2 3)
$(if $(filter $(PAGE)-$(VA),4k-48 4k-39 16k-47 64k-48),,$(error PAGE=$(PAGE) with VA=$(VA) is not built yet: \
  choose 4k with 48 or 39, 16k with 47, 64k with 48))

# Empty for a number without leading zeros.
no_digits = $(subst 0,,$(subst 1,,$(subst 2,,$(subst 3,,$(subst 4,,$(subst 5,,$(subst 6,,$(subst 7,,$(subst \
  8,,$(subst 9,,$(1)))))))))))
not_number = $(if $(1),$(filter 0%,$(1))$(call no_digits,$(1)),empty)

# SMP may go on as QEMU's -smp does: 24,sockets=2,cores=6,threads=2. QEMU's virt ends at 512 CPUs, GICv2 at 8.
comma := ,
SMP_CPUS := $(firstword $(subst $(comma), ,$(SMP)))
most_cpus := $(if $(filter 2,$(GIC)),8,512)
refuse_smp = $(call refuse,SMP,choose a number of CPUs from 1 to $(most_cpus)$(if $(filter 2,$(GIC)), with GIC=2))
$(if $(call not_number,$(SMP_CPUS))$(filter-out 1,$(words $(SMP))),$(refuse_smp))
$(if $(shell [ $(SMP_CPUS) -le $(most_cpus) ] 2>/dev/null || echo more),$(refuse_smp))
MEM_NUMBER := $(patsubst %K,%,$(patsubst %M,%,$(patsubst %G,%,$(MEM))))
$(if $(filter-out 1,$(words $(MEM)))$(call not_number,$(MEM_NUMBER)),$(call \
  refuse,MEM,choose a size of RAM as a number$(comma) in MiB or followed by K$(comma) M or G: 512M$(comma) 2G))

# CPU may go on as QEMU's -cpu does: max,lpa2=off. QEMU is asked only where it would be started, if it is there.
CPU_MODELS = $(if $(filter boot gdb,$(MAKECMDGOALS)),$(shell qemu-system-aarch64 -cpu help 2>/dev/null))
CPU_MODEL := $(firstword $(subst $(comma), ,$(CPU)))
$(if $(and $(filter 1,$(words $(CPU))),$(filter host $(or $(CPU_MODELS),%),$(CPU_MODEL))),,\
  $(call refuse,CPU,choose a model that `qemu-system-aarch64 -cpu help` lists))
# Of the models that it lists these have no 64-bit state, in which the kernel would start.
$(if $(filter cortex-a7 cortex-a8 cortex-a9 cortex-a15 cortex-m% cortex-r% arm% pxa% sa1% ti925t,$(CPU_MODEL)),$(call \
  refuse,CPU,choose a 64-bit model$(comma) such as cortex-a72))
$(if $(INITRD),$(if $(shell test -f '$(INITRD)' || echo no),$(call refuse,INITRD,choose a file that exists)))

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
