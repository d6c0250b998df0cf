/*
 * Packs a seccomp filter into a smaller equivalent one. Runs when Ringfence is built.
 *
 * libseccomp compares the call number with each number that has a rule, and an argument with each
 * value, in both halves. But neighbouring numbers mostly have the same result, and each step costs:
 * when a filter is installed, the kernel evaluates it for every number, and every start of a fence
 * pays for that.
 */
#ifndef FENCE_INIT_FILTER_PACK_H
#define FENCE_INIT_FILTER_PACK_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER_MOST = 4096 }; /* the kernel's maximum */

struct filter_pack {
	struct sock_filter steps[FILTER_MOST];
	size_t count;
};

/*
 * Writes an equivalent filter to *ret_filter. `arch` is the architecture whose calls the filter
 * judges, `last` the highest call number with a rule. Returns 0, or -1 if the filter has an unknown
 * form.
 */
int filter_pack(const struct filter_pack *filter, uint32_t arch, uint32_t last,
		struct filter_pack *ret_filter);

/* Compares the answers of both filters to every call number and many kinds of arguments. Returns 0
 * if they agree, or -1. */
int filter_pack_compare(const struct filter_pack *a, const struct filter_pack *b, uint32_t arch,
			uint32_t last);

#endif
