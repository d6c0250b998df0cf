/*
 * Makes a seccomp filter smaller that decides the same. Runs when Ringfence is built.
 *
 * libseccomp compares the number of a call with each number that it has a rule for, and an argument with each
 * value, in both halves. But neighbours mostly have the same fate, and each step costs: the kernel walks
 * through the filter for every number when it is installed, which is on the way of every start.
 */
#ifndef FENCE_INIT_FILTER_PACK_H
#define FENCE_INIT_FILTER_PACK_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER_MOST = 4096 }; /* what a kernel takes */

struct filter_pack {
	struct sock_filter steps[FILTER_MOST];
	size_t count;
};

/*
 * Writes a filter with the same answers to *ret_filter. `arch` is the one whose calls the filter judges,
 * `last` the highest number that it has a rule for. Returns 0, or -1 if the filter has a form that is not
 * understood.
 */
int filter_pack(const struct filter_pack *filter, uint32_t arch, uint32_t last,
		struct filter_pack *ret_filter);

/* Do both answer alike, to each number and arguments of many kinds? Returns 0 or -1. */
int filter_pack_compare(const struct filter_pack *a, const struct filter_pack *b, uint32_t arch,
			uint32_t last);

#endif
