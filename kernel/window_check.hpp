// The local window against the register: whether this CPU sees its own memory.
#pragma once

namespace atl {

/// Panics if the local window shows another CPU's number than TPIDR_EL1 stands for: two CPUs that share a TLB
/// would see each other's window, and then nothing else can be trusted. Any context in which per-CPU variables
/// work; debug builds run it at every interrupt entry.
void check_window();

}  // namespace atl
