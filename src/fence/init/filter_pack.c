/* Filter packing: see filter_pack.h. */
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
	FAR = 255, /* the longest conditional jump */
};

/* x32 calls have this bit in their number and the same architecture. */
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

static size_t next_of(const struct filter_pack *filter, size_t at, uint32_t value)
{
	const struct sock_filter *step = &filter->steps[at];

	if (step->code == GO)
		return at + 1 + step->k;
	if (BPF_CLASS(step->code) == BPF_JMP)
		return at + 1 + (holds(step, value) ? step->jt : step->jf);
	return at + 1;
}

/* Evaluates the filter as the kernel would. */
static uint32_t answer_of(const struct filter_pack *filter, const struct seccomp_data *data)
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

/* A question about an argument, or an answer. Equal nodes are shared. */
struct node {
	enum { ANSWER, BITS, RANGE } kind;
	uint32_t at;        /* offset of the half of the argument */
	uint32_t mask;      /* RANGE: bits to compare */
	uint32_t low, high; /* RANGE: bounds; BITS: any bit of `low`; ANSWER: `low` */
	size_t yes, no;     /* nodes */
};

struct place {
	size_t step;
	bool used;
	bool loads; /* a jump arrives here without the argument loaded */
};

/* The numbers from `first` up to the next span share a fate. */
struct span {
	uint32_t first;
	size_t fate; /* a node */
};

struct packing {
	const struct filter_pack *from;
	struct filter_pack *to;
	struct node nodes[FILTER_MOST];
	struct place places[FILTER_MOST];
	size_t node_count;
	size_t order[FILTER_MOST]; /* nodes in reverse order of emission */
	size_t ordered;
	struct span spans[1024];
	size_t span_count;
	size_t leaves[FILTER_MOST]; /* for a jump to a question: its node + 1 */
};

static const size_t NONE = SIZE_MAX;

static size_t add_node(struct packing *packing, const struct node *node)
{
	for (size_t i = 0; i < packing->node_count; i++) {
		const struct node *other = &packing->nodes[i];

		if (other->kind == node->kind && other->at == node->at &&
		    other->mask == node->mask && other->low == node->low &&
		    other->high == node->high && other->yes == node->yes && other->no == node->no)
			return i;
	}
	if (packing->node_count == FILTER_MOST)
		return NONE;
	packing->nodes[packing->node_count] = *node;
	return packing->node_count++;
}

/* Adds a question, merged with the next one about the same bits if possible; drops it if both
 * results are the same. */
static size_t add_question(struct packing *packing, struct node node)
{
	for (;;) {
		const struct node *next = &packing->nodes[node.no];

		if (node.yes == node.no)
			return node.yes;
		if (next->kind != node.kind || next->at != node.at || next->mask != node.mask)
			break;
		if (node.kind == BITS && next->yes == node.yes) {
			node.low |= next->low;
		} else if (node.kind == RANGE && next->yes == node.yes && next->high < UINT32_MAX &&
			   next->high + 1 == node.low) {
			node.low = next->low;
		} else if (node.kind == RANGE && next->yes == node.yes && node.high < UINT32_MAX &&
			   node.high + 1 == next->low) {
			node.high = next->high;
		} else if (node.kind != BITS || (next->low & ~node.low)) {
			break;
		}
		node.no = next->no;
	}
	return add_node(packing, &node);
}

static size_t add_step(struct packing *packing, const struct sock_filter *step, uint32_t at,
		       uint32_t mask, size_t yes, size_t no)
{
	struct node bits = { BITS, at, 0, mask, 0, yes, no };
	struct node range = { RANGE, at, mask, step->k, step->k, yes, no };

	if (yes == NONE || no == NONE)
		return NONE;
	if (mask == 0)
		return holds(step, 0) ? yes : no;
	switch (step->code) {
	case IF_BITS:
		bits.low &= step->k;
		return bits.low ? add_question(packing, bits) : no;
	case IF_EQUAL:
		if (step->k & ~mask)
			return no;
		if (step->k == mask && (mask & (mask - 1)) == 0)
			return add_question(packing, bits);
		bits.yes = no;
		bits.no = yes;
		return add_question(packing, step->k == 0 && mask != UINT32_MAX ? bits : range);
	case IF_ABOVE:
	case IF_LEAST:
		if (step->code == IF_ABOVE && step->k == UINT32_MAX)
			return no;
		range.low += step->code == IF_ABOVE;
		range.high = UINT32_MAX;
		return add_question(packing, range);
	default:
		return NONE;
	}
}

/* Returns the node for the filter's behaviour from a step on, with this argument loaded; NONE if
 * the step is unknown. */
