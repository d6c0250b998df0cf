/* The table of open requests: see open_requests.h. */
#include "gateway/open_requests.h"

#include "util/buffer.h"
#include "util/file/fd.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MARK = 0x52464f52 };

/* No request costs as much: US$ 1,000,000. */
#define MOST_NUSD UINT64_C(1000000000000000)

uint64_t open_requests_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Writes the boot's id, or an empty text, which fits no boot. */
static void read_boot(char ret_boot[OPEN_REQUESTS_BOOT])
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(OPEN_REQUESTS_BOOT);

	memset(ret_boot, 0, OPEN_REQUESTS_BOOT);
	if (fd_read_path("/proc/sys/kernel/random/boot_id", &text) == 0)
		snprintf(ret_boot, OPEN_REQUESTS_BOOT, "%s", buffer_text(&text));
}

void open_requests_init(struct open_requests *table)
{
	memset(table, 0, sizeof *table);
	read_boot(table->boot);
	table->mark = MARK;
}

bool open_requests_is_sound(const struct open_requests *table)
{
	char boot[OPEN_REQUESTS_BOOT];

	read_boot(boot);
	return table->mark == MARK && boot[0] && memcmp(table->boot, boot, sizeof boot) == 0;
}

static uint64_t get(const uint64_t *field)
{
	return __atomic_load_n(field, __ATOMIC_ACQUIRE);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the builtin writes to it */
static void set(uint64_t *field, uint64_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELEASE);
}

struct open_requests_slot *open_requests_begin(struct open_requests *table, uint64_t id)
{
	for (size_t i = 0; table && i < OPEN_REQUESTS_SLOTS; i++) {
		struct open_requests_slot *slot = &table->slots[i];

		if (get(&slot->id))
			continue;
		open_requests_update(slot, 0, 0, 0);
		set(&slot->id, id);
		return slot;
	}
	if (table)
		table->overflow = 1;
	return NULL;
}

/* Between two of these steps the cost is too high, never too low. */
void open_requests_update(struct open_requests_slot *slot, uint64_t cost_nusd, uint64_t rate_nusd,
			  uint64_t most_nusd)
{
	if (most_nusd > slot->most_nusd)
		set(&slot->most_nusd, most_nusd);
	if (rate_nusd > slot->rate_nusd)
		set(&slot->rate_nusd, rate_nusd);
	set(&slot->cost_nusd, cost_nusd);
	set(&slot->at_ms, open_requests_now_ms());
	set(&slot->rate_nusd, rate_nusd);
	set(&slot->most_nusd, most_nusd);
}

void open_requests_end(struct open_requests *table, uint64_t id)
{
	for (size_t i = 0; id && i < OPEN_REQUESTS_SLOTS; i++)
		if (get(&table->slots[i].id) == id)
			set(&table->slots[i].id, 0);
}

/* Returns false if the slot makes no sense. */
static bool add_slot(const struct open_requests_slot *slot, uint64_t now_ms, uint64_t *sum)
{
	uint64_t cost = get(&slot->cost_nusd);
	uint64_t rate = get(&slot->rate_nusd);
	uint64_t most = get(&slot->most_nusd);
	uint64_t at_ms = get(&slot->at_ms);
	uint64_t passed_ms = now_ms > at_ms ? now_ms - at_ms : 0;

	if (cost > MOST_NUSD || most > MOST_NUSD || rate > MOST_NUSD)
		return false;
	if (cost < most && rate && passed_ms >= (most - cost) * 1000 / rate)
		cost = most;
	else if (cost < most)
		cost += rate * passed_ms / 1000;
	*sum += cost;
	return true;
}

bool open_requests_cost(const struct open_requests *table, uint64_t now_ms, uint64_t *ret_nusd)
{
	uint64_t sum = 0;

	if (!open_requests_is_sound(table) || table->overflow)
		return false;
	for (size_t i = 0; i < OPEN_REQUESTS_SLOTS; i++)
		if (get(&table->slots[i].id) && !add_slot(&table->slots[i], now_ms, &sum))
			return false;
	*ret_nusd = sum;
	return true;
}

uint64_t open_requests_cost_of(const struct open_requests *table, size_t slot, uint64_t now_ms,
			       uint64_t *ret_nusd)
{
	uint64_t id = get(&table->slots[slot].id);
	uint64_t nusd = 0;

	if (!id || !add_slot(&table->slots[slot], now_ms, &nusd))
		return 0;
	*ret_nusd = nusd;
	return id;
}
