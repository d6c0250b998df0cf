/* Smaller filters: see filter_pack.h. */
#include "fence/init/filter_pack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	LOAD = BPF_LD | BPF_W | BPF_ABS,
	RETURN = BPF_RET | BPF_K,
	GO = BPF_JMP | BPF_JA,
	IF_EQUAL = BPF_JMP | BPF_JEQ | BPF_K,
	IF_ABOVE = BPF_JMP | BPF_JGT | BPF_K,
	IF_LEAST = BPF_JMP | BPF_JGE | BPF_K,
	IF_BITS = BPF_JMP | BPF_JSET | BPF_K,
	AND = BPF_ALU | BPF_AND | BPF_K,
	AT_NUMBER = offsetof(struct seccomp_data, nr),
	AT_ARCH = offsetof(struct seccomp_data, arch),
	FAR = 255, /* the longest jump on a condition */
};

/* x32 calls are numbers of the same architecture with this bit. */
static const uint32_t X32 = 0x40000000;

static bool holds(const struct sock_filter *step, uint32_t value)
{
	switch (step->code) {
	case IF_EQUAL:
		return value == step->k;
	case IF_ABOVE:
		return value > step->k;
	case IF_LEAST:
		return value >= step->k;
	default:
		return value & step->k;
	}
}

static size_t next_of(const struct filter *filter, size_t at, uint32_t value)
{
	const struct sock_filter *step = &filter->steps[at];

	if (step->code == GO)
		return at + 1 + step->k;
	if (BPF_CLASS(step->code) == BPF_JMP)
		return at + 1 + (holds(step, value) ? step->jt : step->jf);
	return at + 1;
}