static size_t read_from(struct packing *packing, size_t at, uint32_t offset, uint32_t mask)
{
	const struct sock_filter *step = &packing->from->steps[at];

	if (at >= packing->from->count)
		return NONE;
	switch (step->code) {
	case RETURN:
		return add_node(packing, &(struct node){ ANSWER, 0, 0, step->k, 0, 0, 0 });
	case LOAD:
		if (step->k == AT_NUMBER || step->k == AT_ARCH)
			return NONE;
		return read_from(packing, at + 1, step->k, UINT32_MAX);
	case AND:
		return read_from(packing, at + 1, offset, mask & step->k);
	case GO:
		return read_from(packing, at + 1 + step->k, offset, mask);
	default:
		if (BPF_CLASS(step->code) != BPF_JMP)
			return NONE;
		return add_step(packing, step, offset, mask,
				read_from(packing, at + 1 + step->jt, offset, mask),
				read_from(packing, at + 1 + step->jf, offset, mask));
	}
}

/* Returns the node where a call's own rules start: at an answer, or where the filter loads its
 * arguments. */
static size_t find_fate(struct packing *packing, uint32_t arch, uint32_t number)
{
	const struct filter_pack *filter = packing->from;
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
	return read_from(packing, at, 0, 0);
}

/* Adds a node to the order after its successors; the order is emitted from its end. */
static void add_to_order(struct packing *packing, size_t index)
{
	const struct node *node = &packing->nodes[index];

	if (packing->places[index].used)
		return;
	packing->places[index].used = true;
	if (node->kind != ANSWER) {
		add_to_order(packing, node->no);
		add_to_order(packing, node->yes);
	}
	packing->order[packing->ordered++] = index;
}

static int find_spans(struct packing *packing, uint32_t arch, uint32_t last)
{
	for (uint32_t number = 0; number <= last + 1; number++) {
		size_t fate = find_fate(packing, arch, number);
		size_t count = packing->span_count;

		if (fate == NONE || count == sizeof packing->spans / sizeof *packing->spans)
			return -1;
		if (!count || packing->spans[count - 1].fate != fate)
			packing->spans[packing->span_count++] = (struct span){ number, fate };
	}
	for (size_t i = 0; i < packing->span_count; i++) {
		packing->places[packing->spans[i].fate].loads = true;
		if (packing->nodes[packing->spans[i].fate].kind != ANSWER)
			add_to_order(packing, packing->spans[i].fate);
	}
	return 0;
}

static int emit(struct packing *packing, uint16_t code, size_t yes, size_t no, uint32_t k)
{
	struct filter_pack *to = packing->to;

	if (to->count == FILTER_MOST || yes > FAR || no > FAR)
		return -1;
	packing->leaves[to->count] = 0;
	to->steps[to->count++] = (struct sock_filter){ code, (uint8_t)yes, (uint8_t)no, k };
	return 0;
}

