# From the assembly that kernel/asm_constants.cpp compiles to: `.ascii "->NAME VALUE"` to `#define NAME VALUE`.
s/^[[:space:]]*\.ascii[[:space:]]*"->\([A-Z0-9_]*\) [#$]*\([-0-9]*\)".*/#define \1 \2/p