uint32_t filter_ask(const struct filter *filter, const struct seccomp_data *data)
{
	uint32_t value = 0;

	for (size_t at = 0; at < filter->count; at = next_of(filter, at, value)) {
		const struct sock_filter *step = &filter->steps[at];

		if (step->code == RETURN)
			return step->k;
		if (step->code == AND)
			value &= step->k;
		if (step->code == LOAD)
			memcpy(&value, (const char *)data + step->k, sizeof value);
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* Where a call's own judgement begins: at an answer, or where the filter looks at its arguments. */
static size_t find_fate(const struct filter *filter, uint32_t arch, uint32_t number)
{
	uint32_t value = 0;
	size_t at = 0;

	while (at < filter->count) {
		const struct sock_filter *step = &filter->steps[at];

		if (step->code == RETURN ||
		    (step->code == LOAD && step->k != AT_NUMBER && step->k != AT_ARCH))
			break;
		if (step->code == LOAD)
			value = step->k == AT_NUMBER ? number : arch;
		at = next_of(filter, at, value);
	}
	return at;
}

/* Numbers from `first` up to the next one's have the same fate. */
struct span {
	uint32_t first;
	size_t fate; /* a step of the filter as it was */
};

struct packing {
	const struct filter *from;
	struct filter *to;
	struct span spans[1024];
	size_t span_count;
	bool kept[FILTER_MOST];     /* what judges arguments, and is taken over */
	size_t place[FILTER_MOST];  /* where that is, counted from the first of them */
	size_t leaves[FILTER_MOST]; /* for a jump to what is taken over: the fate */
};

static bool same_fate(const struct filter *filter, size_t a, size_t b)
{
	const struct sock_filter *left = &filter->steps[a];
	const struct sock_filter *right = &filter->steps[b];

	return a == b || (left->code == RETURN && right->code == RETURN && left->k == right->k);
}

static int find_spans(struct packing *packing, uint32_t arch, uint32_t last)
{
	for (uint32_t number = 0; number <= last + 1; number++) {
		size_t fate = find_fate(packing->from, arch, number);
		size_t count = packing->span_count;

		if (fate >= packing->from->count ||
		    count == sizeof packing->spans / sizeof *packing->spans)
			return -1;
		if (!count || !same_fate(packing->from, packing->spans[count - 1].fate, fate))
			packing->spans[packing->span_count++] = (struct span){ number, fate };
	}
	return 0;
}

/* Everything that can be reached from the fates that look at arguments. Jumps only lead forward. */
static int keep_reachable(struct packing *packing)
{
	const struct filter *from = packing->from;
	size_t count = 0;

	for (size_t i = 0; i < packing->span_count; i++)
		packing->kept[packing->spans[i].fate] = from->steps[packing->spans[i].fate].code !=
							RETURN;
	for (size_t at = 0; at < from->count; at++) {
		const struct sock_filter *step = &from->steps[at];

		if (!packing->kept[at])
			continue;
		packing->place[at] = count++;
		if (step->code == LOAD && (step->k == AT_NUMBER || step->k == AT_ARCH))
			return -1;
		if (step->code == RETURN)
			continue;

		size_t then = step->code == GO ? at + 1 + step->k : at + 1 + step->jt;
		size_t otherwise = step->code == GO ? then : at + 1 + step->jf;

		if (then >= from->count || otherwise >= from->count)
			return -1;
		packing->kept[then] = packing->kept[otherwise] = true;
	}
	return 0;
}

static int emit(struct packing *packing, uint16_t code, size_t yes, size_t no, uint32_t k)
{
	struct filter *to = packing->to;

	if (to->count == FILTER_MOST || yes > FAR || no > FAR)
		return -1;
	packing->leaves[to->count] = 0;
	to->steps[to->count++] = (struct sock_filter){ code, (uint8_t)yes, (uint8_t)no, k };
	return 0;
}

/* A tree of comparisons over spans[first..end). */
static int emit_tree(struct packing *packing, size_t first, size_t end)
{
	const struct filter *from = packing->from;
	struct filter *to = packing->to;
	const struct span *span = &packing->spans[first];
	size_t middle = first + (end - first) / 2;
	size_t at = to->count;

	if (end - first == 1) {
		if (from->steps[span->fate].code == RETURN)
			return emit(packing, RETURN, 0, 0, from->steps[span->fate].k);
		if (emit(packing, GO, 0, 0, 0) < 0)
			return -1;
		packing->leaves[at] = span->fate;
		return 0;
	}
	if (emit(packing, IF_LEAST, 0, 1, packing->spans[middle].first) < 0 ||
	    emit(packing, GO, 0, 0, 0) < 0 || emit_tree(packing, first, middle) < 0)
		return -1;

	size_t distance = to->count - at - 2;

	if (distance + 1 <= FAR) { /* near enough without the second step */
		memmove(&to->steps[at + 1], &to->steps[at + 2], distance * sizeof *to->steps);
		memmove(&packing->leaves[at + 1], &packing->leaves[at + 2],
			distance * sizeof *packing->leaves);
		to->count--;
		to->steps[at] = (struct sock_filter){ IF_LEAST, (uint8_t)distance, 0,
						      packing->spans[middle].first };
	} else {
		to->steps[at + 1].k = (uint32_t)distance;
	}
	return emit_tree(packing, middle, end);
}

static int emit_kept(struct packing *packing)
{
	const struct filter *from = packing->from;
	size_t begin = packing->to->count;

	for (size_t at = 0; at < begin; at++)
		if (packing->leaves[at])
			packing->to->steps[at].k =
				(uint32_t)(begin + packing->place[packing->leaves[at]] - at - 1);
	for (size_t at = 0; at < from->count; at++) {
		const struct sock_filter *step = &from->steps[at];
		size_t here = packing->place[at] + 1;
		int result;

		if (!packing->kept[at])
			continue;
		if (step->code == GO)
			result = emit(packing, GO, 0, 0,
				      (uint32_t)(packing->place[at + 1 + step->k] - here));
		else if (BPF_CLASS(step->code) == BPF_JMP)
			result = emit(packing, step->code, packing->place[at + 1 + step->jt] - here,
				      packing->place[at + 1 + step->jf] - here, step->k);
		else
			result = emit(packing, step->code, 0, 0, step->k);
		if (result < 0)
			return -1;
	}
	return 0;
}

/* A foreign architecture is judged as a whole, and so are the numbers of x32 where there are any. -1 is no call. */
static int emit_head(struct packing *packing, uint32_t arch, uint32_t last)
{
	const struct seccomp_data foreign = { .arch = ~arch };
	const struct seccomp_data x32 = { .arch = arch, .nr = (int)X32 };
	const struct seccomp_data unknown = { .arch = arch, .nr = (int)last + 1 };
	uint32_t end = filter_ask(packing->from, &foreign);
	bool none = filter_ask(packing->from, &x32) == filter_ask(packing->from, &unknown);

	if (!none && filter_ask(packing->from, &x32) != end)
		return -1;
	if (emit(packing, LOAD, 0, 0, AT_ARCH) < 0 ||
	    emit(packing, IF_EQUAL, none ? 1 : 0, none ? 0 : 3, arch) < 0)
		return -1;
	if (!none &&
	    (emit(packing, LOAD, 0, 0, AT_NUMBER) < 0 || emit(packing, IF_LEAST, 0, 2, X32) < 0 ||
	     emit(packing, IF_EQUAL, 1, 0, ~0U) < 0))
		return -1;
	if (emit(packing, RETURN, 0, 0, end) < 0)
		return -1;
	return none ? emit(packing, LOAD, 0, 0, AT_NUMBER) : 0;
}

int filter_pack(const struct filter *filter, uint32_t arch, uint32_t last,
		struct filter *ret_filter)
{
	struct packing *packing = calloc(1, sizeof *packing);
	struct filter *to = calloc(1, sizeof *to);
	int result = -1;

	if (!packing || !to)
		goto end;
	packing->from = filter;
	packing->to = to;

	if (find_spans(packing, arch, last) < 0 || keep_reachable(packing) < 0 ||
	    emit_head(packing, arch, last) < 0 || emit_tree(packing, 0, packing->span_count) < 0 ||
	    emit_kept(packing) < 0)
		goto end;
	*ret_filter = *to;
	result = 0;
end:
	free(packing);
	free(to);
	return result;
}

/* Values that rules have a reason to tell apart: bits, small numbers, the numbers of the filters themselves. */
static uint64_t choose(const struct filter *filter, uint64_t *state)
{
	uint64_t random = *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	uint64_t more = random >> 20;

	switch (random >> 60) {
	case 0:
	case 1:
	case 2:
		return more % 80;
	case 3:
	case 4:
		return 1ULL << (more % 64);
	case 5:
		return 1ULL << (more % 32) | 1ULL << ((more >> 8) % 32);
	case 6:
		return more;
	case 7:
		return 0;
	default:
		return filter->steps[more % filter->count].k ^
		       ((random >> 58) % 4 ? 0 : 1ULL << ((more >> 12) % 64));
	}
}

static bool differ(const struct filter *a, const struct filter *b, uint32_t arch, uint32_t number,
		   uint64_t *state)
{
	struct seccomp_data data = { .nr = (int)number, .arch = arch };

	for (int i = 0; i < 6; i++)
		data.args[i] = choose(a, state);
	return filter_ask(a, &data) != filter_ask(b, &data);
}

int filter_compare(const struct filter *a, const struct filter *b, uint32_t arch, uint32_t last)
{
	enum { ROUNDS = 1000, FARTHER = 100, STEP = 0x10003 };
	uint64_t state = 1;

	for (int round = 0; round < ROUNDS; round++)
		for (uint32_t number = 0; number <= last + FARTHER; number++)
			if (differ(a, b, arch, number, &state))
				return -1;
	for (uint64_t number = 0; number <= UINT32_MAX; number += STEP)
		if (differ(a, b, arch, (uint32_t)number, &state) ||
		    differ(a, b, arch, ~(uint32_t)number, &state) ||
		    differ(a, b, (uint32_t)choose(a, &state), (uint32_t)number % last, &state))
			return -1;
	return 0;
}
