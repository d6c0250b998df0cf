/* An interpreter of seccomp filters, for tests of what they answer. */
#ifndef UNIT_BPF_H
#define UNIT_BPF_H

#include "util/arch.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

enum { NATIVE = (int)ARCH_AUDIT };

/* The answer of a filter, as the kernel would run it. */
static inline uint32_t unit_bpf_run(const struct sock_filter *steps, size_t count,
				    const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t i = 0; i < count; i++) {
		const struct sock_filter *at = &steps[i];
		bool yes = false;

		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)data + at->k, sizeof a);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= at->k;
			continue;
		case BPF_JMP | BPF_JA:
			i += at->k;
			continue;
		case BPF_RET | BPF_K:
			return at->k;
		case BPF_JMP | BPF_JEQ | BPF_K:
			yes = a == at->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			yes = a > at->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			yes = a >= at->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			yes = a & at->k;
			break;
		default:
			abort();
		}
		i += yes ? at->jt : at->jf;
	}
	abort();
}

#define RUN(filter, data) unit_bpf_run(filter, COUNT(filter), data)

#endif