/* Emits a binary search over spans[first..end). */
static int emit_tree(struct packing *packing, size_t first, size_t end)
{
	struct filter_pack *to = packing->to;
	const struct span *span = &packing->spans[first];
	size_t middle = first + (end - first) / 2;
	size_t at = to->count;

	if (end - first == 1) {
		if (packing->nodes[span->fate].kind == ANSWER)
			return emit(packing, RETURN, 0, 0, packing->nodes[span->fate].low);
		if (emit(packing, GO, 0, 0, 0) < 0)
			return -1;
		packing->leaves[at] = span->fate + 1;
		return 0;
	}
	if (emit(packing, IF_LEAST, 0, 1, packing->spans[middle].first) < 0 ||
	    emit(packing, GO, 0, 0, 0) < 0 || emit_tree(packing, first, middle) < 0)
		return -1;

	size_t distance = to->count - at - 2;

	if (distance + 1 <= FAR) { /* short enough for a conditional jump */
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

/* Reports whether the argument of `next` is still loaded after `node`. */
static bool is_loaded(const struct node *node, const struct node *next)
{
	return node->at == next->at && (node->kind == BITS || node->mask == UINT32_MAX);
}

static void find_loads(struct packing *packing)
{
	for (size_t i = packing->ordered; i-- > 0;) {
		const struct node *node = &packing->nodes[packing->order[i]];

		if (node->kind == ANSWER)
			continue;
		packing->places[node->yes].loads |= !is_loaded(node, &packing->nodes[node->yes]);
		packing->places[node->no].loads |= !is_loaded(node, &packing->nodes[node->no]);
	}
}

static bool needs_two(const struct node *node)
{
	return node->kind == RANGE && node->low != node->high && node->low != 0 &&
	       node->high != UINT32_MAX;
}

/* The jump distance from step `from` to a successor of a node. */
static size_t jump_distance(const struct packing *packing, const struct node *node, size_t next,
			    size_t from)
{
	const struct place *place = &packing->places[next];
	bool skip = packing->nodes[next].kind != ANSWER && place->loads &&
		    is_loaded(node, &packing->nodes[next]);

	return place->step + skip - from - 1;
}

static int emit_question(struct packing *packing, const struct node *node)
{
	size_t here = packing->to->count;
	size_t yes = jump_distance(packing, node, node->yes, here);
	size_t no = jump_distance(packing, node, node->no, here);

	if (node->kind == BITS)
		return emit(packing, IF_BITS, yes, no, node->low);
	if (node->low == node->high)
		return emit(packing, IF_EQUAL, yes, no, node->low);
	if (node->low == 0)
		return emit(packing, IF_ABOVE, no, yes, node->high);
	if (node->high == UINT32_MAX)
		return emit(packing, IF_LEAST, yes, no, node->low);
	return emit(packing, IF_LEAST, 0, no, node->low) < 0 ||
			       emit(packing, IF_ABOVE, no - 1, yes - 1, node->high) < 0
		       ? -1
		       : 0;
}

static int emit_nodes(struct packing *packing)
{
	size_t step = packing->to->count;

	find_loads(packing);
	for (size_t i = packing->ordered; i-- > 0;) {
		struct place *place = &packing->places[packing->order[i]];
		const struct node *node = &packing->nodes[packing->order[i]];
		bool asks = node->kind != ANSWER;
		bool masks = node->kind == RANGE && node->mask != UINT32_MAX;

		place->step = step;
		step += (asks && place->loads) + masks + 1 + needs_two(node);
	}
	for (size_t at = 0; at < packing->to->count; at++)
		if (packing->leaves[at])
			packing->to->steps[at].k =
				(uint32_t)(packing->places[packing->leaves[at] - 1].step - at - 1);
	for (size_t i = packing->ordered; i-- > 0;) {
		const struct place *place = &packing->places[packing->order[i]];
		const struct node *node = &packing->nodes[packing->order[i]];
		bool asks = node->kind != ANSWER;

		if ((asks && place->loads && emit(packing, LOAD, 0, 0, node->at) < 0) ||
		    (node->kind == RANGE && node->mask != UINT32_MAX &&
		     emit(packing, AND, 0, 0, node->mask) < 0) ||
		    (asks ? emit_question(packing, node) : emit(packing, RETURN, 0, 0, node->low)) <
			    0)
			return -1;
	}
	return 0;
}

/* Foreign architectures are judged as a whole, and so are x32 numbers if there are any. -1 is not a
 * call number. */
static int emit_head(struct packing *packing, uint32_t arch, uint32_t last)
{
	const struct seccomp_data foreign = { .arch = ~arch };
	const struct seccomp_data x32 = { .arch = arch, .nr = (int)X32 };
	const struct seccomp_data unknown = { .arch = arch, .nr = (int)last + 1 };
	uint32_t end = answer_of(packing->from, &foreign);
	bool none = answer_of(packing->from, &x32) == answer_of(packing->from, &unknown);

	if (!none && answer_of(packing->from, &x32) != end)
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

int filter_pack(const struct filter_pack *filter, uint32_t arch, uint32_t last,
		struct filter_pack *ret_filter)
{
	struct packing *packing = calloc(1, sizeof *packing);
	struct filter_pack *to = calloc(1, sizeof *to);
	int result = -1;

	if (!packing || !to)
		goto end;
	packing->from = filter;
	packing->to = to;

	if (find_spans(packing, arch, last) < 0 || emit_head(packing, arch, last) < 0 ||
	    emit_tree(packing, 0, packing->span_count) < 0 || emit_nodes(packing) < 0)
		goto end;
	*ret_filter = *to;
	result = 0;
end:
	free(packing);
	free(to);
	return result;
}

/* Chooses values that rules may distinguish: bits, small numbers, and constants of the filter
 * itself. */
static uint64_t choose(const struct filter_pack *filter, uint64_t *state)
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

static bool differ(const struct filter_pack *a, const struct filter_pack *b, uint32_t arch,
		   uint32_t number, uint64_t *state)
{
	struct seccomp_data data = { .nr = (int)number, .arch = arch };

	for (int i = 0; i < 6; i++)
		data.args[i] = choose(a, state);
	return answer_of(a, &data) != answer_of(b, &data);
}

int filter_pack_compare(const struct filter_pack *a, const struct filter_pack *b, uint32_t arch,
			uint32_t last)
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
