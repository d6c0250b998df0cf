/*
 * The architecture that this program is built for, as the kernel tells it to a seccomp filter. The
 * numbers of system calls depend on it, so the generated tables refuse to be compiled for another
 * one.
 */
#ifndef UTIL_ARCH_H
#define UTIL_ARCH_H

#include <linux/audit.h>

#if defined(__x86_64__) && defined(__LP64__)
#define ARCH_AUDIT AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__LP64__)
#define ARCH_AUDIT AUDIT_ARCH_AARCH64
#else
#error "Ringfence has seccomp filters for x86-64 and arm64 only, not for this architecture"
#endif

_Static_assert((char)-1 < 0, "char is signed on every architecture; see meson.build");

#endif
